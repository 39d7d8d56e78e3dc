/** What a request sends, on its way to a parameter of the command: the exact value, or a 400 with the reason. Never half a value. */
import { beforeEach, expect, test } from 'vitest';
import { type ParameterRecord, sqlStream } from '../src/index.js';
import type { Answer } from './helpers/functions-proxy.js';
import { proxied } from './helpers/proxied.js';
import { within } from './helpers/run.js';
import { TestEngine } from './helpers/tds-engine.js';
import { serve } from './helpers/tds-server.js';

const engine = new TestEngine();
const server = serve(engine);
const functions = proxied(() => {
  process.env['TestSql'] = server.connectionString;
  const echo = { commandText: 'echo', connectionStringSetting: 'TestSql' };
  const typed = (type: string) =>
    sqlStream({ ...echo, parameters: ({ query }) => ({ p: { type, value: query.get('q') } }) });
  const count = ({ query }: { query: URLSearchParams }): ParameterRecord =>
    Object.fromEntries(Array.from({ length: Number(query.get('q')) }, (_, index) => [`p${index}`, index]));
  return {
    Template: sqlStream({ ...echo, parameters: '@p={Query.q}' }).handler(),
    Route: sqlStream({ ...echo, parameters: '@p={id}' }).handler(),
    Function: sqlStream({ ...echo, parameters: ({ query }) => ({ p: query.get('q') }) }).handler(),
    Int: typed('int').handler(),
    Money: typed('money').handler(),
    Date: typed('date').handler(),
    Guid: typed('uniqueidentifier').handler(),
    Short: typed('nvarchar(3)').handler(),
    Count: sqlStream({ ...echo, parameters: count }).handler(),
    Nothing: sqlStream({ ...echo, parameters: () => ({ p: undefined }) }).handler(),
    Injected: sqlStream({ ...echo, parameters: () => ({ 'p int; DROP TABLE x --': 1 }) }).handler(),
  };
});

beforeEach(() => {
  engine.executions.length = 0;
});

function call(name: string, q?: string): Promise<Answer> {
  const path = q === undefined ? `/api/${name}` : `/api/${name}?q=${encodeURIComponent(q)}`;
  return within(10_000, name, functions.proxy.call(name, { path }));
}

const exact: Record<string, string> = {
  'a comma': 'a,b',
  'an equals sign': 'x=1',
  'base64 with its padding': 'YWJj==',
  'what would be a second parameter': '1,@b=2',
  'what would end a text': "'; DROP TABLE Blogs --",
  'a binding expression': '{Query.other} %PATH%',
  'the word Null': 'Null',
  'the word null': 'null',
  nothing: '',
  blanks: '  x  ',
  'a surrogate pair, other scripts and a separator of lines': '😀 日本 Ж \u2028',
  NUL: 'a\u0000b',
  '4,000 characters': 'x'.repeat(4_000),
  '4,001 characters': 'z'.repeat(4_001),
  '12,000 characters': 'y'.repeat(12_000),
};

test.each(Object.entries(exact))(
  '%s arrives as it is, from a template and from a function',
  async (_, value) => {
    for (const name of ['Template', 'Function']) {
      const answer = await call(name, value);
      expect(answer).toMatchObject({ status: 200, complete: true });
      expect(JSON.parse(answer.body)).toEqual([{ p: value }]);
    }
    const declared = value.length > 4_000 ? '@p nvarchar(max)' : '@p nvarchar(4000)';
    expect(engine.executions.map(({ declarations }) => declarations)).toEqual([declared, declared]);
  },
);

test('NULL comes from null in a function only', async () => {
  expect(JSON.parse((await call('Function')).body)).toEqual([{ p: null }]);
});

test.each([
  ['a value of the query that is missing', 'Template', undefined, 'Query.q', /Query\.q/],
  ['a value of the route that is missing', 'Route', undefined, 'id', /id/],
  ['a fraction for an int', 'Int', '1.5', 'p', /^@p .*int/],
  ['a word for an int', 'Int', 'one', 'p', /^@p .*int/],
  ['too much for an int', 'Int', '2147483648', 'p', /^@p .*int/],
  ['SQL for an int', 'Int', '1; DROP TABLE Blogs', 'p', /^@p .*int/],
  ['money that would be rounded', 'Money', '1.00001', 'p', /^@p .*would be rounded/],
  ['a day that does not exist', 'Date', '2026-02-30', 'p', /^@p .*date/],
  ['half a guid', 'Guid', '6F9619FF', 'p', /^@p .*uniqueidentifier/],
  ['a text that would be cut', 'Short', 'abcd', 'p', /^@p .*nvarchar\(3\)/],
  ['2,099 parameters', 'Count', '2099', undefined, /2099 parameters are too many: 2098/],
  ['2,101 parameters', 'Count', '2101', undefined, /2101 parameters are too many: 2098/],
  ['undefined', 'Nothing', undefined, 'p', /^@p .*undefined/],
  ['a name with SQL in it', 'Injected', undefined, undefined, /DROP TABLE|name/],
] as const)('%s is a 400 with the reason, and nothing is sent', async (_, name, value, parameter, detail) => {
  const answer = await call(name, value);
  expect(answer).toMatchObject({ status: 400, complete: true });
  const problem = JSON.parse(answer.body);
  expect(problem).toMatchObject({ code: 'EParameter', detail: expect.stringMatching(detail) });
  if (parameter !== undefined) expect(problem.parameter).toBe(parameter);
  expect(engine.executions).toEqual([]);
});

test('a name that is sent twice is a 400, not one of its values', async () => {
  const answer = await functions.proxy.call('Template', { path: '/api/Template?q=1&q=2' });
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.body)).toMatchObject({ code: 'EParameter', parameter: 'Query.q' });
});

test('2,098 parameters arrive', async () => {
  const [row] = JSON.parse((await call('Count', '2098')).body);
  expect(Object.keys(row)).toHaveLength(2_098);
  expect(row.p2097).toBe(2_097);
});
