/** Responses for the raw server, by the text of the batch. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  attentionAcknowledged,
  colMetadata,
  done,
  errorToken,
  type RawRequest,
  type RawSession,
  row,
} from './sql-raw-server.js';

const metadata = colMetadata([{ name: 'Id', typeInfo: Buffer.from([0x38]), nullable: false }]);

export function idRow(id: number): Buffer {
  const value = Buffer.alloc(4);
  value.writeInt32LE(id);
  return row(value);
}

export function recordset(...ids: number[]): Buffer {
  return Buffer.concat([metadata, ...ids.map(idRow), done(ids.length, 0x10)]);
}

const more = (count: number) => done(count, 0x11);

/** Sessions that a script left waiting or streaming, until their ATTENTION. */
const busy = new WeakMap<RawSession, { stopped: boolean }>();

/** How many ATTENTIONs have been answered. */
export const counts = { attentions: 0 };

async function stream(session: RawSession): Promise<void> {
  const state = { stopped: false };
  busy.set(session, state);
  await session.send(metadata, [4_088], false);
  const block = Buffer.concat(Array.from({ length: 500 }, (_, index) => idRow(index)));
  while (!state.stopped && !session.socket.destroyed) {
    await session.send(block, [4_088], false);
    // The client lives in the same process, and others may stream too.
    await new Promise(setImmediate);
  }
  // The response that was cancelled ends; its acknowledgement is a message of its own.
  await session.send(done(0, 0x02));
  await session.send(attentionAcknowledged);
}

/** `wait`: silence until ATTENTION; `deaf`: for ever; `stream`: rows until ATTENTION. */
export async function script({ type, text }: RawRequest, session: RawSession): Promise<void> {
  if (type === 6) {
    const state = busy.get(session);
    busy.delete(session);
    counts.attentions++;
    // The response was complete before: the acknowledgement is due all the same.
    if (state === undefined) return session.send(attentionAcknowledged);
    state.stopped = true;
    return;
  }
  const [verb, argument = ''] = text.split(' ');
  switch (verb) {
    case 'ids':
      return session.send(recordset(...argument.split(',').map(Number)));
    case 'empty':
      return session.send(recordset());
    case 'nothing':
      return session.send(done());
    case 'slow':
      await sleep(Number(argument));
      return session.send(recordset(1));
    case 'two':
      return session.send(
        Buffer.concat([metadata, idRow(1), more(1), metadata, idRow(2), idRow(3), done(2, 0x10)]),
      );
    case 'error':
      return session.send(Buffer.concat([errorToken(Number(argument), 'as asked'), done(0, 0x02)]));
    case 'late-error':
      return session.send(
        Buffer.concat([metadata, idRow(1), idRow(2), errorToken(Number(argument), 'late'), done(0, 0x02)]),
      );
    // The server says why, and closes the connection: with a DONE before, or without one.
    case 'fatal':
    case 'late-fatal': {
      const [number, isDone] = argument.split(',');
      const before = verb === 'fatal' ? [] : [metadata, idRow(1), idRow(2)];
      const tokens = [
        ...before,
        errorToken(Number(number), 'fatal', 20),
        ...(isDone === 'done' ? [done(0, 0x02)] : []),
      ];
      const [size, isLast] = [[4_088], isDone === 'done'];
      await session.send(Buffer.concat(tokens), size, isLast);
      if (isDone !== 'now') await sleep(20);
      session.socket.end();
      return;
    }
    case 'trickle':
      await session.send(Buffer.concat([metadata, idRow(1)]), [4_088], false);
      await sleep(Number(argument));
      return session.send(Buffer.concat([idRow(2), done(2, 0x10)]));
    case 'cut':
      await session.send(Buffer.concat([metadata, idRow(1)]), [4_088], false);
      await sleep(20);
      session.socket.destroy();
      return;
    case 'half-row':
      await session.send(Buffer.concat([metadata, Buffer.from([0xd1, 1, 2])]), [4_088], false);
      await sleep(30);
      session.socket.destroy();
      return;
    case 'half-token':
      return session.send(Buffer.concat([metadata, Buffer.from([0xd1, 1, 2])]));
    case 'garbage':
      return session.send(Buffer.concat([metadata, Buffer.from([0x99, 0x98, 0x97, 0x96])]));
    case 'wait': {
      const state = { stopped: false };
      busy.set(session, state);
      while (!state.stopped && !session.socket.destroyed) await sleep(2);
      await session.send(done(0, 0x02));
      return session.send(attentionAcknowledged);
    }
    case 'deaf':
      return;
    case 'stream':
      return stream(session);
    case 'declare':
    case 'DECLARE':
      return session.send(done());
  }
}
