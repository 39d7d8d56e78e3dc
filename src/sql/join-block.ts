const firstBytes = 16_384;

/**
 * Puts what is left of one packet before the next ones, in a block of memory that is used again: rows seldom end where packets do, and a new block
 * for each packet is more garbage than all else that a stream of rows makes. Who keeps bytes beyond the next `join` has to copy them.
 */
export class JoinBlock {
  #block: Buffer | undefined;

  join(rest: Buffer, chunks: readonly Buffer[]): Buffer {
    const length = chunks.reduce((sum, chunk) => sum + chunk.length, rest.length);
    let block = this.#block;
    if (block === undefined || length > block.length) {
      block = Buffer.allocUnsafeSlow(Math.max(firstBytes, 2 * length));
      this.#block = block;
    }
    let at = rest.copy(block);
    for (const chunk of chunks) at += chunk.copy(block, at);
    return block.subarray(0, length);
  }

  /** These bytes will be written over. */
  holds(bytes: Buffer): boolean {
    return bytes.buffer === this.#block?.buffer;
  }
}
