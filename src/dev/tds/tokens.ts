import type { Column, ServerMessage, SqlType, SqlValue, StatementDone } from '../sql-engine.js';
import type { ByteWriter } from './bytes.js';
import { type Codec, codecOf } from './types.js';

/** MS-TDS 2.2.7. */
export const tokenType = {
  returnStatus: 0x79,
  colMetadata: 0x81,
  error: 0xaa,
  info: 0xab,
  returnValue: 0xac,
  loginAck: 0xad,
  featureExtAck: 0xae,
  row: 0xd1,
  nbcRow: 0xd2,
  envChange: 0xe3,
  done: 0xfd,
  doneProc: 0xfe,
  doneInProc: 0xff,
} as const;

/** MS-TDS 2.2.7.6. SQL Server never sets DONE_INXACT (4), says its appendix of product behavior; nor does this. */
export const doneStatus = { more: 1, error: 2, count: 0x10, attention: 0x20 } as const;

/** CurCmd of DONE: not in MS-TDS; the numbers that SQL Server sends. */
const command = {
  select: 0xc1,
  insert: 0xc3,
  delete: 0xc4,
  update: 0xc5,
  procedure: 0xe0,
  other: 0xfd,
} as const;

export interface Done {
  /** Default: DONE. */
  readonly type?: number;
  readonly status?: number;
  readonly statement?: StatementDone['statement'] | 'procedure';
  readonly count?: number;
}

export function writeDone(writer: ByteWriter, done: Done): void {
  const { type = tokenType.done, status = 0, statement = 'other', count = 0 } = done;
  writer.u8(type);
  writer.u16(status);
  writer.u16(command[statement]);
  writer.i64(BigInt(count));
}

/** A token's type, and what `write` writes after its length (two bytes). */
export function writeSized(writer: ByteWriter, type: number, write: () => void): void {
  writer.u8(type);
  const at = writer.claim(2);
  write();
  writer.buffer.writeUInt16LE(writer.length - at - 2, at);
}

/** SQL Server's own limit of a message is 2,047 characters; this one only keeps the token's length true. */
const messageLimit = 4_000;

export function writeMessage(writer: ByteWriter, message: ServerMessage, serverName: string): void {
  writeSized(writer, message.class > 10 ? tokenType.error : tokenType.info, () => {
    writer.u32(message.number);
    writer.u8(message.state);
    writer.u8(message.class);
    writer.longText(message.message.slice(0, messageLimit));
    writer.shortText(serverName);
    writer.shortText(message.procedure ?? '');
    writer.u32(message.line);
  });
}

/** MS-TDS 2.2.7.9: its types, with values that are texts or bytes. */
const envChange = {
  database: 1,
  language: 2,
  packetSize: 4,
  collation: 7,
  begin: 8,
  commit: 9,
  rollback: 10,
  reset: 18,
} as const;

export function writeChange(
  writer: ByteWriter,
  kind: keyof typeof envChange,
  to: string | Uint8Array = '',
  from: string | Uint8Array = '',
): void {
  writeSized(writer, tokenType.envChange, () => {
    writer.u8(envChange[kind]);
    for (const value of [to, from]) {
      if (typeof value === 'string') writer.shortText(value);
      else {
        writer.u8(value.length);
        writer.bytes(value);
      }
    }
  });
}

/** Flags of COLMETADATA: "updateable unknown" always (MS-TDS 2.2.7.4). */
const columnFlag = { nullable: 1, updateable: 8, identity: 0x10 } as const;
/** Only rowversion needs its UserType, for the bytes are those of a binary(8). */
const userTypeOf = (type: SqlType): number => (type.name === 'rowversion' ? 0x50 : 0);
const hasTableName = new Set(['text', 'ntext', 'image']);

export function writeColumns(writer: ByteWriter, columns: readonly Column[], codecs: readonly Codec[]): void {
  writer.u8(tokenType.colMetadata);
  writer.u16(columns.length);
  for (const [index, { name, type, nullable, identity }] of columns.entries()) {
    writer.u32(userTypeOf(type));
    writer.u16(
      columnFlag.updateable | (nullable ? columnFlag.nullable : 0) | (identity ? columnFlag.identity : 0),
    );
    codecs[index]!.info(writer);
    if (hasTableName.has(type.name)) {
      // One part, which is not known here.
      writer.u8(1);
      writer.u16(0);
    }
    writer.shortText(name);
  }
}

/** A writer of the rows of one recordset. */
export type RowWriter = (writer: ByteWriter, values: readonly SqlValue[]) => void;

/** A row goes out as NBCROW where its NULLs then take fewer bytes (MS-TDS 2.2.7.14). */
export function rowWriter(
  columns: readonly Column[],
  codecs: readonly Codec[],
  canCompress: boolean,
): RowWriter {
  const count = columns.length;
  const writes = codecs.map((codec) => codec.write);
  const nullSizes = codecs.map(({ nullSize }) => nullSize);
  const bitmapSize = (count + 7) >> 3;
  return (writer, values) => {
    if (values.length !== count)
      throw new RangeError(`A row has ${values.length} values for ${count} columns.`);
    let saved = 0;
    for (let index = 0; index < count; index++) {
      if (values[index] !== null) continue;
      const size = nullSizes[index]!;
      if (size === 0) throw new RangeError(`The column "${columns[index]!.name}" is not nullable.`);
      saved += size;
    }
    const isCompressed = canCompress && saved > bitmapSize;
    writer.u8(isCompressed ? tokenType.nbcRow : tokenType.row);
    if (!isCompressed) {
      for (let index = 0; index < count; index++) writes[index]!(writer, values[index]!);
      return;
    }
    const bitmap = writer.claim(bitmapSize);
    writer.buffer.fill(0, bitmap, bitmap + bitmapSize);
    for (let index = 0; index < count; index++) {
      const value = values[index]!;
      if (value === null) writer.buffer[bitmap + (index >> 3)]! |= 1 << (index & 7);
      else writes[index]!(writer, value);
    }
  };
}

/** The status says: an OUTPUT parameter. */
export function writeReturnValue(
  writer: ByteWriter,
  ordinal: number,
  name: string,
  type: SqlType,
  value: SqlValue,
): void {
  const codec = codecOf(type, true);
  writer.u8(tokenType.returnValue);
  writer.u16(ordinal);
  writer.shortText(name);
  writer.u8(1);
  writer.u32(userTypeOf(type));
  writer.u16(columnFlag.nullable);
  codec.info(writer);
  codec.write(writer, value);
}
