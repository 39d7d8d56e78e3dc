import { compileTemplate, resolveTemplate, SqlStreamError, type Template } from '../../../sql/index.js';
import { connectionString, missingSetting } from '../config/connection-setting.js';
import type { LogWriter } from '../log/log-writer.js';
import type { RpcBindingInfo } from '../rpc.js';
import { HostStartError } from '../start-error.js';
import { parseParameters } from './parameters.js';
import { SqlConnections } from './sql-connections.js';
import type { BindingData, SqlInput } from './sql-input.js';
import type { SqlRunner } from './sql-runner.js';

/** The `sql` input bindings of an app, and the connections that they share. */
export class SqlInputs {
  readonly #settings: Readonly<Record<string, string>>;
  readonly #settingsFile: string;
  readonly #log: LogWriter;
  readonly #run: SqlRunner;
  readonly #connections = new Map<string, SqlConnections>();

  constructor(
    settings: Readonly<Record<string, string>>,
    settingsFile: string,
    log: LogWriter,
    run: SqlRunner,
  ) {
    this.#settings = settings;
    this.#settingsFile = settingsFile;
    this.#log = log;
    this.#run = run;
  }

  /** @throws HostStartError `ESetting`, `EFunction` */
  define(functionName: string, name: string, binding: RpcBindingInfo): SqlInput {
    const where = `the sql input binding of the function '${functionName}'`;
    const text = (property: string) => {
      const value = binding[property];
      return typeof value === 'string' ? value : '';
    };
    if (text('commandText') === '') {
      throw new HostStartError(
        'EFunction',
        `commandText of ${where} is missing: give it a query or a procedure.`,
      );
    }
    const connections = this.#connectionsOf(text('connectionStringSetting'), where);
    const commandText = this.#template(text('commandText'), where);
    const parameters = this.#template(text('parameters'), where);
    const isProcedure = /^(?:storedprocedure|4)$/i.test(String(binding['commandType'] ?? 'Text'));
    if (commandText.parts.some((part) => 'expression' in part)) {
      this.#log.line(
        `Warning: commandText of ${where} has binding expressions, {...}: what a request sends becomes part of the SQL. Use parameters.`,
      );
    }
    const run = this.#run;
    return {
      name,
      async read(data, invocationId) {
        const values = templateData(data);
        const query = {
          commandText: resolveTemplate(commandText, values),
          isProcedure,
          parameters: parseParameters(resolveTemplate(parameters, values)),
        };
        return { string: await run({ fetch: () => connections.read(query), functionName, invocationId }) };
      },
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((one) => one.close()));
  }

  #connectionsOf(setting: string, where: string): SqlConnections {
    if (setting === '') {
      throw new HostStartError(
        'EFunction',
        `connectionStringSetting of ${where} is missing: name the app setting that holds the connection string.`,
      );
    }
    const value = connectionString(this.#settings, setting);
    if (value === undefined) throw missingSetting(this.#settings, setting, where, this.#settingsFile);
    try {
      const known = this.#connections.get(value) ?? new SqlConnections(value);
      this.#connections.set(value, known);
      return known;
    } catch (error) {
      if (!(error instanceof SqlStreamError)) throw error;
      throw new HostStartError(
        'ESetting',
        `The app setting ${setting}, which ${where} names, holds no valid connection string: ${error.message}`,
        error,
      );
    }
  }

  #template(text: string, where: string): Template {
    try {
      return compileTemplate(text, this.#settings);
    } catch (error) {
      if (!(error instanceof SqlStreamError)) throw error;
      throw new HostStartError('ESetting', `In ${where}: ${error.message}`, error);
    }
  }
}

/** Route values come before those of the query, and of a repeated name the last one counts, as in the real host. */
function templateData({ route, query, headers }: BindingData) {
  const lastOf = new Map<string, [string, string]>();
  for (const [name, value] of query) lastOf.set(name.toLowerCase(), [name, value]);
  const last = [...lastOf.values()];
  const named = new Map(last.map(([name, value]) => [name.toLowerCase(), value]));
  for (const [name, value] of Object.entries(route)) named.set(name.toLowerCase(), value);
  return {
    params: Object.fromEntries(named),
    query: last,
    headers: Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, typeof value === 'string' ? value : value.join(',')]],
    ),
  };
}
