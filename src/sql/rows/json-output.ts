import { newSlab } from './slab.js';

/** A chunk is handed out when it holds this much, at the end of a row. */
const chunkBytes = 32_768;
const slabBytes = 4 * chunkBytes;
/** The first slab, from Node's own pool: most responses fit. It grows before it is cut, so that a short response stays one chunk. */
const firstBytes = 4_000;
/** A row that outgrows this is handed out in parts. */
const splitRowBytes = 65_536;

/** Text that is written often, as words: few stores for a short text, where the call of a native copy would cost more than the copy. */
export interface FixedText {
  /** In bytes. */
  readonly length: number;
  readonly words: Int32Array;
}

export function fixedText(text: string): FixedText {
  const bytes = Buffer.from(text);
  const padded = Buffer.alloc((bytes.length + 3) & ~3);
  bytes.copy(padded);
  const words = Int32Array.from({ length: padded.length / 4 }, (_, index) => padded.readInt32LE(index * 4));
  return { length: bytes.length, words };
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}

/**
 * Where JSON is written as UTF-8: slabs of memory, cut into chunks that no one writes to again.
 * Callers `ensure` room, then write to `buffer` at `position` themselves; that is what makes it fast.
 */
export class JsonOutput {
  buffer: Buffer = Buffer.allocUnsafe(firstBytes);
  /** The same memory, for four bytes at once. */
  view: DataView = viewOf(this.buffer);
  position = 0;
  /** Bytes handed out or ready to be. */
  total = 0;
  #start = 0;
  #rowStart = 0;
  #ready: Uint8Array[] = [];

  /** Makes room for `bytes`, in a new slab if need be; the row being written stays in one piece unless it is long. */
  ensure(bytes: number): void {
    if (this.position + bytes <= this.buffer.length) return;
    if (this.buffer.length < chunkBytes && this.position + bytes <= slabBytes) {
      const larger = Buffer.allocUnsafeSlow(this.position + bytes <= chunkBytes ? chunkBytes : slabBytes);
      this.buffer.copy(larger, 0, this.#start, this.position);
      this.position -= this.#start;
      this.#rowStart -= this.#start;
      this.#start = 0;
      this.#use(larger);
      return;
    }
    const rowBytes = this.position - this.#rowStart;
    const keep = rowBytes > splitRowBytes ? 0 : rowBytes;
    this.#cut(this.position - keep);
    const slab = newSlab(Math.max(slabBytes, keep + bytes));
    this.buffer.copy(slab, 0, this.position - keep, this.position);
    this.#use(slab);
    this.#start = 0;
    this.#rowStart = 0;
    this.position = keep;
  }

  /** What is written for each row, such as the name of a column. */
  fixed({ length, words }: FixedText): void {
    this.ensure(length + 3);
    const { view } = this;
    let at = this.position;
    for (let index = 0; index < words.length; index++, at += 4) view.setInt32(at, words[index]!, true);
    this.position += length;
  }

  /** Digits, signs and the like. */
  ascii(text: string): void {
    this.ensure(text.length);
    const { buffer } = this;
    let at = this.position;
    for (let i = 0; i < text.length; i++) buffer[at++] = text.charCodeAt(i);
    this.position = at;
  }

  /** Any text, as UTF-8. */
  utf8(text: string): void {
    this.ensure(text.length * 3);
    this.position += this.buffer.write(text, this.position, 'utf8');
  }

  /** Between rows: what is written so far may be handed out, and is when it is a chunk's worth. */
  endRow(): void {
    this.#rowStart = this.position;
    if (this.position - this.#start >= chunkBytes) this.#cut(this.position);
  }

  /** Hands out all finished rows, however little it is. */
  flush(): void {
    this.#cut(this.#rowStart);
  }

  get readyCount(): number {
    return this.#ready.length;
  }

  get hasFinishedRows(): boolean {
    return this.#rowStart > this.#start;
  }

  takeReady(): Uint8Array | undefined {
    return this.#ready.shift();
  }

  #use(buffer: Buffer): void {
    this.buffer = buffer;
    this.view = viewOf(buffer);
  }

  #cut(end: number): void {
    if (end <= this.#start) return;
    this.#ready.push(this.buffer.subarray(this.#start, end));
    this.total += end - this.#start;
    this.#start = end;
  }
}
