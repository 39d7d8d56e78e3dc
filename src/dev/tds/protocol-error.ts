/** The peer breaks the protocol in a way after which its bytes mean nothing; its connection ends. */
export class ProtocolError extends Error {
  readonly code = 'PROTOCOL';

  constructor(message: string) {
    super(message);
    this.name = 'ProtocolError';
  }
}
