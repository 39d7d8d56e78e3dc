import { parseConnectionString } from '../../sql/index.js';

/** Where the embedded server serves by default, and so what a connection string means by it. */
export const embeddedPort = 14_330;

/** The embedded server's own login, unless the app's connection string names another. */
export const defaultLogin = { user: 'sa', password: 'Local-development-1', database: 'Blogging' };

/** What the app's settings ask for: the embedded server, another one that is used as it is, or none. */
export type SqlPlan =
  | {
      readonly kind: 'embedded';
      /** One of the settings that mean it. */
      readonly setting: string;
      readonly user: string;
      readonly password: string;
      readonly databases: readonly string[];
    }
  | { readonly kind: 'other'; readonly setting: string; readonly server: string }
  | { readonly kind: 'none' };

type Settings = Readonly<Record<string, string | undefined>>;

/** The keyword and its synonyms, at the start or after a semicolon: what makes a setting a connection string. */
const serverKeyword = /(?:^|;)\s*(?:server|data source|addr|address|network address)\s*=/i;
const embeddedServer = new RegExp(`\\b(localhost|127\\.0\\.0\\.1)\\s*,\\s*${embeddedPort}(?!\\d)`, 'i');

/** Looks through all settings: which of them the app reads is known only to its code. */
export function planSql(settings: Settings): SqlPlan {
  const strings = Object.entries(settings).flatMap(([setting, value]) => {
    const parsed = value !== undefined && serverKeyword.test(value) ? tryParse(value) : undefined;
    return parsed === undefined ? [] : [{ setting, value: value as string, parsed }];
  });
  const embedded = strings.filter(({ parsed }) => isEmbedded(parsed));
  const first = embedded[0];
  if (first) {
    const databases = embedded.map(({ parsed }) => parsed.database ?? defaultLogin.database);
    return {
      kind: 'embedded',
      setting: first.setting,
      user: first.parsed.user ?? defaultLogin.user,
      password: first.parsed.password ?? defaultLogin.password,
      databases: [...new Set(databases)],
    };
  }
  const other = strings[0];
  if (!other) return { kind: 'none' };
  const { server, port } = other.parsed;
  const isDefaultPort = port === undefined || port === 1433;
  return { kind: 'other', setting: other.setting, server: isDefaultPort ? server : `${server},${port}` };
}

/** The settings with the embedded server's real port in those that mean it. */
export function withEmbeddedPort(settings: Settings, port: number): Record<string, string> {
  const entries = Object.entries(settings).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const isMeant = serverKeyword.test(value) && isEmbedded(tryParse(value));
    return [[name, isMeant ? value.replace(embeddedServer, `$1,${port}`) : value]];
  });
  return Object.fromEntries(entries);
}

function isEmbedded(parsed: ReturnType<typeof tryParse>): boolean {
  return parsed?.port === embeddedPort && /^(localhost|127\.0\.0\.1)$/i.test(parsed.server);
}

/** A setting that is no valid connection string is the app's affair: its function says so when it is defined. */
function tryParse(text: string) {
  try {
    return parseConnectionString(text);
  } catch {
    return undefined;
  }
}
