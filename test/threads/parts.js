// CPU parts for the tests. Threads load it as it is, so it is plain JavaScript.

/** @typedef {() => unknown} Read */

/** @param {Read} read */
export const echo = (read) => read();

/** @param {Read} read @param {number} by */
export const multiply = (read, by) => /** @type {number} */ (read()) * by;

/** @param {Read} read */
export function readTheTable(read) {
  return read();
}

/** Never reads: its I/O is started for nothing. */
export const ignore = () => 'ignored';

/** @param {Read} read */
export function throwAfterRead(read) {
  read();
  throw new RangeError('no such column');
}

/** @param {Read} read */
export function catchAndGoOn(read) {
  try {
    return read();
  } catch {
    return 'went on';
  }
}

export const returnFunction = () => () => {};

/** @param {Read} read @param {number} ms */
export function compute(read, ms) {
  const value = read();
  for (const end = performance.now() + ms; performance.now() < end; );
  return value;
}

/** @param {Read} read @param {number} code */
export const die = (read, code) => {
  read();
  process.exit(code);
};

export const eatMemory = () => {
  const all = [];
  for (;;) all.push(new Array(100_000).fill(all.length));
};
