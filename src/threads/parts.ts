// Loaded by the threads: CPU parts for those who need nothing of their own.

/** UTF-8 bytes to text. */
export function textOf(read: () => unknown): string {
  return new TextDecoder().decode(read() as Uint8Array);
}
