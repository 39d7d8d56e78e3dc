import { ByteReader } from './byte-reader.js';
import { ProtocolError } from './protocol-error.js';

/** MS-TDS 2.2.6.5. */
const option = { version: 0, encryption: 1, instance: 2, thread: 3, mars: 4, terminator: 0xff } as const;
export const encryption = { off: 0, on: 1, notSupported: 2, required: 3 } as const;

/** The ENCRYPTION value that the client asks with. */
export function readPrelogin(data: Buffer): number {
  const reader = new ByteReader(data);
  let wish: number = encryption.notSupported;
  for (let token = reader.u8(); token !== option.terminator; token = reader.u8()) {
    const head = reader.take(4);
    const value = new ByteReader(data, head.readUInt16BE(0));
    const length = head.readUInt16BE(2);
    value.skip(length);
    if (token === option.encryption) {
      if (length !== 1) throw new ProtocolError('PRELOGIN has a malformed ENCRYPTION option.');
      wish = data[head.readUInt16BE(0)]!;
    }
  }
  // The upper bits ask for client certificates (MS-TDS 2.2.6.5), which are not looked at here.
  return wish & 0x0f;
}

/** Version numbers are those of SQL Server 2022, whose protocol this is (16.0.1000). */
export const serverVersion = [16, 0, 0x03, 0xe8] as const;

export function preloginReply(chosen: number): Buffer {
  const options: readonly (readonly [number, readonly number[]])[] = [
    [option.version, [...serverVersion, 0, 0]],
    [option.encryption, [chosen]],
    [option.instance, [0]],
    [option.thread, []],
    [option.mars, [0]],
  ];
  let at = 5 * options.length + 1;
  const heads: number[] = [];
  for (const [token, value] of options) {
    heads.push(token, at >> 8, at & 0xff, 0, value.length);
    at += value.length;
  }
  return Buffer.from([...heads, option.terminator, ...options.flatMap(([, value]) => value)]);
}
