import { ByteWriter } from './bytes.js';
import { headerSize, packetSizes, packetType, toPackets } from './packets.js';

/** Where a message's packets go. */
export interface Transport {
  /** Returns false once the peer reads too slowly. */
  write(bytes: Buffer): boolean;
  /** Calls back once, when bytes are taken again or the connection is gone. */
  onDrain(listener: () => void): void;
}

/** Bytes that are gathered before packets are cut: some packets in one write cost less than one in each. */
const batchSize = 32_768;
const pooledCapacity = 2 * batchSize;
/** Buffers between uses. A session needs one only while it has something to say, so 4,000 sessions share a few. */
const pool: ByteWriter[] = [];

/** Gathers the tokens of one response message after another and sends them as packets. */
export class MessageWriter {
  readonly #transport: Transport;
  packetSize: number = packetSizes.initial;
  #tokens: ByteWriter | undefined;
  #packets = 0;
  #isScheduled = false;
  #isBlocked = false;
  #drained: Promise<void> | undefined;
  #release: (() => void) | undefined;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Where the next token is written; call `wrote` after it. */
  get tokens(): ByteWriter {
    this.#tokens ??= pool.pop() ?? new ByteWriter(1024);
    return this.#tokens;
  }

  wrote(): void {
    const length = this.#tokens?.length ?? 0;
    if (length >= batchSize) this.#sendWhole();
    else if (length >= this.packetSize - headerSize && !this.#isScheduled) {
      // An engine that pauses must not hold back a full packet.
      this.#isScheduled = true;
      setImmediate(() => {
        this.#isScheduled = false;
        this.#sendWhole();
      });
    }
  }

  /** Sends all whole packets. */
  #sendWhole(): void {
    const length = this.#tokens?.length ?? 0;
    const room = this.packetSize - headerSize;
    // The last packet is kept, even if full: the end of message must go with some bytes.
    this.#send(length - (length % room || room), false);
  }

  /** Sends everything in a packet that may be short; the message goes on. */
  flush(): void {
    const length = this.#tokens?.length ?? 0;
    const room = this.packetSize - headerSize;
    this.#sendWhole();
    if (length > 0) this.#send(Math.min(room, this.#tokens?.length ?? 0), false);
  }

  /** Ends the message. */
  end(): void {
    this.#send(this.tokens.length, true);
    this.#packets = 0;
    const used = this.#tokens;
    this.#tokens = undefined;
    if (used && used.buffer.length <= pooledCapacity && pool.length < 64) pool.push(used);
  }

  #send(length: number, isLast: boolean): void {
    const tokens = this.#tokens;
    if (!tokens || (length <= 0 && !isLast)) return;
    const bytes = toPackets(
      packetType.response,
      tokens.buffer,
      length,
      this.packetSize,
      this.#packets + 1,
      isLast,
    );
    this.#packets = (this.#packets + Math.ceil(length / (this.packetSize - headerSize))) & 0xff;
    tokens.buffer.copyWithin(0, length, tokens.length);
    tokens.length -= length;
    if (!this.#transport.write(bytes)) this.#block();
  }

  #block(): void {
    if (this.#isBlocked) return;
    this.#isBlocked = true;
    this.#transport.onDrain(() => {
      this.#isBlocked = false;
      this.release();
    });
  }

  /** Undefined while the peer keeps up, else a promise that settles when it does again, or on `release`. */
  drained(): Promise<void> | undefined {
    if (!this.#isBlocked) return undefined;
    this.#drained ??= new Promise((resolve) => {
      this.#release = resolve;
    });
    return this.#drained;
  }

  /** Lets the engine go on though the peer reads nothing: the request is over. */
  release(): void {
    this.#release?.();
    this.#drained = undefined;
    this.#release = undefined;
  }

  /** The connection is gone. */
  discard(): void {
    this.#tokens = undefined;
    this.release();
  }
}
