import { basename } from 'node:path';

/** The server's fields of a driver's error, where it has them. */
interface ServerFields {
  readonly message?: string;
  readonly number?: number;
  readonly state?: number;
  readonly class?: number;
  readonly lineNumber?: number;
  readonly procName?: string;
}

/** A batch that the server refused: which script, batch and line, and the server's number and text. */
export class ScriptError extends Error {
  readonly code = 'ESCRIPT';
  readonly file: string;
  /** 1-based, among the script's batches that hold statements. */
  readonly batch: number;
  /** 1-based line of the script. */
  readonly line: number;
  readonly number: number | undefined;
  readonly state: number | undefined;
  readonly class: number | undefined;
  readonly procName: string | undefined;

  constructor(file: string, batch: number, firstLine: number, cause: unknown) {
    const fields = (cause ?? {}) as ServerFields;
    // Within a procedure the server counts the lines of the batch that made it: its own text, not this script.
    const line = firstLine + Math.max((fields.procName ? 1 : (fields.lineNumber ?? 1)) - 1, 0);
    const error = fields.number === undefined ? '' : ` error ${fields.number}:`;
    super(`${basename(file)}, batch ${batch}, line ${line}:${error} ${fields.message ?? String(cause)}`, {
      cause,
    });
    this.name = 'ScriptError';
    this.file = file;
    this.batch = batch;
    this.line = line;
    this.number = fields.number;
    this.state = fields.state;
    this.class = fields.class;
    this.procName = fields.procName;
  }
}
