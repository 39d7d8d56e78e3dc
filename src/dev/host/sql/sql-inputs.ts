import type { LogWriter } from '../log/log-writer.js';
import type { RpcBindingInfo } from '../rpc.js';
import { HostStartError } from '../start-error.js';
import type { SqlInput } from './sql-input.js';

export class SqlInputs {
  constructor(_settings: Readonly<Record<string, string>>, _file: string, _log: LogWriter) {}

  define(functionName: string, _name: string, _binding: RpcBindingInfo): SqlInput {
    throw new HostStartError('EFunction', `The function '${functionName}' has a sql input binding.`);
  }

  async close(): Promise<void> {}
}
