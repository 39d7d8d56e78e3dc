import { ByteReader, ProtocolError } from './bytes.js';
import type { EngineSession } from './engine.js';
import { type Message, packetType } from './packets.js';
import { type Procedures, statementLimit } from './procedures.js';
import { notSupported, RequestError } from './request-error.js';
import type { Response } from './response.js';
import { readRpc, skipHeaders } from './rpc.js';

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
  if (tooLong) throw notSupported(`A request of over ${messageLimits[type]} bytes`);
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
