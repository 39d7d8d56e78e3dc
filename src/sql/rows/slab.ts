const mebibyte = 1_048_576;
/** The largest block whose release changes what glibc does: its DEFAULT_MMAP_THRESHOLD_MAX, 32 MiB, less what it adds to a block. */
const largestBytes = 31 * mebibyte;

let isKept = false;

/**
 * Memory for a stream's output.
 *
 * glibc gives free memory at the end of its heap back to the system, and then each new slab pays for its pages once more, which can cost more than the
 * rows in it. Once a larger block was released it keeps up to twice that block's size (mallopt(3): the thresholds of mmap and trim are dynamic). So one is
 * allocated here and let go. Nobody writes to it: it never takes memory, only addresses.
 */
export function newSlab(bytes: number): Buffer {
  if (!isKept) {
    isKept = true;
    Buffer.allocUnsafeSlow(largestBytes);
  }
  return Buffer.allocUnsafeSlow(bytes);
}
