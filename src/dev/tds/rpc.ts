import { ByteReader } from './byte-reader.js';
import { ParameterError } from './decode-values.js';
import type { Parameter, ServerMessage } from './engine.js';
import { ProtocolError } from './protocol-error.js';
import { readTypeInfo } from './read-values.js';

export interface RpcCall {
  /** Of one of the procedures with a number (MS-TDS 2.2.6.6), else undefined. */
  readonly id?: number;
  readonly name: string;
  readonly parameters: readonly Parameter[];
}

const status = { output: 1, useDefault: 2, encrypted: 8 } as const;
const batchFlag = { next: 0xff, nextWithoutExecution: 0xfe } as const;

/** What to tell a client of a parameter that is not as it must be (SQL Server's 8009, 8016 and 8023). */
export class RpcError extends Error {
  readonly serverMessage: ServerMessage;

  constructor(number: number, message: string) {
    super(message);
    this.serverMessage = { number, state: 1, class: 16, message, line: 1 };
  }
}

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

/** The calls of an RPC message, in order. Throws RpcError for a bad parameter, ProtocolError for a bad message. */
export function readRpc(data: Buffer): RpcCall[] {
  const reader = new ByteReader(data);
  skipHeaders(reader);
  const calls: RpcCall[] = [];
  while (reader.left > 0) {
    const length = reader.u16();
    const call = length === 0xffff ? { id: reader.u16(), name: '' } : { name: reader.utf16(length) };
    // Option flags: recompile, no metadata.
    reader.u16();
    const parameters: Parameter[] = [];
    while (reader.left > 0) {
      const next = reader.bytes[reader.at]!;
      if (next === batchFlag.next || next === batchFlag.nextWithoutExecution) {
        reader.u8();
        break;
      }
      parameters.push(readParameter(reader, parameters.length + 1));
    }
    calls.push({ ...call, parameters });
  }
  if (calls.length === 0) throw new ProtocolError('An RPC message without a call.');
  return calls;
}

function readParameter(reader: ByteReader, position: number): Parameter {
  const name = reader.shortText();
  const flags = reader.u8();
  let typeByte = reader.bytes[reader.at] ?? 0;
  try {
    const { type, read } = readTypeInfo(reader);
    const value = read(reader);
    if ((flags & status.encrypted) !== 0)
      throw new ParameterError('refused type', typeByte, 'Always Encrypted');
    return {
      name,
      type,
      value,
      output: (flags & status.output) !== 0,
      ...((flags & status.useDefault) !== 0 && { useDefault: true }),
    };
  } catch (error) {
    if (error instanceof ParameterError) typeByte = error.typeByte;
    else if (!(error instanceof RangeError)) throw error;
    throw describe(error, position, name, typeByte);
  }
}

function describe(
  error: ParameterError | RangeError,
  position: number,
  name: string,
  typeByte: number,
): RpcError {
  const kind = error instanceof ParameterError ? error.kind : 'invalid value';
  if (kind === 'refused type') {
    return new RpcError(40510, `${error.message} is not supported by the embedded server.`);
  }
  const byte = `0x${typeByte.toString(16).toUpperCase().padStart(2, '0')}`;
  const [number, reason] = {
    'unknown type': [8009, `Data type ${byte} is unknown.`] as const,
    'invalid length': [8016, `Data type ${byte} has an invalid data length or metadata length.`] as const,
    'invalid value': [
      8023,
      `The supplied value is not a valid instance of data type ${byte}. Check the source data for invalid values.`,
    ] as const,
  }[kind];
  const start =
    'The incoming tabular data stream (TDS) remote procedure call (RPC) protocol stream is incorrect.';
  return new RpcError(number, `${start} Parameter ${position} ("${name}"): ${reason}`);
}
