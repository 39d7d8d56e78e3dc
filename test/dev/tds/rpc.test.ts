import { describe, expect, test } from 'vitest';
import type { SqlType, SqlValue } from '../../../src/dev/sql-engine.js';
import { preparedLimit } from '../../../src/dev/tds/procedures.js';
import { within } from '../../helpers/sql-client.js';
import { openSqlServer } from '../../helpers/sql-server.js';
import { connect, run } from '../../helpers/tds-client.js';
import { TestEngine } from '../../helpers/tds-engine.js';
import { type Given, int, longText, rpcCall, samples } from '../../helpers/tds-parameters.js';
import { allHeaders, login7, packets, preloginPayload, RawClient } from '../../helpers/tds-raw-client.js';
import { serveRawClient } from '../../helpers/tds-server.js';
import { type Token, tokensOf } from '../../helpers/tds-tokens.js';

const engine = new TestEngine();
const wire = serveRawClient(engine);
const send = (payload: Buffer) => wire.send(3, payload);

const call = (procedure: string | number, ...parameters: Given[]) =>
  send(Buffer.concat([allHeaders, rpcCall(procedure, parameters)]));
const refusal = (number: number, text: string) =>
  expect.objectContaining({ kind: 'message', number, text: expect.stringContaining(text) });

const nameOf = ({ name, length, precision, scale }: SqlType) =>
  [name, length, precision, scale].filter((part) => part !== undefined).join(' ');

test.each(samples.map(([type, values]) => [nameOf(type), type, values] as const))(
  '%s goes in, comes back in a row and as an OUTPUT value, and so does NULL',
  async (_, type, values) => {
    const given = [...values, null].map((value, index) => ({
      type,
      value,
      name: `@p${index}`,
      output: true,
    }));
    const tokens = await call('dbo.echo', ...given);
    const rows = tokens.flatMap((token) => ('values' in token ? [token.values] : []));
    const expected = given.map(({ value }) => value);
    expect(rows).toEqual([expected]);
    expect(tokens).toContainEqual({ kind: 'returnStatus', value: 7 });
    expect(tokens.filter(({ kind }) => kind === 'returnValue')).toEqual(
      expected.map((value, ordinal) => ({ kind: 'returnValue', ordinal, name: `@p${ordinal}`, value })),
    );
  },
);

const executeNothing = rpcCall(10, [longText('set nothing'), longText('')]);

test.each<[string, SqlType, string, SqlValue]>([
  ['text', { name: 'text' }, '23 ffffff7f 0904d00034 03000000 616263', 'abc'],
  ['ntext', { name: 'ntext' }, '63 feffff7f 0904d00034 04000000 61006200', 'ab'],
  ['image', { name: 'image' }, '22 ffffff7f 02000000 0102', Uint8Array.of(1, 2)],
  ['a NULL of text', { name: 'text' }, '23 ffffff7f 0904d00034 ffffffff', null],
  ['an untyped NULL', { name: 'nvarchar', length: 1 }, '1f', null],
  ['numeric', { name: 'decimal', precision: 9, scale: 2 }, '6c 09 0902 05 00 7b000000', -123n],
  ['a decimal of fewer bytes', { name: 'decimal', precision: 38, scale: 0 }, '6a 11 2600 05 01 07000000', 7n],
  ['xml with a byte order mark', { name: 'xml' }, 'f1 00 feffffffffffffff 04000000 fffe6100 00000000', 'a'],
])('%s arrives as a parameter', async (_, type, bytes, value) => {
  const parameter = Buffer.from(`0000 ${bytes}`.replaceAll(' ', ''), 'hex');
  await send(Buffer.concat([allHeaders, executeNothing, parameter]));
  expect(engine.executions.at(-1)!.parameters).toEqual([{ name: '', type, value, output: false }]);
});

test('a parameter that is left to its default says so', async () => {
  const parameter = Buffer.from('00 02 26 04 00'.replaceAll(' ', ''), 'hex');
  await send(Buffer.concat([allHeaders, executeNothing, parameter]));
  expect(engine.executions.at(-1)!.parameters[0]).toMatchObject({ value: null, useDefault: true });
});

describe('prepared statements', () => {
  const prepare = (sql: string) =>
    rpcCall(11, [{ ...int(null), name: '@handle', output: true }, longText('@n int'), longText(sql)]);
  const handleOf = (tokens: Token[]) =>
    tokens.flatMap((token) => (token.kind === 'returnValue' ? [Number(token.value)] : []))[0]!;

  test('are prepared, executed many times and unprepared', async () => {
    const handle = handleOf(await send(Buffer.concat([allHeaders, prepare('echo')])));
    for (const n of [3, 4]) {
      const tokens = await call(12, int(handle), { ...int(n), name: '@n' });
      expect(tokens).toContainEqual({ kind: 'row', values: [n] });
    }
    expect(engine.executions.at(-1)).toMatchObject({ sql: 'echo', declarations: '@n int' });
    expect((await call(15, int(handle))).map(({ kind }) => kind)).toEqual(['returnStatus', 'doneProc']);
    expect(await call(12, int(handle))).toContainEqual(refusal(8179, `handle ${handle}`));
  });

  test('sp_prepexec does both, and its handle lives on', async () => {
    const tokens = await call(
      13,
      { ...int(null), output: true },
      longText('@n int'),
      longText('echo'),
      int(8),
    );
    expect(tokens).toContainEqual({ kind: 'row', values: [8] });
    expect(await call(12, int(handleOf(tokens)), int(9))).toContainEqual({ kind: 'row', values: [9] });
  });

  test.each([0, -1, 999_999, null])('the handle %j is not known: 8179', async (handle) => {
    expect(await call(12, int(handle))).toContainEqual(refusal(8179, `handle ${handle}`));
    expect(await call('sp_unprepare', int(handle))).toContainEqual(refusal(8179, `handle ${handle}`));
  });

  test('have a limit in each session, and one that is unprepared makes room', async () => {
    const separated = Array.from({ length: preparedLimit }, () => [Buffer.of(0xff), prepare('select 1')]);
    const handle = handleOf(await send(Buffer.concat([allHeaders, ...separated.flat().slice(1)])));
    const more = () => send(Buffer.concat([allHeaders, prepare('select 2')]));
    expect(await more()).toContainEqual(refusal(40510, `more than ${preparedLimit} prepared statements`));
    await call(15, int(handle));
    expect(handleOf(await more())).toBeGreaterThan(preparedLimit);
  });

  test('a statement that is no text is 214, and one that is too long 40510', async () => {
    expect(await call(10, int(1))).toContainEqual(refusal(214, "'@statement'"));
    expect(await call(10, longText('x'.repeat(8_388_609)))).toContainEqual(
      refusal(40510, '8388608 characters'),
    );
  });
});

test.each<[string, string | number, number, string]>([
  ['a cursor', 2, 40510, 'A cursor'],
  ['sp_prepexecrpc', 14, 40510, 'sp_prepexecrpc'],
  ['an unknown number', 99, 2812, 'number 99'],
  ['an unknown name', 'sp_nonsense', 2812, "'sp_nonsense'"],
])(
  '%s as the procedure of an RPC is its error, and the session goes on',
  async (_, procedure, number, text) => {
    expect(await call(procedure)).toContainEqual(refusal(number, text));
    expect(await call(10, longText('select 6'))).toContainEqual({ kind: 'row', values: [6] });
  },
);

test('the T-SQL engine says 2812 of an sp_ that it does not know', async () => {
  const { port, user, password, close } = await openSqlServer();
  const connection = await connect(port, {}, { userName: user, password });
  await expect(run(connection, 'sp_nonsense', 'callProcedure')).rejects.toMatchObject({ number: 2812 });
  await expect(run(connection, 'exec sp_nonsense')).rejects.toMatchObject({ number: 2812 });
  connection.close();
  await close();
});

test('Always Encrypted is refused by name', async () => {
  const parameter = Buffer.from('00 08 a5 1000 ffff'.replaceAll(' ', ''), 'hex');
  const tokens = await send(Buffer.concat([allHeaders, executeNothing, parameter]));
  expect(tokens).toContainEqual(refusal(40510, 'Always Encrypted'));
});

describe('ways of login that are not offered', () => {
  const fedAuth = Buffer.from('02 02000000 0200 ff'.replaceAll(' ', ''), 'hex');
  test.each<[string, Parameters<typeof login7>[0]]>([
    ['Windows authentication', { integrated: true }],
    ['Microsoft Entra authentication', { features: fedAuth }],
    ['A change of the password', { newPassword: 'other' }],
    ['TDS version 0x72090002', { tdsVersion: 0x72090002 }],
  ])('%s is refused by name, with 18456, and the connection ends', async (name, options) => {
    const other = new RawClient(wire.port);
    other.send(packets(0x12, preloginPayload));
    await other.answer();
    other.send(packets(0x10, login7(options)));
    const { payload } = (await within(3_000, 'the refusal', other.answer()))!;
    expect(tokensOf(payload)).toEqual([
      refusal(18456, `${name}`),
      { kind: 'done', status: 2, command: 0xfd, count: 0 },
    ]);
    expect(await within(3_000, 'the end', other.answer())).toBeUndefined();
  });

  test('MARS is refused in PRELOGIN, and a session packet of it ends the connection', async () => {
    const other = new RawClient(wire.port);
    // VERSION, ENCRYPTION (not supported), MARS (on).
    const wish = '00 0010 0006  01 0016 0001  04 0017 0001  ff 000000000000 02 01'.replaceAll(' ', '');
    other.send(packets(0x12, Buffer.from(wish, 'hex')));
    const { payload } = (await other.answer())!;
    const at = Array.from({ length: 5 }, (_, index) => 5 * index).find((head) => payload[head] === 4)!;
    expect(payload[payload.readUInt16BE(at + 1)]).toBe(0);
    other.send(Buffer.from('53010000100000000000000004000000', 'hex'));
    expect(await within(3_000, 'the end', other.answer())).toBeUndefined();
  });
});
