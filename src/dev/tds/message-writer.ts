import { ByteWriter } from './bytes.js';
import { headerSize, packetSizes, packetStatus, packetType } from './packets.js';

/** Where a message's packets go. */
export interface Transport {
  /** Returns false once the peer reads too slowly. `done`: the bytes are gone, and their memory may be used again. */
  write(bytes: Buffer, done: () => void): boolean;
  /** Calls back once, when bytes are taken again or the connection is gone. */
  onDrain(listener: () => void): void;
}

/** Bytes that are gathered before packets are cut: some packets in one write cost less than one in each. */
const batchSize = 32_768;
const pooledCapacity = 2 * batchSize;
const mostPooled = 64;
/** Buffers between uses. A session needs one only while it has something to say, so 4,000 sessions share a few. */
const pool: ByteWriter[] = [];

/** Writes from this size on use memory again. Smaller ones are cheap, and 64 KiB would be held for some bytes. */
const smallestReused = 4096;
/**
 * Memory of packets between writes. A new piece of it for each write of a stream is taken from the kernel and given back, page
 * by page, which costs several times what encrypting the packets does.
 */
const spare: Buffer[] = [];

/** Told by the size of the packets alone: memory that Node shares out has 64 KiB too, from version 24 on. */
function isReused(size: number): boolean {
  return size >= smallestReused && size <= pooledCapacity;
}

function packetsOf(size: number): Buffer {
  if (!isReused(size)) return Buffer.allocUnsafe(size);
  return (spare.pop() ?? Buffer.allocUnsafeSlow(pooledCapacity)).subarray(0, size);
}

function giveBack({ buffer, length }: Buffer): void {
  if (isReused(length) && spare.length < mostPooled) spare.push(Buffer.from(buffer));
}

/** Gathers the tokens of one response message after another and sends them as packets. */
export class MessageWriter {
  readonly #transport: Transport;
  readonly #type: number;
  packetSize: number = packetSizes.initial;
  #tokens: ByteWriter | undefined;
  /** Number of the message's last packet, in a byte. */
  #packet = 0;
  #isScheduled = false;
  #isBlocked = false;
  #drained: Promise<void> | undefined;
  #release: (() => void) | undefined;

  constructor(transport: Transport, type: number = packetType.response) {
    this.#transport = transport;
    this.#type = type;
  }

  get #room(): number {
    return this.packetSize - headerSize;
  }

  /** Where the next token is written; call `wrote` after it. */
  get tokens(): ByteWriter {
    this.#tokens ??= pool.pop() ?? new ByteWriter(1024);
    return this.#tokens;
  }

  wrote(): void {
    const length = this.#tokens?.length ?? 0;
    if (length >= batchSize) this.#sendWhole();
    else if (length >= this.#room && !this.#isScheduled) {
      // An engine that pauses must not hold back a full packet.
      this.#isScheduled = true;
      setImmediate(() => {
        this.#isScheduled = false;
        this.#sendWhole();
      });
    }
  }

  /** Sends all whole packets but the last, even if full: the end of message must go with some bytes. */
  #sendWhole(): void {
    const length = this.#tokens?.length ?? 0;
    this.#send(length - (length % this.#room || this.#room), false);
  }

  /** Sends everything, the last in a packet that may be short; the message goes on. */
  flush(): void {
    this.#send(this.#tokens?.length ?? 0, false);
  }

  /** Ends the message. */
  end(): void {
    this.#send(this.tokens.length, true);
    this.#packet = 0;
    const used = this.#tokens;
    this.#tokens = undefined;
    if (used && used.buffer.length <= pooledCapacity && pool.length < mostPooled) pool.push(used);
  }

  /** Cuts the first `length` bytes into packets, which go out in one write. */
  #send(length: number, isLast: boolean): void {
    const tokens = this.#tokens;
    if (!tokens || (length <= 0 && !isLast)) return;
    const count = Math.max(1, Math.ceil(length / this.#room));
    const packets = packetsOf(length + count * headerSize);
    for (let index = 0, to = 0; index < count; index++) {
      const from = index * this.#room;
      const size = Math.min(this.#room, length - from);
      this.#packet = (this.#packet + 1) & 0xff;
      packets[to] = this.#type;
      packets[to + 1] = isLast && index === count - 1 ? packetStatus.endOfMessage : 0;
      packets.writeUInt16BE(size + headerSize, to + 2);
      packets.writeUInt16BE(0, to + 4);
      packets[to + 6] = this.#packet;
      packets[to + 7] = 0;
      tokens.buffer.copy(packets, to + headerSize, from, from + size);
      to += size + headerSize;
    }
    tokens.buffer.copyWithin(0, length, tokens.length);
    tokens.length -= length;
    if (!this.#transport.write(packets, () => giveBack(packets))) this.#block();
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
