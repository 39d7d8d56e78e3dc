import type { EngineSession, Parameter } from '../sql-engine.js';
import { ByteReader, ProtocolError } from './bytes.js';
import { type Message, packetType } from './packets.js';
import { type Procedures, type RpcCall, statementLimit } from './procedures.js';
import { notSupported, ParameterError, RequestError } from './request-error.js';
import type { Response } from './response.js';
import { otherTokens, readTypeInfo } from './types.js';

/** What a request makes the engine do; rejects with a RequestError that the client shall see. */
export type Work = (response: Response) => Promise<void>;

/** Bytes that a message may have; of a longer one nothing is kept. LOGIN7: MS-TDS 2.2.6.4; the others are choices. */
export const messageLimits: Record<number, number> = {
  [packetType.prelogin]: 4_096,
  [packetType.login]: 131_072,
  [packetType.batch]: 2 * statementLimit,
  [packetType.rpc]: 134_217_728,
  [packetType.transaction]: 4_096,
};

/** Bytes that requests under way on all connections may take together. */
export const assemblyLimit = 536_870_912;

/** Takes the message apart while its bytes are valid. Throws a ProtocolError. */
export function readRequest(message: Message, session: EngineSession, procedures: Procedures): Work {
  try {
    return workOf(message, session, procedures);
  } catch (error) {
    if (error instanceof RequestError) return () => Promise.reject(error);
    throw error;
  }
}

function workOf({ type, data, tooLong }: Message, session: EngineSession, procedures: Procedures): Work {
  if (type === packetType.bulkLoad) throw notSupported('Bulk load');
  if (tooLong) throw notSupported(tooLong);
  if (type === packetType.rpc) {
    const calls = readRpc(data);
    return async (response) => {
      for (const call of calls) {
        if (!response.context.signal.aborted) await procedures.call(call, response);
      }
    };
  }
  const reader = new ByteReader(data);
  skipHeaders(reader);
  if (type === packetType.batch) {
    const sql = reader.take(reader.left & ~1).toString('utf16le');
    return ({ context }) => session.batch(sql, context);
  }
  const requests = readTransaction(reader);
  return async ({ context }) => {
    for (const [request, name] of requests) await session.transaction(request, name, context);
  };
}

type Transaction = Parameters<EngineSession['transaction']>[0];
/** Request types of the transaction manager (MS-TDS 2.2.6.9). */
const transactions: Record<number, Transaction> = { 5: 'begin', 7: 'commit', 8: 'rollback', 9: 'save' };

/** What is asked, in order: a commit or rollback may begin the next transaction at once. */
function readTransaction(reader: ByteReader): (readonly [Transaction, string])[] {
  const type = reader.u16();
  const kind = transactions[type];
  if (type <= 6 && !kind) throw notSupported('A distributed transaction');
  if (!kind) throw new ProtocolError(`The transaction manager request ${type} is not known.`);
  /** A length in bytes, unlike other short texts. */
  const name = (): string => reader.take(reader.u8()).toString('utf16le');
  // The isolation level is not used: there is one lock for all.
  if (kind === 'begin') reader.u8();
  const requests: (readonly [Transaction, string])[] = [[kind, name()]];
  if ((kind === 'commit' || kind === 'rollback') && reader.left > 0 && (reader.u8() & 1) !== 0) {
    reader.u8();
    requests.push(['begin', name()]);
  }
  return requests;
}

const status = { output: 1, useDefault: 2, encrypted: 8 } as const;
/** Between calls: BatchFlag and NoExecFlag. */
const separators = [0xff, 0xfe];

/** ALL_HEADERS (MS-TDS 2.2.5.3): its own length, then headers; nothing in them is needed here. */
function skipHeaders(reader: ByteReader): void {
  const end = reader.at + reader.u32();
  while (reader.at < end) {
    const size = reader.u32();
    if (size < 6) throw new ProtocolError('ALL_HEADERS has a header without a type.');
    reader.skip(size - 4);
  }
  if (reader.at !== end) throw new ProtocolError('ALL_HEADERS has not the length that it says.');
}

/** The calls of an RPC message, in order. Throws RequestError for a bad parameter, ProtocolError for a bad message. */
function readRpc(data: Buffer): RpcCall[] {
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
  let typeName = '';
  try {
    const { type, read } = readTypeInfo(reader);
    typeName = typeByte === otherTokens.numeric ? 'numeric' : type.name;
    const value = read(reader);
    const useDefault = (flags & status.useDefault) !== 0;
    return { name, type, value, output: (flags & status.output) !== 0, ...(useDefault && { useDefault }) };
  } catch (error) {
    if (!(error instanceof ParameterError) && !(error instanceof RangeError)) throw error;
    const number = error instanceof ParameterError ? error.number : 8023;
    if (number === 40510) throw notSupported(error.message);
    const start =
      'The incoming tabular data stream (TDS) remote procedure call (RPC) protocol stream is incorrect.';
    const reason = describe(number, typeByte, typeName);
    throw new RequestError(number, `${start} Parameter ${position} ("${name}"): ${reason}`);
  }
}

/** SQL Server's texts; those about values name the type. */
function describe(number: ParameterError['number'], typeByte: number, typeName: string): string {
  const type = `Data type 0x${typeByte.toString(16).toUpperCase().padStart(2, '0')}`;
  const variant = `${type} (sql_variant) has an invalid`;
  const check = 'Check the source data for invalid';
  const texts: Record<number, string> = {
    8009: `${type} is unknown.`,
    8011: `${variant} length for type-specific metadata.`,
    8012: `${variant} precision or scale for type-specific metadata.`,
    8013: `${variant} instance length.`,
    8014: `${variant} type for type-specific metadata.`,
    8016: `${type} has an invalid data length or metadata length.`,
    8017: `${type} has an invalid precision or scale.`,
    8023: `The supplied value is not a valid instance of data type ${typeName}. ${check} values. An example of an invalid value is data of numeric type with scale greater than precision.`,
    8028: `The supplied length is not valid for data type ${typeName}. ${check} lengths. An example of an invalid length is data of nchar type with an odd length in bytes.`,
  };
  return texts[number]!;
}
