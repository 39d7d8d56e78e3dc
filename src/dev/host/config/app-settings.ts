import { join } from 'node:path';
import { HostStartError } from '../start-error.js';
import { type JsonFile, readJsonFile } from './json-file.js';

const settingsFileName = 'local.settings.json';

export interface CorsSettings {
  /** `*` or exact origins; empty when CORS is off. */
  readonly origins: readonly string[];
  readonly credentials: boolean;
}

export interface AppSettings {
  /** The whole environment of the worker: `Values` and `ConnectionStrings` of the file, beaten by `env`. */
  readonly values: Record<string, string>;
  readonly cors: CorsSettings;
  /** `Host.LocalHttpPort`, for a caller that has no port of its own. */
  readonly localHttpPort: number | undefined;
  /** Where the file is, or would be. */
  readonly file: string;
}

/**
 * Reads local.settings.json as Core Tools does; a missing file is an empty one. Environment variables win.
 *
 * @throws HostStartError `EJson`, `EConfig` with file and line
 */
export function readAppSettings(appDir: string, env: NodeJS.ProcessEnv = process.env): AppSettings {
  const file = readJsonFile(appDir, settingsFileName);
  const path = join(appDir, settingsFileName);
  const values = file === undefined ? {} : fileValues(file);
  return {
    values: mergeEnvironment(values, env),
    cors: {
      origins: (file?.string('Host', 'CORS') ?? '')
        .split(',')
        .map((origin) => origin.trim().replace(/\/$/, ''))
        .filter((origin) => origin !== ''),
      credentials: file?.boolean('Host', 'CORSCredentials') ?? false,
    },
    localHttpPort: file?.limit('Host', 'LocalHttpPort'),
    file: path,
  };
}

function fileValues(file: JsonFile): Record<string, string> {
  if (file.boolean('IsEncrypted')) {
    throw new HostStartError(
      'EConfig',
      `${file.path}:${file.node('IsEncrypted')?.line}: IsEncrypted is true, and encrypted settings can't be read here. ` +
        'Run "func settings decrypt" in the app\'s directory.',
    );
  }
  const values: Record<string, string> = {};
  for (const [name, node] of file.object('Values')) {
    if (node.value === null) continue;
    if (typeof node.value === 'object')
      throw file.wrong(node, ['Values', name], 'must be a string: app settings are not nested');
    values[name] = String(node.value);
  }
  for (const [name, node] of file.object('ConnectionStrings')) {
    const text = node.value instanceof Map ? node.value.get('ConnectionString')?.value : node.value;
    if (typeof text !== 'string') throw file.wrong(node, ['ConnectionStrings', name], 'must be a string');
    values[`ConnectionStrings:${name}`] = text;
  }
  return values;
}

/** On Windows names of environment variables have no case, so a variable in another case is the same setting. */
function mergeEnvironment(values: Record<string, string>, env: NodeJS.ProcessEnv): Record<string, string> {
  const merged = { ...values };
  const spelled = new Map(Object.keys(values).map((name) => [name.toUpperCase(), name]));
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    const key = process.platform === 'win32' ? (spelled.get(name.toUpperCase()) ?? name) : name;
    merged[key] = value;
  }
  return merged;
}
