/** varchar in the code page of each collation that tedious knows, over the wire; the texts are what .NET decodes. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { defineCommand } from '../../src/sql/index.js';
import { all, jsonWriter, text } from '../helpers/sql-client.js';
import { serveRaw } from '../helpers/sql-raw-hooks.js';
import { colMetadata, done, row } from '../helpers/sql-raw-server.js';
import { shortLength } from '../helpers/sql-values.js';

interface Collations {
  readonly codepageByLanguageId: Readonly<Record<string, string>>;
  readonly codepageBySortId: Readonly<Record<string, string>>;
}
const collations = createRequire(import.meta.url)('tedious/lib/collation') as Collations;
const file = new URL('../fixtures/sql/code-pages.json.gz', import.meta.url);
const pages = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Record<string, string>;
/** What a varchar(8000) holds. */
const mostBytes = 8_000;

/** Each defined character of a page, as many as fit. */
function sample(decoded: string): { readonly bytes: Buffer; readonly characters: string } {
  const bytes: number[] = [];
  let characters = '';
  const add = (index: number, ...code: number[]) => {
    const character = decoded[index]!;
    if (character === '\ufffd' || bytes.length + code.length > mostBytes) return;
    bytes.push(...code);
    characters += character;
  };
  let at = 0;
  if (decoded.length === 128) for (let byte = 128; byte < 256; byte++) add(at++, byte);
  else
    for (let lead = 0x81; lead < 0xff; lead++)
      for (let trail = 0x30; trail < 0xff; trail++) add(at++, lead, trail);
  return { bytes: Buffer.from(bytes), characters };
}

/** LCID, flags and version of a Windows collation; the sort id of a SQL collation (MS-TDS 2.2.5.1.2). */
function collationBytes(languageId: number, sortId: number): Buffer {
  return Buffer.from([languageId & 0xff, languageId >> 8, 0xd0, 0, sortId]);
}

const known = [
  ...Object.entries(collations.codepageByLanguageId).map(
    ([id, page]) => [page, collationBytes(Number(id), 0)] as const,
  ),
  ...Object.entries(collations.codepageBySortId).map(
    ([id, page]) => [page, collationBytes(0x0409, Number(id))] as const,
  ),
];
const names = [...new Set(known.map(([page]) => page))].sort();

const server = serveRaw((_request, session) => session.send(response));
let response: Buffer;

function open() {
  const command = defineCommand(
    { commandText: 'select', connectionStringSetting: 'S' },
    { S: server.connectionString },
  );
  return command.open(command.values({}));
}

test('the pages of all collations are those that .NET was asked for', () => {
  expect(names).toEqual(Object.keys(pages).sort());
});

test.each(names)('%s, from each collation that has it', async (name) => {
  const { bytes, characters } = sample(pages[name]!);
  const these = known.filter(([page]) => page === name);
  const columns = these.map(([, collation], index) => ({
    name: `c${index}`,
    typeInfo: Buffer.concat([Buffer.from([0xa7, mostBytes & 0xff, mostBytes >> 8]), collation]),
  }));
  response = Buffer.concat([
    colMetadata(columns),
    row(...these.map(() => shortLength(bytes))),
    done(1, 0x10),
  ]);
  const expected = Object.fromEntries(these.map((_, index) => [`c${index}`, characters]));
  expect(await all((await open()).rows())).toEqual([expected]);
  expect(JSON.parse(await text((await open()).chunks(jsonWriter)))).toEqual([expected]);
});
