import type { Codec } from './codec.js';

const quote = 0x22;
/** A multiple of 3, so that only the last slice has padding. */
const slice = 12_288;
const hexDigits = Buffer.from('0123456789abcdef', 'latin1');
/** The first three groups are little-endian (MS-TDS 2.2.5.5.3, as a GUID of Windows). */
const guidOrder = [3, 2, 1, 0, -1, 5, 4, -1, 7, 6, -1, 8, 9, -1, 10, 11, 12, 13, 14, 15];

/** binary, varbinary, image, rowversion, UDT: base64 in JSON. */
export const binary: Codec = {
  json(source, start, length, out) {
    out.ensure(1);
    out.buffer[out.position++] = quote;
    const end = start + length;
    for (let from = start; from < end; from += slice) {
      const to = Math.min(end, from + slice);
      out.ensure(slice * 2);
      out.position += out.buffer.write(source.toString('base64', from, to), out.position, 'latin1');
    }
    out.ensure(1);
    out.buffer[out.position++] = quote;
  },
  // A copy: the bytes of the packet would keep 64 KiB alive for each value.
  value: (source, start, length) => Buffer.from(source.subarray(start, start + length)),
};

function writeGuid(buffer: Buffer, from: number, source: Buffer, start: number): number {
  let at = from;
  for (const index of guidOrder) {
    if (index < 0) buffer[at++] = 0x2d;
    else {
      const byte = source[start + index]!;
      buffer[at++] = hexDigits[byte >> 4]!;
      buffer[at++] = hexDigits[byte & 15]!;
    }
  }
  return at;
}

const scratch = Buffer.alloc(36);

/** uniqueidentifier: lower-case, as .NET prints it. */
export const guid: Codec = {
  json(source, start, _length, out) {
    out.ensure(38);
    out.buffer[out.position] = quote;
    const at = writeGuid(out.buffer, out.position + 1, source, start);
    out.buffer[at] = quote;
    out.position = at + 1;
  },
  value(source, start) {
    writeGuid(scratch, 0, source, start);
    return scratch.toString('latin1');
  },
};
