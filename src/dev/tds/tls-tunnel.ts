import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import { ProtocolError } from './bytes.js';
import { MessageWriter } from './message-writer.js';
import { MessageReader, packetSizes, packetType } from './packets.js';

/** TLS inside PRELOGIN ends at 1.2: the session tickets of 1.3 come after the handshake, when packets have ended. */
export const secureContext = (key: string | Buffer, cert: string | Buffer): SecureContext =>
  createSecureContext({ key, cert, minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' });

/**
 * The socket as TLS sees it (MS-TDS 3.2.5.1): while the handshake lasts, TLS records travel in PRELOGIN packets,
 * then bare. The client speaks first after the handshake, so the first byte that begins no PRELOGIN packet ends it.
 */
class HandshakeChannel extends Duplex {
  readonly #socket: Socket;
  readonly #messages = new MessageReader(() => packetSizes.largest);
  #isHandshake = true;
  readonly #flight: MessageWriter;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    const write = (bytes: Buffer, done: () => void): boolean => socket.destroyed || socket.write(bytes, done);
    this.#flight = new MessageWriter({ write, onDrain: () => {} }, packetType.prelogin);
    socket.on('end', () => this.push(null));
    socket.on('close', () => this.destroy());
  }

  receive(chunk: Buffer): void {
    if (this.#isHandshake && chunk[0] !== packetType.prelogin && !this.#messages.isAmid)
      this.#isHandshake = false;
    if (!this.#isHandshake) {
      if (!this.push(chunk)) this.#socket.pause();
      return;
    }
    for (let message = this.#messages.next(chunk); message; message = this.#messages.next()) {
      if (message.type !== packetType.prelogin) throw new ProtocolError('TLS was expected.');
      this.push(Buffer.from(message.data));
    }
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    if (this.#isHandshake) {
      // FreeTDS and SqlClient want each flight of the handshake in one message.
      const { tokens } = this.#flight;
      if (tokens.length === 0) setImmediate(() => this.#flight.end());
      tokens.bytes(chunk);
      callback();
    } else if (this.#socket.write(chunk)) callback();
    else this.#socket.once('drain', callback);
  }

  override _final(callback: () => void): void {
    this.#socket.end();
    callback();
  }
}

/** The encrypted side of a connection. */
export interface Tunnel {
  readonly secure: TLSSocket;
  /** Takes what the raw socket receives. */
  receive(chunk: Buffer): void;
}

export function openTunnel(socket: Socket, context: SecureContext): Tunnel {
  const channel = new HandshakeChannel(socket);
  const secure = new TLSSocket(channel, { isServer: true, secureContext: context });
  channel.on('error', () => socket.destroy());
  return { secure, receive: (chunk) => channel.receive(chunk) };
}
