import { HostStartError } from '../start-error.js';

/** Where .NET configuration looks for the connection string of a name, in its order. */
const prefixes = [
  'ConnectionStrings:',
  'ConnectionStrings__',
  'SQLAZURECONNSTR_',
  'SQLCONNSTR_',
  'CUSTOMCONNSTR_',
  '',
];

/** Undefined when it is missing or empty. */
export function connectionString(
  settings: Readonly<Record<string, string>>,
  name: string,
): string | undefined {
  return prefixes
    .map((prefix) => settings[prefix + name])
    .find((value) => value !== undefined && value.trim() !== '');
}

/** A connection by managed identity has no setting of its own name, but some below it: `Name__accountName`. */
export function hasConnection(settings: Readonly<Record<string, string>>, name: string): boolean {
  const below = [`${name}__`, `${name}:`].map((prefix) => prefix.toLowerCase());
  return (
    connectionString(settings, name) !== undefined ||
    connectionString(settings, `AzureWebJobs${name}`) !== undefined ||
    Object.keys(settings).some((key) => below.some((prefix) => key.toLowerCase().startsWith(prefix)))
  );
}

export function missingSetting(
  settings: Readonly<Record<string, string>>,
  name: string,
  where: string,
  file: string,
): HostStartError {
  const state = settings[name] === undefined ? 'missing' : 'empty';
  return new HostStartError(
    'ESetting',
    `The app setting ${name}, which ${where} names, is ${state}. Set it under "Values" in ${file}, or as an environment variable.`,
  );
}
