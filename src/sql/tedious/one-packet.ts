import type { Connection } from 'tedious';
import { type PrivateConnection, type PrivateRequest, privatesOf } from './internals.js';

const headerBytes = 8;
/** Of the packet's header, MS-TDS 2.2.3.1.2. */
const status = { endOfMessage: 0x01, resetConnection: 0x08 } as const;

/**
 * Requests that fit one packet, as nearly all do, are written at once. tedious makes two streams for each, and pipes one into the other: a tenth of what
 * a short request costs in all. Others, and whatever goes wrong while a request's bytes are made, are left to it.
 */
export function sendInOnePacket(connection: Connection): void {
  const target = privatesOf(connection);
  const original = target.makeRequest;
  if (typeof original !== 'function' || !target.STATE?.SENT_CLIENT_REQUEST) return;
  target.makeRequest = (request, type, payload) => {
    const packet = isReady(target, request) ? packetOf(target, type, payload) : undefined;
    if (packet === undefined) original.call(target, request, type, payload);
    else send(target, request, type, packet);
  };
}

const isReady = (target: PrivateConnection, request: PrivateRequest): boolean =>
  target.state === target.STATE.LOGGED_IN &&
  !request.canceled &&
  typeof target._cancelAfterRequestSent === 'function';

function packetOf(target: PrivateConnection, type: number, payload: Iterable<Buffer>): Buffer | undefined {
  const most = target.messageIo.outgoingMessageStream.packetSize - headerBytes;
  const header = Buffer.alloc(headerBytes);
  const parts: Buffer[] = [header];
  let size = 0;
  try {
    for (const part of payload) {
      size += part.length;
      if (size > most) return undefined;
      parts.push(part);
    }
  } catch {
    // A parameter that can't be: tedious meets it again, and tells the request.
    return undefined;
  }
  header[0] = type;
  header[1] = status.endOfMessage | (target.resetConnectionOnNextRequest ? status.resetConnection : 0);
  header.writeUInt16BE(size + headerBytes, 2);
  header[6] = 1;
  return Buffer.concat(parts, size + headerBytes);
}

/** What tedious does of itself when a request has gone out. */
function send(target: PrivateConnection, request: PrivateRequest, type: number, packet: Buffer): void {
  target.isSqlBatch = type === 1;
  target.request = request;
  target.attentionSent = false;
  request.connection = target;
  request.rowCount = 0;
  request.rows = [];
  request.rst = [];
  target.createRequestTimer();
  target.messageIo.outgoingMessageStream.push(packet);
  target.transitionTo(target.STATE.SENT_CLIENT_REQUEST);
  request.prependOnceListener('cancel', target._cancelAfterRequestSent);
  target.resetConnectionOnNextRequest = false;
}
