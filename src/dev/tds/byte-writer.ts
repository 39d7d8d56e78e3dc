/** Little-endian writes into a buffer that grows. */
export class ByteWriter {
  buffer: Buffer;
  length = 0;

  constructor(capacity = 256) {
    this.buffer = Buffer.allocUnsafeSlow(capacity);
  }

  /** Makes room for `size` bytes and returns where they begin; the caller fills them. */
  claim(size: number): number {
    const at = this.length;
    const end = at + size;
    if (end > this.buffer.length) this.#grow(end);
    this.length = end;
    return at;
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.buffer.length));
    this.buffer.copy(larger, 0, 0, this.length);
    this.buffer = larger;
  }

  u8(value: number): void {
    const at = this.claim(1);
    this.buffer[at] = value;
  }

  u16(value: number): void {
    const at = this.claim(2);
    this.buffer[at] = value;
    this.buffer[at + 1] = value >>> 8;
  }

  /** Signed and unsigned alike. */
  u32(value: number): void {
    const at = this.claim(4);
    const { buffer } = this;
    buffer[at] = value;
    buffer[at + 1] = value >>> 8;
    buffer[at + 2] = value >>> 16;
    buffer[at + 3] = value >>> 24;
  }

  i64(value: bigint): void {
    const at = this.claim(8);
    this.buffer.writeBigInt64LE(value, at);
  }

  /** Unsigned, of up to 6 bytes. */
  uint(value: number, size: number): void {
    const at = this.claim(size);
    this.buffer.writeUIntLE(value, at, size);
  }

  f32(value: number): void {
    const at = this.claim(4);
    this.buffer.writeFloatLE(value, at);
  }

  f64(value: number): void {
    const at = this.claim(8);
    this.buffer.writeDoubleLE(value, at);
  }

  bytes(value: Uint8Array): void {
    const at = this.claim(value.length);
    this.buffer.set(value, at);
  }

  utf16(text: string): void {
    const size = text.length;
    const at = this.claim(2 * size);
    const { buffer } = this;
    // A call into C++ costs as much as some thirty characters written here.
    if (size > 32) {
      buffer.write(text, at, 'utf16le');
      return;
    }
    for (let index = 0, to = at; index < size; index++, to += 2) {
      const unit = text.charCodeAt(index);
      buffer[to] = unit;
      buffer[to + 1] = unit >>> 8;
    }
  }

  /** B_VARCHAR: at most 255 characters; the rest is cut. */
  shortText(text: string): void {
    const cut = text.length > 255 ? text.slice(0, 255) : text;
    this.u8(cut.length);
    this.utf16(cut);
  }

  /** US_VARCHAR (MS-TDS 2.2.5.1.2). */
  longText(text: string): void {
    this.u16(text.length);
    this.utf16(text);
  }
}
