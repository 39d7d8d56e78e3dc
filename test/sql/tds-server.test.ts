/** Against the TDS server of the development tools, which shares no code with this room: parameters there and back, TLS, resets. */
import { setTimeout as sleep } from 'node:timers/promises';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTdsServer, type TdsServer } from '../../src/dev/tds/server.js';
import {
  closePools,
  defineCommand,
  type ParameterRecord,
  type RowValue,
  type SqlCommandOptions,
} from '../../src/sql/index.js';
import { all, jsonWriter, text, within } from '../helpers/sql-client.js';
import { credentials, TestEngine } from '../helpers/tds-engine.js';

const engine = new TestEngine();
let server: TdsServer;

beforeAll(async () => {
  const pem = await generate([{ name: 'commonName', value: 'localhost' }]);
  server = await startTdsServer({ engine, port: 0, tls: { key: pem.private, cert: pem.cert } });
});

afterAll(async () => {
  await closePools(0);
  await server.close();
});

function command(options: Partial<SqlCommandOptions>, encryption = 'Encrypt=false') {
  const password = `"${credentials.password}"`;
  return defineCommand(
    { commandText: 'echo', connectionStringSetting: 'S', ...options },
    { S: `Server=127.0.0.1,${server.port};User Id=${credentials.user};Password=${password};${encryption}` },
  );
}

async function echo(parameters: ParameterRecord, options: Partial<SqlCommandOptions> = {}): Promise<unknown> {
  const echoing = command(options);
  const [row] = await all((await echoing.open(echoing.values(parameters))).rows());
  return row;
}

const values: [string, ParameterRecord[string], RowValue][] = [
  ['int', -5, -5],
  ['bigint', 2n ** 63n - 1n, 2n ** 63n - 1n],
  ['a safe integer', 2 ** 53 - 1, BigInt(2 ** 53 - 1)],
  ['float', 0.1, 0.1],
  ['bit', false, false],
  ['text', "a,b=c'; DROP TABLE x --", "a,b=c'; DROP TABLE x --"],
  ['unicode', '日本 😀 \ud800 \u0000 \u2028', '日本 😀 \ud800 \u0000 \u2028'],
  ['empty text', '', ''],
  ['4,000 characters', 'x'.repeat(4_000), 'x'.repeat(4_000)],
  ['long text', 'é'.repeat(100_000), 'é'.repeat(100_000)],
  ['null', null, null],
  ['bytes', Buffer.from([0, 255]), Buffer.from([0, 255])],
  ['no bytes', Buffer.alloc(0), Buffer.alloc(0)],
  ['long bytes', Buffer.alloc(70_000, 7), Buffer.alloc(70_000, 7)],
  ['Date', new Date('2026-11-30T10:20:30.123Z'), '2026-11-30T10:20:30.123Z'],
  ['Date of year 1', new Date('0001-01-01T00:00:00Z'), '0001-01-01T00:00:00.000Z'],
  [
    'decimal(38,19)',
    { type: 'decimal(38,19)', value: '-9999999999999999999.9999999999999999999' },
    '-9999999999999999999.9999999999999999999',
  ],
  ['decimal', { type: 'decimal', value: '0.00010000' }, '0.00010000'],
  ['money', { type: 'money', value: '-922337203685477.5808' }, '-922337203685477.5808'],
  ['333.34', { type: 'money', value: 333.34 }, '333.3400'],
  ['smallmoney', { type: 'smallmoney', value: '8.3266' }, '8.3266'],
  ['tinyint', { type: 'tinyint', value: '255' }, 255],
  ['smallint', { type: 'smallint', value: -32_768 }, -32_768],
  ['real', { type: 'real', value: 0.1 }, 0.1],
  [
    'guid',
    { type: 'uniqueidentifier', value: '6F9619FF-8B86-D011-B42D-00C04FC964FF' },
    '6f9619ff-8b86-d011-b42d-00c04fc964ff',
  ],
  ['date', { type: 'date', value: '9999-12-31' }, '9999-12-31T00:00:00.000Z'],
  ['date from a Date', { type: 'date', value: new Date('2026-03-29T23:59:59Z') }, '2026-03-29T00:00:00.000Z'],
  ['time', { type: 'time', value: '23:59:59.9999999' }, '23:59:59.9999999'],
  ['datetime2', { type: 'datetime2', value: '2017-06-29T17:20:03.5036264' }, '2017-06-29T17:20:03.5036264Z'],
  ['late in the day', { type: 'datetime2(3)', value: '2019-12-19 23:59:59.998' }, '2019-12-19T23:59:59.998Z'],
  [
    'datetimeoffset',
    { type: 'datetimeoffset', value: '2026-11-30T10:00:00.0000001+07:00' },
    '2026-11-30T10:00:00.0000001+07:00',
  ],
  [
    'datetimeoffset -12:00',
    { type: 'datetimeoffset', value: '2026-11-30T23:00:00-12:00' },
    '2026-11-30T23:00:00.000-12:00',
  ],
  [
    'datetimeoffset from a Date',
    { type: 'datetimeoffset', value: new Date(0) },
    '1970-01-01T00:00:00.000+00:00',
  ],
  ['varchar', { type: 'varchar(50)', value: 'Ж €' }, 'Ж €'],
  ['long varchar', { type: 'varchar(8000)', value: 'y'.repeat(8_000) }, 'y'.repeat(8_000)],
  ['NULL of each kind', { type: 'decimal(9,2)', value: null }, null],
  ['NULL datetime2', { type: 'datetime2', value: null }, null],
  ['NULL varbinary(max)', { type: 'varbinary(max)', value: null }, null],
];

describe('parameters arrive as they were given', () => {
  test.each(values)('%s', async (_title, given, expected) => {
    expect(await echo({ value: given })).toEqual({ value: expected });
    expect(await echo({ '@value': given }, { commandType: 'StoredProcedure' })).toEqual({ value: expected });
  });

  test('in any time zone', async () => {
    const before = process.env['TZ'];
    process.env['TZ'] = 'America/Sao_Paulo';
    try {
      const given = Object.fromEntries(values.map(([, value], index) => [`v${index}`, value]));
      const expected = Object.fromEntries(values.map(([, , value], index) => [`v${index}`, value]));
      expect(await echo(given)).toEqual(expected);
    } finally {
      if (before === undefined) delete process.env['TZ'];
      else process.env['TZ'] = before;
    }
  });

  test('2,098 of them', async () => {
    const many = Object.fromEntries(Array.from({ length: 2_098 }, (_, index) => [`p${index}`, index]));
    const row = (await echo(many)) as Record<string, number>;
    expect(Object.keys(row)).toHaveLength(2_098);
    expect(row['p2097']).toBe(2_097);
  });

  test('declared as what they are, with the text of the command apart', async () => {
    await echo({ id: 1, name: 'x', price: { type: 'money', value: '1' } });
    const { sql, declarations } = engine.executions.at(-1)!;
    expect(sql).toBe('echo');
    expect(declarations.replaceAll(' ', '')).toBe('@idint,@namenvarchar(4000),@pricemoney');
  });

  test('the values of binding expressions are text', async () => {
    const bound = command({ parameters: '@id={id},@q={Query.q},@n=null' });
    const data = { params: { id: '05' }, query: new URLSearchParams({ q: '1,@b=2' }), headers: [] };
    expect(await all((await bound.open(bound.bind(data))).rows())).toEqual([
      { id: '05', q: '1,@b=2', n: null },
    ]);
  });
});

describe('connections', () => {
  test.each(['Encrypt=true;TrustServerCertificate=true', 'Encrypt=false'])(
    '%s: rows, errors and cancels',
    async (encryption) => {
      const rows = command({ commandText: 'rows 20000' }, encryption);
      const json = JSON.parse(await text((await rows.open(rows.values({}))).chunks(jsonWriter)));
      expect(json).toHaveLength(20_000);
      expect(json[19_999]).toEqual({ n: 19_999, text: 'row 19999' });
      const failing = command({ commandText: 'error 208' }, encryption);
      await expect(failing.open(failing.values({}))).rejects.toMatchObject({ code: 'EServer', number: 208 });
      const waiting = command({ commandText: 'wait 60000', deadlines: { firstRowMs: 60 } }, encryption);
      await expect(within(2_000, 'the timeout', waiting.open(waiting.values({})))).rejects.toMatchObject({
        code: 'EFirstRowTimeout',
      });
      await sleep(20);
      const after = command({ commandText: 'select 42' }, encryption);
      expect(await all((await after.open(after.values({}))).rows())).toEqual([{ n: 42 }]);
    },
  );

  test('a certificate that nobody vouches for is refused, with the way out', async () => {
    const strict = command({ retry: { retries: 0 } }, 'Encrypt=true');
    await expect(strict.open(strict.values({}))).rejects.toMatchObject({
      code: 'EConnect',
      message: expect.stringContaining('TrustServerCertificate=true'),
    });
  });

  test('a wrong password is the error of the server, and no text of ours has it', async () => {
    const wrong = defineCommand(
      { commandText: 'x', connectionStringSetting: 'S' },
      { S: `Server=127.0.0.1,${server.port};User Id=sa;Password=hunter2;Encrypt=false` },
    );
    await expect(wrong.open(wrong.values({}))).rejects.toMatchObject({
      code: 'ELogin',
      number: 18456,
      message: expect.not.stringContaining('hunter2'),
    });
  });

  test('the session is reset before it serves another request, with no request of its own', async () => {
    const select = command({ commandText: 'select 1' }, 'Encrypt=false;App=resets');
    const from = engine.sessions.length;
    for (let round = 0; round < 3; round++) await all((await select.open(select.values({}))).rows());
    expect(engine.sessions.length - from).toBe(1);
    expect(engine.sessions[from]?.resets).toHaveLength(2);
    expect(engine.logins.at(-1)).toMatchObject({ applicationName: 'resets', readOnlyIntent: false });
  });
});
