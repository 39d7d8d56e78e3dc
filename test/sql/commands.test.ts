import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  closePools,
  defineCommand,
  type OpenContext,
  poolStats,
  type RowSource,
  type SqlCommandOptions,
} from '../../src/sql/index.js';
import { all, jsonWriter, ndjsonWriter, text, within } from '../helpers/sql-client.js';
import { RawServer } from '../helpers/sql-raw-server.js';
import { counts, script } from '../helpers/sql-script.js';

let server: RawServer;

beforeAll(async () => {
  server = await new RawServer(script).listen();
});

beforeEach(() => {
  server.respond = script;
});

afterAll(async () => {
  await closePools(0);
  await server.close();
});

function open(
  commandText: string,
  options: Partial<SqlCommandOptions> = {},
  context: OpenContext = {},
  extra = '',
): Promise<RowSource> {
  const command = defineCommand(
    { commandText, connectionStringSetting: 'S', retry: { retries: 0 }, ...options },
    { S: server.connectionString + extra },
  );
  return command.open(command.values({}), context);
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );
const used = () => poolStats().reduce((sum, pool) => sum + pool.used, 0);

async function allReleased(): Promise<void> {
  const deadline = Date.now() + 5_000;
  while (used() > 0 && Date.now() < deadline) await sleep(5);
  expect(used()).toBe(0);
}

describe('recordsets', () => {
  test('an empty one has its columns and no rows', async () => {
    const source = await open('empty');
    expect(source.columns).toHaveLength(1);
    expect(await text(source.chunks(jsonWriter))).toBe('[]');
    expect(await text((await open('empty')).chunks(ndjsonWriter))).toBe('');
    expect(await all((await open('empty')).rows())).toEqual([]);
  });

  test('a command without any has no columns and no rows', async () => {
    const source = await open('nothing');
    expect(source.columns).toEqual([]);
    expect(await text(source.chunks(jsonWriter))).toBe('[]');
  });

  test('only the first is given; the others are drained, and the log says so', async () => {
    const lines: string[] = [];
    const source = await open('two', {}, { log: (level, message) => lines.push(`${level}: ${message}`) });
    expect(await all(source.rows())).toEqual([{ Id: 1 }]);
    await allReleased();
    expect(source.stats.recordsets).toBe(2);
    expect(lines).toEqual(['warn: 1 more recordsets were read and dropped.']);
  });

  test('a source is read once', async () => {
    const source = await open('ids 1');
    expect(await all(source.rows())).toHaveLength(1);
    expect(() => source.rows()).toThrow('once');
  });

  test('a lone row goes out before the next one has come', async () => {
    const chunks = (await open('trickle 400')).chunks(ndjsonWriter);
    const first = await within(300, 'the first row', chunks.next());
    expect(Buffer.from(first.value as Uint8Array).toString()).toBe('{"Id":1}\n');
    expect(await text(chunks)).toBe('{"Id":2}\n');
  });
});

describe('cancel', () => {
  test('leaving the loop sends ATTENTION, and the connection is clean for the next command', async () => {
    const before = counts.attentions;
    let seen = 0;
    for await (const row of (await open('stream')).rows()) {
      expect(row).toHaveProperty('Id');
      if (++seen === 3) break;
    }
    expect(counts.attentions).toBe(before + 1);
    expect(used()).toBe(0);
    expect(await all((await open('ids 42')).rows())).toEqual([{ Id: 42 }]);
  });

  test.each([0, 1, 300])(
    'leaving it after row %i, by break, throw and return, gives the connection back',
    async (rows) => {
      const leave = {
        break: async () => {
          let seen = 0;
          for await (const _row of (await open('stream')).rows()) if (seen++ >= rows) break;
        },
        throw: async () => {
          let seen = 0;
          for await (const _row of (await open('stream')).rows())
            if (seen++ >= rows) throw new Error('enough');
        },
        return: async () => {
          const iterator = (await open('stream')).rows()[Symbol.asyncIterator]();
          for (let seen = 0; seen < rows; seen++) await iterator.next();
          await iterator.return?.();
          expect(await iterator.next()).toEqual({ done: true, value: undefined });
        },
      };
      for (const one of Object.values(leave)) {
        const before = counts.attentions;
        await within(
          5_000,
          'the end of the loop',
          one().catch((error) => expect(error.message).toBe('enough')),
        );
        expect([counts.attentions, used()]).toEqual([before + 1, 0]);
      }
    },
  );

  test('a throw in the loop does the same, and is what the caller gets', async () => {
    const before = counts.attentions;
    const loop = async () => {
      for await (const chunk of (await open('stream')).chunks(jsonWriter))
        throw new Error(`saw ${chunk.length > 0}`);
    };
    await expect(loop()).rejects.toThrow('saw true');
    expect(counts.attentions).toBe(before + 1);
  });

  test('an abort before the first row rejects, and the connection comes back', async () => {
    const before = counts.attentions;
    const controller = new AbortController();
    const opening = failure(open('wait', {}, { signal: controller.signal }));
    await sleep(50);
    controller.abort(new Error('gone'));
    expect(await within(500, 'the rejection', opening)).toMatchObject({ code: 'EAborted' });
    await allReleased();
    expect(counts.attentions).toBe(before + 1);
  });

  test('an abort before the command is sent sends nothing', async () => {
    const before = server.requests.length;
    const error = await failure(open('ids 1', {}, { signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ code: 'EAborted' });
    expect(server.requests.length).toBe(before);
  });

  test('cancel is safe at any time, and after the end', async () => {
    const source = await open('ids 1,2');
    await source.cancel();
    await source.cancel();
    expect(await failure(all(source.rows()))).toMatchObject({ code: 'EAborted' });
    const ended = await open('ids 1');
    await all(ended.rows());
    await ended.cancel();
    expect(ended.stats.ended).toBe('complete');
  });

  test('1,000 commands cancelled at random moments leave the counts of the pool as they were', {
    timeout: 60_000,
  }, async () => {
    const others = server;
    server = await new RawServer(script).listen();
    for (let round = 0; round < 100; round++) {
      await Promise.all(
        Array.from({ length: 10 }, async (_, index) => {
          const controller = new AbortController();
          const kind = ['stream', 'wait', 'ids 1,2'][index % 3]!;
          const opening = failure(open(kind, {}, { signal: controller.signal }));
          if (index % 2 === 0) await sleep(Math.random() * 3);
          controller.abort();
          const source = await opening;
          if (source !== undefined && !(source instanceof Error)) await (source as RowSource).cancel();
        }),
      );
    }
    await allReleased();
    expect(await all((await open('ids 7')).rows())).toEqual([{ Id: 7 }]);
    // They were cancelled cleanly, and no connection had to be replaced; a loopback that is slow for seconds may cost one.
    expect(server.logins.length - server.sessions.size).toBeLessThanOrEqual(1);
    expect(server.logins.length).toBeLessThanOrEqual(100);
    await server.close();
    server = others;
  });

  test('a server that does not acknowledge costs the connection, not the caller', {
    timeout: 15_000,
  }, async () => {
    const started = Date.now();
    const opening = open('deaf', { deadlines: { firstRowMs: 100 } });
    expect(await within(1_000, 'the error', failure(opening))).toMatchObject({ code: 'EFirstRowTimeout' });
    expect(Date.now() - started).toBeGreaterThanOrEqual(99);
    await allReleased();
    expect(await all((await open('ids 1')).rows())).toEqual([{ Id: 1 }]);
  });
});

describe('deadlines', () => {
  test('the first row has one', async () => {
    const error = await failure(open('wait', { deadlines: { firstRowMs: 80 } }));
    expect(error).toMatchObject({ code: 'EFirstRowTimeout', phase: 'firstRow' });
    await allReleased();
  });

  test('that one is over with the first row: a healthy stream may take longer', async () => {
    const source = await open('trickle 400', { deadlines: { firstRowMs: 150 } });
    expect(await all(source.rows())).toEqual([{ Id: 1 }, { Id: 2 }]);
  });

  test('Command Timeout of the connection string is that one', async () => {
    const error = await failure(within(3_000, 'the timeout', open('wait', {}, {}, ';Command Timeout=1')));
    expect(error).toMatchObject({ code: 'EFirstRowTimeout' });
  });

  test('the whole has one, which ends a stream that flows', async () => {
    const source = await open('stream', { deadlines: { totalMs: 150 } });
    expect(await failure(all(source.rows()))).toMatchObject({ code: 'ETotalTimeout' });
    expect(source.stats.rows).toBeGreaterThan(0);
    await allReleased();
  });

  test('an exhausted pool says how many connections are used and wanted', async () => {
    const extra = ';Max Pool Size=2;App=small';
    const busy = await Promise.all([open('stream', {}, {}, extra), open('stream', {}, {}, extra)]);
    const error = await failure(open('ids 1', { deadlines: { acquireMs: 60 } }, {}, extra));
    expect(error).toMatchObject({ code: 'EPoolExhausted', phase: 'acquire', retryAfterMs: 5_000 });
    expect((error as Error).message).toContain('2 of 2 are in use, 0 free, 1 requests wait');
    const waiting = open('ids 1', {}, {}, extra);
    await busy[0]!.cancel();
    expect(await all((await waiting).rows())).toEqual([{ Id: 1 }]);
    await busy[1]!.cancel();
  });

  test('a server that accepts and says nothing runs into the time for connecting', async () => {
    const silent = await new RawServer(script).listen();
    silent.login = () => {};
    const command = defineCommand(
      { commandText: 'ids 1', connectionStringSetting: 'S', deadlines: { connectMs: 120 } },
      { S: silent.connectionString },
    );
    const error = await within(2_000, 'the error', failure(command.open(command.values({}))));
    expect(error).toMatchObject({ code: 'EConnectTimeout', phase: 'connect' });
    await silent.close();
  });
});

describe('sessions', () => {
  test('log in with the defaults of SqlClient, and are reset by a flag of the next request', async () => {
    const extra = ';App=reset';
    await all((await open('ids 1', {}, {}, extra)).rows());
    const first = server.requests.at(-1)!;
    await all((await open('ids 2', {}, {}, extra)).rows());
    const second = server.requests.at(-1)!;
    expect([first.text, first.reset, second.text, second.reset]).toEqual(['ids 1', false, 'ids 2', true]);
    // fODBC of OptionFlags2 (MS-TDS 2.2.6.4).
    expect(server.logins.at(-1)![25]! & 0x02).toBe(0x02);
    const initial = server.requests.filter((request) => request.text.startsWith('set '));
    expect(initial.at(-1)?.text).toBe(
      'set textsize 2147483647\nset transaction isolation level read committed',
    );
  });
});
