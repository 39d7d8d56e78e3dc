/** Values on the whole way: encoded by the embedded server, which shares no code with the decoders, through sqlStream to the body of a response. */
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { Column, SqlType } from '../src/dev/sql-engine.js';
import { sqlStream } from '../src/index.js';
import { exactValues as lines } from './helpers/exact-values.js';
import { proxied } from './helpers/proxied.js';
import { start, within } from './helpers/run.js';
import { recordset, TestEngine } from './helpers/tds-engine.js';
import { serve } from './helpers/tds-server.js';

const zones = ['UTC', 'America/Sao_Paulo', 'Asia/Kolkata'];

const titles = Object.keys(lines);
const int: SqlType = { name: 'int' };
const column = (name: string, type: SqlType, nullable = true): Column => ({ name, type, nullable });
const manyNames = Array.from({ length: 1_024 }, (_, index) => `c${index}`);
const names = ['__proto__', 'constructor', 'toString', 'Id', 'Id', 'id', '', ''];
const columnNames = ['__proto__', 'constructor', 'toString', 'Id', 'Id1', 'id2', 'Column1', 'Column2'];

const engine = new TestEngine({
  line: async (context, index) => {
    const { type, values } = lines[titles[Number(index)]!]!;
    recordset(
      context,
      [column('v', type), column('n', int, false)],
      values.map(([value], row) => [value, row]),
    );
  },
  none: async (context) => recordset(context, [column('v', int)], []),
  nothing: async () => {},
  named: async (context) =>
    recordset(
      context,
      names.map((name) => column(name, int)),
      [names.map((_, index) => index)],
    ),
  many: async (context) =>
    recordset(
      context,
      manyNames.map((name) => column(name, int)),
      [manyNames.map((_, index) => (index % 3 === 0 ? null : index))],
    ),
});
const server = serve(engine);
const functions = proxied(() => {
  process.env['TestSql'] = server.connectionString;
  const commands = [
    'none',
    'nothing',
    'named',
    'many',
    'rows 250000',
    ...titles.map((_, index) => `line ${index}`),
  ];
  const handlers = commands.flatMap((commandText) => {
    const stream = sqlStream({ commandText, connectionStringSetting: 'TestSql' });
    const name = commandText.replace(' ', '');
    const mapped = stream.handler(async function* (request, context) {
      for await (const row of stream.rows(request, context)) yield row;
    });
    return [
      [name, stream.handler()],
      [`${name}-mapped`, mapped],
    ] as const;
  });
  return Object.fromEntries(handlers);
});

async function inZone<T>(zone: string, work: () => Promise<T>): Promise<T> {
  const before = process.env['TZ'];
  process.env['TZ'] = zone;
  try {
    expect(new Date(2018, 6, 1).getTimezoneOffset() === 0).toBe(zone === 'UTC');
    return await work();
  } finally {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  }
}

async function body(name: string): Promise<string> {
  const answer = await within(10_000, name, functions.proxy.call(name));
  expect(answer).toMatchObject({ status: 200, complete: true });
  return answer.body;
}

const expectedBody = (title: string) =>
  `[${lines[title]!.values.map(([, json], row) => `{"v":${json},"n":${row}}`).join()}]`;

/** In a row, a decimal of a sql_variant is text like any other, and nothing tells that it was none. */
const variantInRows = (json: string) => json.replace(':-1.50,', ':"-1.50",');

describe.each(zones)('with the process in %s', (zone) => {
  test.each(titles.map((title, index) => [title, index] as const))('%s', async (title, index) => {
    await inZone(zone, async () => {
      expect(await body(`line${index}`)).toBe(expectedBody(title));
      expect(await body(`line${index}-mapped`)).toBe(variantInRows(expectedBody(title)));
    });
  });
});

test('the locale of the process changes nothing', async () => {
  // A locale is set when a process starts: digits, separators and case of these are others.
  const program = `
    const { defineCommand, closePools } = await import(${JSON.stringify(new URL('../dist/sql/index.js', import.meta.url).href)});
    process.send?.(Intl.NumberFormat().resolvedOptions().locale);
    const writer = { open: '[', separator: ',', rowEnd: '}', close: ']',
      columnPrefixes: (columns) => columns.map(({ name }, at) => (at === 0 ? '{' : ',') + JSON.stringify(name) + ':') };
    const bodies = [];
    for (let line = 0; line < ${titles.length}; line++) {
      const command = defineCommand({ commandText: 'line ' + line, connectionStringSetting: 'TestSql' });
      const source = await command.open(command.values({}));
      const chunks = [];
      for await (const chunk of source.chunks(writer)) chunks.push(chunk);
      bodies.push(Buffer.concat(chunks).toString());
    }
    process.stdout.write(JSON.stringify(bodies));
    await closePools(0);`;
  const finished = ['tr_TR.UTF-8', 'ar_EG.UTF-8'].map(async (LC_ALL) => {
    const env = { ...process.env, LC_ALL, LANG: LC_ALL, TZ: 'Asia/Kolkata' };
    const child = start(process.execPath, ['--input-type=module', '-e', program], {
      env,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const [locale] = await within(15_000, 'the locale', once(child.process, 'message'));
    expect(locale).toBe(LC_ALL.slice(0, 5).replace('_', '-'));
    const { stdout, stderr, code } = await within(15_000, 'the bodies', child.finished);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(JSON.parse(stdout)).toEqual(titles.map(expectedBody));
  });
  await Promise.all(finished);
});

test.each(['none', 'nothing'])(
  'no rows, from a recordset and without one (%s), are an empty array',
  async (name) => {
    expect(await body(name)).toBe('[]');
    expect(await body(`${name}-mapped`)).toBe('[]');
    const ndjson = await functions.proxy.call(name, { headers: { accept: 'application/x-ndjson' } });
    expect(ndjson).toMatchObject({ status: 200, body: '', complete: true });
  },
);

test('names are those of a DataTable: unnamed, duplicate in any case, and those of Object.prototype', async () => {
  const expected = `[{${columnNames.map((name, index) => `${JSON.stringify(name)}:${index}`).join()}}]`;
  expect(await body('named')).toBe(expected);
  expect(await body('named-mapped')).toBe(expected);
});

test('1,024 columns are 1,024 properties', async () => {
  const expected = `[{${manyNames.map((name, index) => `"${name}":${index % 3 === 0 ? null : index}`).join()}}]`;
  expect(await body('many')).toBe(expected);
  expect(await body('many-mapped')).toBe(expected);
});

test('250,000 rows are 250,000 rows, each once and in order', async () => {
  for (const name of ['rows250000', 'rows250000-mapped']) {
    const rows = JSON.parse(await body(name)) as { n: number; text: string | null }[];
    expect(rows).toHaveLength(250_000);
    const wrong = rows.findIndex(
      ({ n, text }, at) => n !== at || text !== (at % 3 === 0 ? null : `row ${at}`),
    );
    expect(wrong).toBe(-1);
  }
});
