/** The peer breaks the protocol in a way after which its bytes mean nothing; its connection ends. */
export class ProtocolError extends Error {
  readonly code = 'PROTOCOL';
}

/** Little-endian reads of a whole message; a length that lies ends in a ProtocolError, never in an allocation. */
export class ByteReader {
  readonly bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  /** Steps over `length` bytes and returns where they began. */
  skip(length: number): number {
    const { at } = this;
    if (length < 0 || length > this.left) throw new ProtocolError('The message ended too early.');
    this.at = at + length;
    return at;
  }

  u8(): number {
    return this.bytes[this.skip(1)]!;
  }

  u16(): number {
    return this.bytes.readUInt16LE(this.skip(2));
  }

  u32(): number {
    return this.bytes.readUInt32LE(this.skip(4));
  }

  /** Signed, of 1 to 6 bytes. */
  int(size: number): number {
    return this.bytes.readIntLE(this.skip(size), size);
  }

  /** Unsigned, of 1 to 6 bytes. */
  uint(size: number): number {
    return this.bytes.readUIntLE(this.skip(size), size);
  }

  i64(): bigint {
    return this.bytes.readBigInt64LE(this.skip(8));
  }

  /** A view, not a copy. */
  take(length: number): Buffer {
    const at = this.skip(length);
    return this.bytes.subarray(at, at + length);
  }

  utf16(characters: number): string {
    return this.take(2 * characters).toString('utf16le');
  }

  /** B_VARCHAR (MS-TDS 2.2.5.1.2). */
  shortText(): string {
    return this.utf16(this.u8());
  }
}

/** Little-endian writes into a buffer that grows. */
export class ByteWriter {
  buffer: Buffer;
  length = 0;

  constructor(capacity = 256) {
    this.buffer = Buffer.allocUnsafeSlow(capacity);
  }

  /** Bytes that the buffer will have when `size` more are written. */
  capacityWith(size: number): number {
    const end = this.length + size;
    return end > this.buffer.length ? Math.max(end, 2 * this.buffer.length) : this.buffer.length;
  }

  /** Makes room for `size` bytes and returns where they begin; the caller fills them. */
  claim(size: number): number {
    const at = this.length;
    const end = at + size;
    if (end > this.buffer.length) {
      const larger = Buffer.allocUnsafeSlow(this.capacityWith(size));
      this.buffer.copy(larger, 0, 0, at);
      this.buffer = larger;
    }
    this.length = end;
    return at;
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

  /** Unsigned, of 1 to 6 bytes. */
  uint(value: number, size: number): void {
    const at = this.claim(size);
    this.buffer.writeUIntLE(value, at, size);
  }

  i64(value: bigint): void {
    const at = this.claim(8);
    this.buffer.writeBigInt64LE(value, at);
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
    const cut = text.slice(0, 255);
    this.u8(cut.length);
    this.utf16(cut);
  }

  /** US_VARCHAR (MS-TDS 2.2.5.1.2). */
  longText(text: string): void {
    this.u16(text.length);
    this.utf16(text);
  }
}
