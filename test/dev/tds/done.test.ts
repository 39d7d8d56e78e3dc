import { expect, test } from 'vitest';
import { TestEngine } from '../../helpers/tds-engine.js';
import { int, longText, rpc, rpcCall } from '../../helpers/tds-parameters.js';
import { allHeaders, batch, packets } from '../../helpers/tds-raw-client.js';
import { serveRawClient } from '../../helpers/tds-server.js';
import type { Token } from '../../helpers/tds-tokens.js';

/** MS-TDS 2.2.7.6; 4 is DONE_INXACT, which SQL Server never sets. */
const [more, error, count] = [1, 2, 0x10];
const engine = new TestEngine();
const wire = serveRawClient(engine);
const { send } = wire;

const call = (...calls: Buffer[]) => {
  const separated = calls.flatMap((bytes, index) => (index === 0 ? [bytes] : [Buffer.of(0xff), bytes]));
  return send(3, Buffer.concat([allHeaders, ...separated]));
};
/** `done 17 1`: its kind, status and count. */
const doneOf = (tokens: readonly Token[]) =>
  tokens.flatMap((token) => ('status' in token ? [`${token.kind} ${token.status} ${token.count}`] : []));
const kinds = (tokens: readonly Token[]) => tokens.map(({ kind }) => kind);

test('each statement of a batch has its own count, its own error, and all but the last have MORE', async () => {
  const tokens = await send(1, batch('rows 7; affect 3; print x; affect 0; error 208; select 1'));
  expect(doneOf(tokens)).toEqual([
    `done ${more | count} 7`,
    `done ${more | count} 3`,
    `done ${more | count} 0`,
    `done ${more | error} 0`,
    `done ${count} 1`,
  ]);
  expect(tokens.filter(({ kind }) => kind === 'columns')).toHaveLength(2);
  expect(tokens.filter(({ kind }) => kind === 'row' || kind === 'nbcRow')).toHaveLength(8);
});

test('a statement that gives no count has none, and a batch of nothing still ends in a DONE', async () => {
  expect(doneOf(await send(1, batch('wait 1')))).toEqual(['done 0 0']);
  expect(doneOf(await send(1, batch('set nothing')))).toEqual(['done 0 0']);
  expect(doneOf(await send(1, batch('')))).toEqual(['done 0 0']);
});

test('a batch that fails ends in DONE_ERROR, though the engine said no DONE', async () => {
  const tokens = await send(1, batch('unknown'));
  expect(kinds(tokens)).toEqual(['message', 'done']);
  expect(doneOf(tokens)).toEqual([`done ${error} 0`]);
});

test('a procedure in a batch ends its statements in DONEINPROC, itself in DONEPROC, the batch in DONE', async () => {
  const tokens = await send(1, batch('proc; affect 2'));
  expect(doneOf(tokens)).toEqual([
    `doneInProc ${more | count} 1`,
    `doneInProc ${more | count} 5`,
    `doneProc ${more} 0`,
    `done ${count} 2`,
  ]);
});

test('sp_executesql: DONEINPROCs, RETURNSTATUS, return values and a DONEPROC without MORE', async () => {
  const tokens = await send(3, rpc('select 1; affect 4', []));
  expect(kinds(tokens)).toEqual(['columns', 'row', 'doneInProc', 'doneInProc', 'returnStatus', 'doneProc']);
  expect(doneOf(tokens)).toEqual([
    `doneInProc ${more | count} 1`,
    `doneInProc ${more | count} 4`,
    'doneProc 0 0',
  ]);
  const failed = await send(3, rpc('error 8134', []));
  expect(failed).toContainEqual({ kind: 'returnStatus', value: 8134 });
  expect(doneOf(failed)).toEqual([`doneInProc ${more | error} 0`, 'doneProc 0 0']);
});

test('calls of one message end in a DONEPROC each, of which only the last lacks MORE', async () => {
  const one = rpcCall(10, [longText('select 1')]);
  const tokens = await call(one, rpcCall('echo', [{ ...int(5), name: '@a', output: true }]), one);
  expect(doneOf(tokens)).toEqual([
    `doneInProc ${more | count} 1`,
    `doneProc ${more} 0`,
    `doneInProc ${more | count} 1`,
    `doneProc ${more} 0`,
    `doneInProc ${more | count} 1`,
    'doneProc 0 0',
  ]);
  const returned = tokens.findIndex(({ kind }) => kind === 'returnValue');
  expect(kinds(tokens.slice(returned - 1, returned + 2))).toEqual([
    'returnStatus',
    'returnValue',
    'doneProc',
  ]);
});

test('an open transaction sets no DONE_INXACT, and its descriptor is told when it begins and ends', async () => {
  const manager = (request: string) => Buffer.concat([batch(''), Buffer.from(request, 'hex')]);
  const begun = await send(14, manager('05000000'));
  expect(begun[0]).toMatchObject({ kind: 'change', type: 8 });
  const descriptor = (begun[0] as { content: Buffer }).content.subarray(1, 9);
  expect(doneOf(await send(1, batch('select 1; affect 1')))).toEqual([
    `done ${more | count} 1`,
    `done ${count} 1`,
  ]);
  // Commit, and begin the next at once (fBeginXact).
  const next = await send(14, manager('0700 00 01 00 00'.replaceAll(' ', '')));
  expect(next.map((token) => ('type' in token ? token.type : 0))).toEqual([9, 8, 0]);
  expect((next[0] as { content: Buffer }).content.subarray(2, 10)).toEqual(descriptor);
});

test('RESETCONNECTION drops prepared statements, returns to the database of the login and says so first', async () => {
  await call(rpcCall(11, [{ ...int(null), output: true }, longText(''), longText('select 4')]));
  const execute = () => rpcCall(12, [int(1)]);
  expect(await call(execute())).toContainEqual({ kind: 'row', values: [4] });
  await send(1, batch('use elsewhere'));
  const tokens = await send(1, batch('select 5'), 8);
  expect(tokens.map((token) => (token.kind === 'change' ? token.type : token.kind))).toEqual([
    1,
    18,
    'columns',
    'row',
    'done',
  ]);
  expect(await call(execute())).toContainEqual(expect.objectContaining({ kind: 'message', number: 8179 }));
});

test.each([
  ['RESETCONNECTION forgets', 8, '0000000000000000'],
  ['RESETCONNECTIONSKIPTRAN keeps', 16, '0100000000000000'],
])('%s the open transaction', async (_, status, expected) => {
  const manager = (request: string) => Buffer.concat([batch(''), Buffer.from(request, 'hex')]);
  await send(14, manager('05000000'));
  await send(1, batch('select 1'), status);
  expect(engine.sessions.at(-1)!.resets).toEqual([status === 16]);
  const rolledBack = await send(14, manager('08000000'));
  const { content } = rolledBack[0] as { content: Buffer };
  expect(content.subarray(2, 10).toString('hex')).toBe(expected);
});

test('the reset flags count on the first packet of a request alone', async () => {
  const request = packets(1, batch(`print ${'x'.repeat(3_000)}`), 512);
  request[512 + 1] = 8;
  wire.client.send(request);
  await wire.answer();
  expect(engine.sessions.at(-1)!.resets).toEqual([]);
  request[1] = 8;
  wire.client.send(request);
  await wire.answer();
  expect(engine.sessions.at(-1)!.resets).toEqual([false]);
});
