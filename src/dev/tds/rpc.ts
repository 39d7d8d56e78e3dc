import { ByteReader, ProtocolError } from './bytes.js';
import type { Parameter } from './engine.js';
import { notSupported, RequestError } from './request-error.js';
import { ParameterError, readTypeInfo } from './types.js';

export interface RpcCall {
  /** Of a procedure by its number, the number (MS-TDS 2.2.6.6). */
  readonly procedure: string | number;
  readonly parameters: readonly Parameter[];
}

const status = { output: 1, useDefault: 2, encrypted: 8 } as const;
/** Between calls: BatchFlag and NoExecFlag. */
const separators = [0xff, 0xfe];

/** ALL_HEADERS (MS-TDS 2.2.5.3): its own length, then headers; nothing in them is needed here. */
export function skipHeaders(reader: ByteReader): void {
  const end = reader.at + reader.u32();
  while (reader.at < end) {
    const size = reader.u32();
    if (size < 6) throw new ProtocolError('ALL_HEADERS has a header without a type.');
    reader.skip(size - 4);
  }
  if (reader.at !== end) throw new ProtocolError('ALL_HEADERS has not the length that it says.');
}

/** The calls of an RPC message, in order. Throws RequestError for a bad parameter, ProtocolError for a bad message. */
export function readRpc(data: Buffer): RpcCall[] {
  const reader = new ByteReader(data);
  skipHeaders(reader);
  const calls: RpcCall[] = [];
  do {
    const length = reader.u16();
    const procedure = length === 0xffff ? reader.u16() : reader.utf16(length);
    // Option flags: recompile, no metadata.
    reader.u16();
    const parameters: Parameter[] = [];
    while (reader.left > 0 && !separators.includes(data[reader.at]!)) {
      parameters.push(readParameter(reader, parameters.length + 1));
    }
    calls.push({ procedure, parameters });
    if (reader.left > 0) reader.u8();
  } while (reader.left > 0);
  return calls;
}

function readParameter(reader: ByteReader, position: number): Parameter {
  const name = reader.shortText();
  const flags = reader.u8();
  const typeByte = reader.bytes[reader.at] ?? 0;
  if ((flags & status.encrypted) !== 0) throw notSupported('Always Encrypted');
  try {
    const { type, read } = readTypeInfo(reader);
    const value = read(reader);
    const useDefault = (flags & status.useDefault) !== 0;
    return { name, type, value, output: (flags & status.output) !== 0, ...(useDefault && { useDefault }) };
  } catch (error) {
    if (!(error instanceof ParameterError) && !(error instanceof RangeError)) throw error;
    const number = error instanceof ParameterError ? error.number : 8023;
    throw number === 40510 ? notSupported(error.message) : describe(number, position, name, typeByte);
  }
}

/** SQL Server's texts. */
function describe(
  number: 8009 | 8016 | 8023,
  position: number,
  name: string,
  typeByte: number,
): RequestError {
  const type = `ata type 0x${typeByte.toString(16).toUpperCase().padStart(2, '0')}`;
  const reason = {
    8009: `D${type} is unknown.`,
    8016: `D${type} has an invalid data length or metadata length.`,
    8023: `The supplied value is not a valid instance of d${type}. Check the source data for invalid values.`,
  }[number];
  const start =
    'The incoming tabular data stream (TDS) remote procedure call (RPC) protocol stream is incorrect.';
  return new RequestError(number, `${start} Parameter ${position} ("${name}"): ${reason}`);
}
