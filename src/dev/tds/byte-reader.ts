import { ProtocolError } from './protocol-error.js';

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
    const at = this.at;
    if (length < 0 || length > this.bytes.length - at)
      throw new ProtocolError('The message ended too early.');
    this.at = at + length;
    return at;
  }

  u8(): number {
    return this.bytes[this.skip(1)]!;
  }

  u16(): number {
    return this.bytes.readUInt16LE(this.skip(2));
  }

  i16(): number {
    return this.bytes.readInt16LE(this.skip(2));
  }

  u32(): number {
    return this.bytes.readUInt32LE(this.skip(4));
  }

  i32(): number {
    return this.bytes.readInt32LE(this.skip(4));
  }

  i64(): bigint {
    return this.bytes.readBigInt64LE(this.skip(8));
  }

  u64(): bigint {
    return this.bytes.readBigUInt64LE(this.skip(8));
  }

  /** Unsigned, of up to 6 bytes. */
  uint(length: number): number {
    return this.bytes.readUIntLE(this.skip(length), length);
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
