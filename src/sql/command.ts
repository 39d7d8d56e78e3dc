import { openRows } from './open.js';
import { resolveOptions } from './options.js';
import type { Binding } from './parameters/binding.js';
import { bindTemplate, parseParameters } from './parameters/template.js';
import { bindValues } from './parameters/values.js';
import type { BoundParameters, SqlCommand, SqlCommandOptions } from './types.js';

class Bound implements BoundParameters {
  readonly bindings: readonly Binding[];

  constructor(bindings: readonly Binding[]) {
    this.bindings = bindings;
  }

  get count(): number {
    return this.bindings.length;
  }
}

/**
 * Checks the options, reads the app setting and parses its connection string; connects to nothing.
 *
 * @param environment where app settings are; default `process.env`
 * @throws SqlStreamError `EOptions`, `ESetting`, `EConnectionString`, each naming what is wrong
 */
export function defineCommand(options: SqlCommandOptions, environment = process.env): SqlCommand {
  const command = resolveOptions(options, environment);
  const template = parseParameters(options.parameters ?? '', environment);
  return {
    commandType: command.commandType,
    bind: (data) => new Bound(bindTemplate(template, data)),
    values: (record) => new Bound(bindValues(record)),
    open: (parameters, context = {}) => openRows(command, (parameters as Bound).bindings, context),
  };
}
