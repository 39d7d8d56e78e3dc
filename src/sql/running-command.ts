import type { SqlConnection } from './connection.js';
import type { SqlStreamError } from './errors.js';
import type { ResolvedCommand } from './options.js';
import type { Binding } from './parameters/binding.js';
import { PlainResponse } from './plain-response.js';
import { Response } from './response.js';
import { requestError } from './server-errors.js';
import { Request } from './tedious/driver.js';
import { internals } from './tedious/internals.js';

/** After the ATTENTION; tedious gives up by itself, and earlier, but not while a request is still being sent. */
const destroyAfterMs = 4_000;

/** One request on one connection, from its sending to the moment when the connection can be used again. */
export class RunningCommand {
  readonly response: Response | PlainResponse;
  /** Resolves when the connection is free of the request, or destroyed. Never rejects. */
  readonly finished: Promise<void>;
  readonly #connection: SqlConnection;
  readonly #request: Request;
  #isFinished = false;
  #cancelReason: SqlStreamError | undefined;
  #destroyTimer: NodeJS.Timeout | undefined;

  constructor(connection: SqlConnection, command: ResolvedCommand, parameters: readonly Binding[]) {
    this.#connection = connection;
    let finish!: () => void;
    this.finished = new Promise((resolve) => {
      finish = resolve;
    });
    const request = new Request(command.commandText, (error) => {
      this.#isFinished = true;
      clearTimeout(this.#destroyTimer);
      this.response.end(this.#reasonFor(error));
      finish();
    });
    this.#request = request;
    this.response =
      internals === undefined
        ? new PlainResponse(request, command.formats)
        : new Response(command.formats, command.maxValueBytes, () => !connection.broken);
    const onDone = () => this.response.endStatement();
    const { response } = this;
    if (response instanceof PlainResponse) {
      request.on('columnMetadata', (columns) => response.beginRecordset(columns as never));
    }
    request.on('done', onDone);
    request.on('doneInProc', onDone);
    request.on('doneProc', onDone);
    for (const { name, type, value } of parameters) request.addParameter(name, type, value);
    this.response.onFailure = (error, unreadable) => {
      this.#cancelReason ??= error;
      if (unreadable) connection.destroy();
      else void this.cancel(error);
    };
  }

  send(command: ResolvedCommand, parameters: readonly Binding[]): void {
    const kind =
      command.commandType === 'StoredProcedure' ? 'procedure' : parameters.length === 0 ? 'batch' : 'rpc';
    const sink = this.response instanceof Response ? this.response : undefined;
    this.#connection.send(this.#request, kind, sink);
  }

  #reasonFor(error: unknown): unknown {
    if (this.#cancelReason !== undefined) return this.#cancelReason;
    if (error == null) return undefined;
    return requestError(error, this.response.rows > 0 ? 'rows' : 'firstRow', this.#connection.fatalError);
  }

  /**
   * Sends ATTENTION, and gives `reason` to whoever waits for rows. Resolves when the server has acknowledged it, or when it did not in time and the
   * connection is destroyed.
   */
  cancel(reason: SqlStreamError): Promise<void> {
    if (this.#isFinished || this.#destroyTimer !== undefined) return this.finished;
    this.#cancelReason ??= reason;
    this.#destroyTimer = setTimeout(() => this.#connection.destroy(), destroyAfterMs);
    this.#request.cancel();
    this.response.skip();
    // Whoever waits is told now: on a dead network the acknowledgement never comes.
    this.response.end(this.#cancelReason);
    return this.finished;
  }
}
