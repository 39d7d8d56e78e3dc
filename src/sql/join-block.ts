const firstBytes = 16_384;

/**
 * Puts what is left of one packet before the next one, in a block of memory that is used again: rows seldom end where packets do, and a new block
 * for each packet is more garbage than all else that a stream of rows makes. Who keeps bytes beyond the next `join` has to copy them.
 */
export class JoinBlock {
  #block: Buffer | undefined;

  join(rest: Buffer, next: Buffer): Buffer {
    const length = rest.length + next.length;
    let block = this.#block;
    if (block === undefined || length > block.length) {
      block = Buffer.allocUnsafeSlow(Math.max(firstBytes, 2 * length));
      this.#block = block;
    }
    rest.copy(block);
    next.copy(block, rest.length);
    return block.subarray(0, length);
  }

  /** These bytes will be written over. */
  holds(bytes: Buffer): boolean {
    return bytes.buffer === this.#block?.buffer;
  }
}
