import { ByteReader } from './byte-reader.js';
import type { EngineSession, RequestContext } from './engine.js';
import { type Message, packetType } from './packets.js';
import type { Response } from './response.js';
import { RpcError, readRpc, skipHeaders } from './rpc.js';
import { type Procedures, statementLimit } from './special-procedures.js';
import { readTransactionRequest } from './transaction-request.js';

export type Work = (context: RequestContext, response: Response) => Promise<void>;

/** Bytes that a message may have. LOGIN7: MS-TDS 2.2.6.4; the others are limits of this server. */
export const messageLimits: Record<number, number> = {
  [packetType.prelogin]: 4_096,
  [packetType.login]: 131_072,
  [packetType.batch]: 2 * statementLimit,
  [packetType.rpc]: 134_217_728,
  [packetType.transaction]: 4_096,
  [packetType.attention]: 0,
  [packetType.bulkLoad]: 0,
};

/** Takes the message apart while its bytes are valid. */
export function readRequest(
  { type, data, tooLong }: Message,
  session: EngineSession,
  procedures: Procedures,
): Work {
  const refuse = (what: string): Work => {
    const error = new RpcError(40510, `${what} is not supported by the embedded server.`);
    return () => Promise.reject(error);
  };
  if (type === packetType.bulkLoad) return refuse('Bulk load');
  if (tooLong) return refuse(`A request of over ${messageLimits[type]} bytes`);
  const reader = new ByteReader(data);
  if (type === packetType.batch) {
    skipHeaders(reader);
    const sql = reader.take(reader.left & ~1).toString('utf16le');
    return (context) => session.batch(sql, context);
  }
  if (type === packetType.transaction) {
    skipHeaders(reader);
    const requests = readTransactionRequest(reader);
    return async (context) => {
      for (const [request, name] of requests) await session.transaction(request, name, context);
    };
  }
  try {
    const calls = readRpc(data);
    return async (context, response) => {
      for (const call of calls) {
        if (!context.signal.aborted) await procedures.call(call, context, response);
      }
    };
  } catch (error) {
    if (error instanceof RpcError) return () => Promise.reject(error);
    throw error;
  }
}
