import { ByteReader, ProtocolError } from './bytes.js';

/** MS-TDS 2.2.6.5. */
const option = { version: 0, encryption: 1, instance: 2, thread: 3, mars: 4, terminator: 0xff } as const;
export const encryption = { off: 0, on: 1, notSupported: 2, required: 3 } as const;

/** The ENCRYPTION value that the client asks with. Throws a ProtocolError. */
export function readPrelogin(data: Buffer): number {
  const reader = new ByteReader(data);
  let wish: number = encryption.notSupported;
  for (let token = reader.u8(); token !== option.terminator; token = reader.u8()) {
    const head = reader.take(4);
    const value = new ByteReader(data, head.readUInt16BE(0)).take(head.readUInt16BE(2));
    if (token !== option.encryption) continue;
    if (value.length !== 1) throw new ProtocolError('PRELOGIN has a malformed ENCRYPTION option.');
    // The upper bits ask for client certificates, which are not looked at here.
    wish = value[0]! & 0x0f;
  }
  return wish;
}

/** Version numbers are those of SQL Server 2022, whose protocol this is (16.0.1000). */
export const serverVersion = [16, 0, 0x03, 0xe8] as const;

/** MARS is refused here: a client that needs it says so itself. */
export function preloginReply(chosen: number): Buffer {
  const options: readonly (readonly [number, readonly number[]])[] = [
    [option.version, [...serverVersion, 0, 0]],
    [option.encryption, [chosen]],
    [option.instance, [0]],
    [option.thread, []],
    [option.mars, [0]],
  ];
  let at = 5 * options.length + 1;
  const heads = options.flatMap(([token, value]) => {
    const head = [token, at >> 8, at & 0xff, 0, value.length];
    at += value.length;
    return head;
  });
  return Buffer.from([...heads, option.terminator, ...options.flatMap(([, value]) => value)]);
}
