/** Text of one code page and another: parameters in a client's collation, columns, variables and constants. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EngineSession, SqlEngine } from '../../../src/dev/sql-engine.js';
import { within } from '../../helpers/sql-client.js';
import { openSqlServer, type SqlServer } from '../../helpers/sql-server.js';
import { longText, rpcCall } from '../../helpers/tds-parameters.js';
import { allHeaders, packets, RawClient } from '../../helpers/tds-raw-client.js';
import { type Token, tokensOf } from '../../helpers/tds-tokens.js';
import { batch, login, open } from './client.js';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const greek = '0804d00000';
const japanese = '1104d00000';
const server = '0904d00034';

describe('a parameter in a collation of the client', () => {
  let sqlServer: SqlServer;
  let client: RawClient;
  beforeAll(async () => {
    sqlServer = await openSqlServer();
  });
  afterAll(() => sqlServer.close());
  beforeEach(async () => {
    client = await RawClient.login(sqlServer.port, sqlServer);
    return () => client.close();
  });

  /** Executes with one parameter, @p, of these bytes; gives the answer's tokens and its bytes. */
  async function execute(sql: string, type: string, bytes: string): Promise<[Token[], string]> {
    const call = rpcCall('sp_executesql', [longText(sql), longText(`@p ${type}`)]);
    const parameter = Buffer.concat([hex('02'), Buffer.from('@p', 'utf16le'), hex(`00 ${bytes}`)]);
    client.send(packets(3, Buffer.concat([allHeaders, call, parameter])));
    const { payload } = (await within(5_000, 'an answer', client.answer()))!;
    return [tokensOf(payload), payload.toString('hex')];
  }
  const refusal = (text: string) =>
    expect.objectContaining({ kind: 'message', number: 40510, text: expect.stringContaining(text) });

  test.each([
    ['varchar(9)', `a7 0900 ${greek} 0300 e1e262`, 'αβb'],
    ['varchar(max)', `a7 ffff ${greek} feffffffffffffff 02000000 e1e2 00000000`, 'αβ'],
    ['char(2)', `af 0200 ${greek} 0200 e1e2`, 'αβ'],
    ['varchar(9)', `a7 0900 ${japanese} 0400 93fa967b`, '日本'],
  ])(
    '%s of %s: a Unicode type has all of it, a varchar only what code page 1252 has',
    async (type, bytes, text) => {
      const [tokens] = await execute('SELECT @p', 'nvarchar(9)', bytes);
      expect(tokens).toContainEqual({ kind: 'row', values: [text] });
      const code = text.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
      for (const sql of ['SELECT @p', 'SELECT 1', 'SELECT CAST(@p AS nvarchar(9))']) {
        expect((await execute(sql, type, bytes))[0]).toContainEqual(
          refusal(`A character outside code page 1252 (U+${code}) in ${type.replace(/\(.*/, '')}`),
        );
      }
    },
  );

  test('what both code pages have becomes text of the database, in its collation', async () => {
    const [tokens, bytes] = await execute('SELECT @p', 'varchar(9)', `a7 0900 ${greek} 0300 61a380`);
    expect(tokens).toContainEqual({ kind: 'row', values: ['a£€'] });
    expect(bytes).toContain(`a70900${server}`);
    expect(bytes).not.toContain(greek);
  });

  test('a sql_variant keeps its collation', async () => {
    const variant = `a707${greek}0900e1e2`;
    const [tokens, bytes] = await execute('SELECT @p', 'sql_variant', `62 491f0000 0b000000 ${variant}`);
    expect(tokens).toContainEqual({
      kind: 'row',
      values: [{ type: { name: 'varchar', length: 9, collation: greek }, value: 'αβ' }],
    });
    expect(bytes).toContain(variant);
    const [cast] = await execute(
      'SELECT CAST(@p AS varchar(9))',
      'sql_variant',
      `62 491f0000 0b000000 ${variant}`,
    );
    expect(cast).toContainEqual(refusal('outside code page 1252 (U+03B1) in varchar'));
  });

  test('bytes that are no text of the code page are refused', async () => {
    for (const bytes of [`a7 0900 ${japanese} 0100 93`, `a7 0900 0904d02400 0200 c3e1`]) {
      const [tokens] = await execute('SELECT @p', 'nvarchar(9)', bytes);
      expect(tokens).toContainEqual(refusal('Bytes that are no text of code page'));
    }
  });
});

describe('text within the server', () => {
  let database: SqlEngine;
  let session: EngineSession;
  beforeAll(async () => {
    database = await open();
    session = await login(database);
    const { messages } = await batch(
      session,
      `CREATE TABLE texts (greek varchar(3) COLLATE Greek_CI_AS, japanese varchar(3) COLLATE Japanese_CI_AS, plain varchar(3));
       INSERT texts VALUES (N'αβ', N'日', N'é')`,
    );
    expect(messages).toEqual([]);
  });
  afterAll(() => database.close());

  test.each<[string, string]>([
    ["INSERT texts (greek) VALUES (N'日')", '1253 (U+65E5)'],
    ["INSERT texts (greek) VALUES ('é')", '1253 (U+00E9)'],
    ["INSERT texts (japanese) VALUES (N'日本')", '4 bytes in varchar(3)'],
    ['INSERT texts (plain) SELECT greek FROM texts', '1252 (U+03B1)'],
    ['UPDATE texts SET greek = plain', '1253 (U+00E9)'],
    ['DECLARE @v varchar(3); SELECT @v = greek FROM texts', '1252 (U+03B1)'],
    ["SELECT greek + 'é' FROM texts", '1253 (U+00E9)'],
    ["SELECT 1 FROM texts WHERE greek = 'é'", '1253 (U+00E9)'],
    ["SELECT ISNULL(greek, 'é') FROM texts", '1253 (U+00E9)'],
    ["SELECT 'é' COLLATE Greek_CI_AS", '1253 (U+00E9)'],
    ["SELECT 'ж'", '1252 (U+0436)'],
    ["SELECT 'α' COLLATE Greek_CI_AS", '1252 (U+03B1)'],
    ["PRINT 'ж'", '1252 (U+0436)'],
    ["SELECT CAST(N'ж' COLLATE Greek_CI_AS AS varchar(2))", '1253 (U+0436)'],
    ["SELECT CAST(N'\u0080' AS varchar(2))", '1252 (U+0080)'],
    ["SELECT UPPER('µ')", '1252 (U+039C)'],
  ])('%s is refused: %s', async (sql, text) => {
    const { messages } = await batch(session, sql);
    expect(messages[0]).toMatchObject({ number: 40510, message: expect.stringContaining(text) });
  });

  test.each<[string, string]>([
    ['SELECT greek FROM texts', 'αβ'],
    ['SELECT japanese FROM texts', '日'],
    ["SELECT greek + N'é' FROM texts", 'αβé'],
    ["SELECT greek + 'x' FROM texts WHERE greek = N'ΑΒ'", 'αβx'],
    ['DECLARE @v nvarchar(3); SELECT @v = greek FROM texts; SELECT @v', 'αβ'],
    ['SELECT CAST(0x80 AS varchar(2))', '€'],
    ["SELECT 'x' COLLATE Greek_CI_AS", 'x'],
    ["SELECT CAST(N'日' COLLATE Japanese_CI_AS AS char(4))", '日  '],
    ["SELECT CAST(N'日😀' COLLATE Latin1_General_100_CI_AS_SC_UTF8 AS varchar(7))", '日😀'],
  ])('%s gives %s', async (sql, text) => {
    const { messages, sets } = await batch(session, sql);
    expect([messages, sets.at(-1)!.rows]).toEqual([[], [[text]]]);
  });
});
