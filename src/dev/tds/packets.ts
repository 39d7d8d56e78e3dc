import { ByteWriter, ProtocolError } from './bytes.js';

/** MS-TDS 2.2.3.1.1. */
export const packetType = {
  batch: 1,
  rpc: 3,
  response: 4,
  attention: 6,
  bulkLoad: 7,
  transaction: 14,
  login: 16,
  prelogin: 18,
} as const;

/** MS-TDS 2.2.3.1.2. */
export const packetStatus = { endOfMessage: 1, ignore: 2, reset: 8, resetKeepTransaction: 16 } as const;

export const headerSize = 8;
export const packetSizes = { smallest: 512, initial: 4096, largest: 32_767 } as const;

export interface Message {
  readonly type: number;
  /** Of the first packet: only there the reset flags count. */
  readonly status: number;
  /** Valid until the handler returns. */
  readonly data: Buffer;
  /** The client gave up while sending (end of message with the ignore bit). */
  readonly ignored: boolean;
  /** Longer than allowed, itself or with all others under way: why its data was dropped. */
  readonly tooLong: string | undefined;
}

/** Bytes that the messages under way on many connections may take together, and those that they take. */
export interface Budget {
  readonly limit: number;
  used: number;
}

const known = new Set<number>(Object.values(packetType));
const none = Buffer.alloc(0);

/** Cuts the incoming bytes into packets and joins their contents to messages. Holds no more than what has arrived. */
export class MessageReader {
  readonly #limit: (type: number) => number;
  #rest: Buffer = none;
  /** The message under way: 0 for none. */
  #type = 0;
  #status = 0;
  #data: ByteWriter | undefined;
  /** Bytes of the budget that are taken for it. */
  #held = 0;
  #tooLong: string | undefined;
  readonly #budget: Budget;

  /** `limit` gives the bytes that a message of a type may have; it may throw a ProtocolError. */
  constructor(
    limit: (type: number) => number,
    budget: Budget = { limit: Number.POSITIVE_INFINITY, used: 0 },
  ) {
    this.#limit = limit;
    this.#budget = budget;
  }

  /** Part of a packet or of a message has come, but not its end. */
  get isAmid(): boolean {
    return this.#rest.length > 0 || this.#type !== 0;
  }

  /**
   * The next message within `chunk` and what was kept before; call again with no bytes until undefined. Throws a
   * ProtocolError.
   */
  next(chunk: Buffer = none): Message | undefined {
    if (chunk.length > 0) this.#rest = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    while (this.#rest.length >= headerSize) {
      const rest = this.#rest;
      const type = rest[0]!;
      const size = rest.readUInt16BE(2);
      // An ATTENTION between the packets of a request takes its place; the request will have no end.
      if (type === packetType.attention) this.#begin(0, 0);
      if (!known.has(type) || (this.#type !== 0 && type !== this.#type)) {
        throw new ProtocolError(`A packet of type ${type} is not expected here.`);
      }
      if (size < headerSize || size > packetSizes.largest) {
        throw new ProtocolError(`A packet of ${size} bytes can't be.`);
      }
      if (rest.length < size) break;
      this.#rest = rest.subarray(size);
      const message = this.#take(rest.subarray(0, size));
      if (message) return message;
    }
    // A short remainder must not keep a whole chunk in memory, 4,000 times over.
    const { length, buffer } = this.#rest;
    if (length === 0) this.#rest = none;
    else if (buffer.byteLength > 2 * length + Buffer.poolSize) this.#rest = Buffer.from(this.#rest);
    return undefined;
  }

  /** Forgets what has come. */
  drop(): void {
    this.#rest = none;
    this.#begin(0, 0);
  }

  #begin(type: number, status: number): void {
    this.#type = type;
    this.#status = status;
    this.#hold(undefined, 0);
    this.#tooLong = undefined;
  }

  #hold(data: ByteWriter | undefined, bytes: number): void {
    this.#data = data;
    this.#budget.used += bytes - this.#held;
    this.#held = bytes;
  }

  /** Adds a packet's content to the message, unless that makes it too long. What comes in one packet is not copied. */
  #append(content: Buffer, isLast: boolean): void {
    const limit = this.#limit(this.#type);
    const { used, limit: limitOfAll } = this.#budget;
    const data = this.#data ?? (isLast ? undefined : new ByteWriter(2 * content.length));
    const bytes = data?.capacityWith(content.length) ?? 0;
    if ((data?.length ?? 0) + content.length > limit) this.#tooLong = `A request of over ${limit} bytes`;
    else if (used + bytes - this.#held > limitOfAll) {
      this.#tooLong = `More than ${limitOfAll} bytes of requests under way`;
    }
    if (this.#tooLong) this.#hold(undefined, 0);
    else this.#hold(data, bytes);
    this.#data?.bytes(content);
  }

  #take(packet: Buffer): Message | undefined {
    const status = packet[1]!;
    const content = packet.subarray(headerSize);
    if (this.#type === 0) this.#begin(packet[0]!, status);
    const type = this.#type;
    const isLast = (status & packetStatus.endOfMessage) !== 0;
    if (!this.#tooLong) this.#append(content, isLast);
    if (!isLast) return undefined;
    const whole = this.#data ? this.#data.buffer.subarray(0, this.#data.length) : content;
    const message = {
      type,
      status: this.#status,
      data: this.#tooLong ? none : whole,
      ignored: (status & packetStatus.ignore) !== 0,
      tooLong: this.#tooLong,
    };
    this.#begin(0, 0);
    return message;
  }
}
