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

/**
 * A parameter that can't be, by SQL Server's number: a TYPE_INFO or a length (8009 to 8017), a value that is none of its
 * type (8023, 8028); 40510 for a type that is refused by name.
 */
export class ParameterError extends Error {
  readonly number: 8009 | 8011 | 8012 | 8013 | 8014 | 8016 | 8017 | 8023 | 8028 | 40510;

  constructor(number: ParameterError['number'], message = '') {
    super(message);
    this.number = number;
  }
}
