import type { ServerMessage } from '../sql-engine.js';

/** A request that can't be served as it was sent: the client gets the message, and the session goes on. */
export class RequestError extends Error {
  readonly serverMessage: ServerMessage;

  constructor(number: number, message: string) {
    super(message);
    this.serverMessage = { number, state: 1, class: 16, message, line: 1 };
  }
}

/** The one number for all that this server refuses by name: no client takes it for a transient error. */
export const notSupported = (what: string): RequestError =>
  new RequestError(40510, `${what} is not supported by the embedded server.`);
