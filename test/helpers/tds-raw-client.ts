/** A TDS client of bytes: says anything, right or wrong, and looks at what comes back. */
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { credentials } from './tds-engine.js';

export const preloginPayload = Buffer.from([0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff, 0, 0, 0, 0, 0, 0, 2]);

/** One message in packets of `size`. */
export function packets(type: number, payload: Buffer, size = 4096, status = 0): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  do {
    const content = payload.subarray(at, at + size - 8);
    at += content.length;
    const isLast = at >= payload.length;
    const header = Buffer.from([type, status | (isLast ? 1 : 0), 0, 0, 0, 0, parts.length & 0xff, 0]);
    header.writeUInt16BE(content.length + 8, 2);
    parts.push(header, content);
  } while (at < payload.length);
  return Buffer.concat(parts);
}

export function login7({
  user = credentials.user,
  password = credentials.password,
  tdsVersion = 0x74000004,
  packetSize = 32_767,
  /** Bit 0x80 of OptionFlags2: Windows authentication. */
  integrated = false,
  /** FEATUREEXT, with its terminator. */
  features = Buffer.alloc(0),
  newPassword = '',
} = {}): Buffer {
  const fixed = Buffer.alloc(94);
  fixed.writeUInt32LE(tdsVersion, 4);
  fixed.writeUInt32LE(packetSize, 8);
  if (integrated) fixed[25] = 0x80;
  if (features.length > 0) fixed[27] = 0x10;
  const hidden = Buffer.from(password, 'utf16le').map((byte) => (((byte << 4) | (byte >> 4)) & 0xff) ^ 0xa5);
  const fields: [number, Buffer][] = [
    [36, Buffer.from('raw', 'utf16le')],
    [40, Buffer.from(user, 'utf16le')],
    [44, Buffer.from(hidden)],
    [48, Buffer.from('raw client', 'utf16le')],
    [52, Buffer.alloc(0)],
    [56, features.length > 0 ? Buffer.alloc(4) : Buffer.alloc(0)],
    [60, Buffer.alloc(0)],
    [64, Buffer.alloc(0)],
    [68, Buffer.alloc(0)],
    [78, Buffer.alloc(0)],
    [82, Buffer.alloc(0)],
    [86, Buffer.from(newPassword, 'utf16le')],
  ];
  let at = 94;
  for (const [position, value] of fields) {
    fixed.writeUInt16LE(at, position);
    fixed.writeUInt16LE(value.length / (position === 78 ? 1 : 2), position + 2);
    at += value.length;
  }
  // The extension's field points to where the features begin: at the end.
  if (features.length > 0) fields[5]![1].writeUInt32LE(at, 0);
  const whole = Buffer.concat([fixed, ...fields.map(([, value]) => value), features]);
  whole.writeUInt32LE(whole.length, 0);
  return whole;
}

/** ALL_HEADERS with the transaction descriptor header. */
export const allHeaders = Buffer.from([22, 0, 0, 0, 18, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
export const batch = (sql: string): Buffer => Buffer.concat([allHeaders, Buffer.from(sql, 'utf16le')]);

export interface Answer {
  readonly type: number;
  readonly payload: Buffer;
}

export class RawClient {
  readonly socket: Socket;
  #buffer: Buffer = Buffer.alloc(0);
  readonly #answers: Answer[] = [];
  #parts: Buffer[] = [];
  #waiting: (() => void) | undefined;
  isClosed = false;
  /** Bytes of each packet that came, with its header. */
  readonly packetSizes: number[] = [];

  constructor(port: number) {
    this.socket = createConnection({ port, host: '127.0.0.1', noDelay: true });
    this.socket.on('error', () => {});
    this.socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.socket.on('close', () => {
      this.isClosed = true;
      this.#waiting?.();
    });
  }

  static async login(port: number, options: Parameters<typeof login7>[0] = {}): Promise<RawClient> {
    const client = new RawClient(port);
    client.send(packets(0x12, preloginPayload));
    await client.answer();
    client.send(packets(0x10, login7(options)));
    await client.answer();
    return client;
  }

  send(bytes: Buffer): void {
    if (!this.socket.destroyed) this.socket.write(bytes);
  }

  #receive(chunk: Buffer): void {
    this.#buffer = this.#buffer.length > 0 ? Buffer.concat([this.#buffer, chunk]) : chunk;
    while (this.#buffer.length >= 8) {
      const size = this.#buffer.readUInt16BE(2);
      if (this.#buffer.length < size) return;
      const packet = this.#buffer.subarray(0, size);
      this.#buffer = this.#buffer.subarray(size);
      this.packetSizes.push(size);
      this.#parts.push(packet.subarray(8));
      if ((packet[1]! & 1) === 0) continue;
      this.#answers.push({ type: packet[0]!, payload: Buffer.concat(this.#parts.splice(0)) });
      this.#waiting?.();
    }
  }

  /** The next whole message; undefined when the server closed the connection. */
  async answer(): Promise<Answer | undefined> {
    while (this.#answers.length === 0 && !this.isClosed) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
    return this.#answers.shift();
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.socket.destroy();
    await once(this.socket, 'close');
  }
}
