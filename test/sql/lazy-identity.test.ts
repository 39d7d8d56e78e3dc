/** Each in a process of its own: what is asked is what an import loads, and here everything is loaded already. */
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../helpers/run.js';
import { fedAuthInfo, RawServer, tokenLoginAnswer } from '../helpers/sql-raw-server.js';
import { script } from '../helpers/sql-script.js';

const dist = fileURLToPath(new URL('../../dist', import.meta.url));
const tedious = createRequire(import.meta.url).resolve('tedious');
const identity = createRequire(tedious).resolve('@azure/identity');
const connection = join(dirname(tedious), 'connection.js');
let folder: string;
let server: RawServer;

const endpoint = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const expires = Math.ceil(Date.now() / 1_000) + 3_600;
  response.end(JSON.stringify({ access_token: 'token', expires_on: expires, token_type: 'Bearer' }));
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lazy-identity-'));
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
  server = await new RawServer(script).listen();
  server.login = (session) =>
    session.send(fedAuthInfo('https://login.windows.net/tenant', 'https://database.windows.net/'));
  server.token = (_token, session) => session.send(tokenLoginAnswer);
});

afterAll(async () => {
  endpoint.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const url = (...parts: string[]) => JSON.stringify(pathToFileURL(join(...parts)).href);

/** What a module prints as JSON by `show`. */
async function shown(text: string, env: NodeJS.ProcessEnv = {}): Promise<unknown> {
  const prelude = `
    import { createRequire } from 'node:module';
    import { types } from 'node:util';
    const require = createRequire(${JSON.stringify(tedious)});
    const entry = require.cache[${JSON.stringify(identity)}];
    const loaded = () => ({
      tedious: require.cache[${JSON.stringify(connection)}]?.loaded === true,
      identity: Object.keys(require.cache).filter((file) => /@azure.identity/.test(file)).length > 1,
    });
    const show = (value) => console.log(JSON.stringify(value));`;
  const args = ['--input-type=module', '-e', prelude + text];
  const { code, stdout, stderr } = await run(process.execPath, args, { env: { ...process.env, ...env } });
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

/** A command through a login with a token; what was loaded before it and afterwards. */
function login(library: string): Promise<unknown> {
  const port = (endpoint.address() as AddressInfo).port;
  return shown(
    `
    const { closePools, defineCommand } = await import(${library});
    const before = loaded();
    const command = defineCommand({ commandText: 'ids 1,2', connectionStringSetting: 'TestSql' });
    const source = await command.open(command.values({}));
    const rows = [];
    for await (const row of source.rows()) rows.push(row.Id);
    await closePools(0);
    show({ before, rows, after: loaded() });`,
    {
      IDENTITY_ENDPOINT: `http://127.0.0.1:${port}/msi/token`,
      IDENTITY_HEADER: 'secret',
      TestSql: `Server=127.0.0.1,${server.port};Authentication=Active Directory Managed Identity;Encrypt=false`,
    },
  );
}

test('tedious loads @azure/identity by itself, and uses it nowhere but in a login with a token', async () => {
  expect(await shown(`require('tedious'); show(loaded());`)).toEqual({ tedious: true, identity: true });
  const text = await shown(
    `show(require('node:fs').readFileSync(${JSON.stringify(connection)}, 'utf8').match(/.{4}\\b_identity\\b.*?[;(]/g));`,
  );
  expect(text).toEqual([
    'var _identity = require(',
    'new _identity.UsernamePasswordCredential(',
    'new _identity.ManagedIdentityCredential(',
    'new _identity.DefaultAzureCredential(',
    'new _identity.ClientSecretCredential(',
  ]);
});

test.each(['index.js', 'sql/index.js', 'sql/tedious/internals.js'])(
  'an import of %s loads tedious and nothing of @azure/identity',
  async (file) => {
    const loaded = await shown(`await import(${url(dist, file)}); show(loaded());`);
    expect(loaded).toEqual({ tedious: true, identity: false });
  },
);

test('the first login with a token loads @azure/identity', async () => {
  expect(await login(url(dist, 'sql/index.js'))).toEqual({
    before: { tedious: true, identity: false },
    rows: [1, 2],
    after: { tedious: true, identity: true },
  });
});

test('whoever requires @azure/identity after the library gets the real one', async () => {
  const found = await shown(`
    await import(${url(dist, 'index.js')});
    const real = require('@azure/identity');
    show([types.isProxy(real), typeof real.DefaultAzureCredential, loaded().identity]);`);
  expect(found).toEqual([false, 'function', true]);
});

test('an app that has loaded @azure/identity, or tedious, keeps what it has', async () => {
  const kept = (name: string) =>
    shown(`
      require('${name}');
      const file = require.resolve('${name}');
      const mine = require.cache[file];
      await import(${url(dist, 'index.js')});
      show([require.cache[file] === mine, types.isProxy(mine.exports), loaded()]);`);
  const answer = [true, false, { tedious: true, identity: true }];
  expect(await kept('@azure/identity')).toEqual(answer);
  expect(await kept('tedious')).toEqual(answer);
});

/** The library and all packages that it needs in one file. */
async function bundle(kind: string): Promise<string> {
  const outDir = join(folder, kind);
  await build({
    root: dist,
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: { ssr: 'sql/index.js', outDir },
  });
  await writeFile(join(outDir, 'package.json'), '{ "type": "module" }');
  return outDir;
}

test('bundled, and without packages around it, the library loads and logs in as ever', async () => {
  const path = await bundle('alone');
  const nothing = { tedious: false, identity: false };
  expect(await login(url(path, 'index.js'))).toEqual({ before: nothing, rows: [1, 2], after: nothing });
});

test('bundled, and beside the packages, the library loads nothing of @azure/identity from them', async () => {
  const path = await bundle('beside');
  await mkdir(join(path, 'node_modules'));
  await symlink(join(dirname(tedious), '..'), join(path, 'node_modules', 'tedious'), 'junction');
  const loaded = await shown(`await import(${url(path, 'index.js')}); show(loaded());`);
  expect(loaded).toEqual({ tedious: true, identity: false });
});

/** The connection class of a tedious of another kind, beside an `@azure/identity` of another kind: what it is, or what two calls give. */
async function classOf(kind: string, files: Record<string, string>): Promise<unknown> {
  const path = join(folder, kind);
  const all = {
    'package.json': '{ "type": "module" }',
    'node_modules/tedious/package.json': '{ "main": "index.js" }',
    'node_modules/tedious/index.js': `
      exports.Connection = require('./lib/connection').default;
      exports.Request = class {};`,
    ...files,
  };
  await cp(join(dist, 'sql', 'tedious'), path, { recursive: true });
  for (const [file, text] of Object.entries(all)) {
    await mkdir(dirname(join(path, file)), { recursive: true });
    await writeFile(join(path, file), text);
  }
  return shown(`
    const { Connection } = await import(${url(path, 'driver.js')});
    const called = () => { try { return Connection(); } catch (error) { return error.message; } };
    show(typeof Connection === 'function' ? [called(), called()] : Connection);`);
}

const part = 'node_modules/tedious/lib/connection.js';
const identityFile = 'node_modules/@azure/identity/index.js';
const someIdentity = `
  Object.defineProperty(exports, '__esModule', { value: true });
  Object.defineProperty(exports, 'One', { enumerable: true, get: () => 'one' });
  exports.two = 'two';`;
const read = (value: string) => `const identity = require('@azure/identity'); exports.default = ${value};`;

test('a tedious that reads @azure/identity at its import gets what it holds, whichever way it reads', async () => {
  const given = (kind: string, value: string) =>
    classOf(kind, { [part]: read(value), [identityFile]: someIdentity });
  expect(await given('get', '[identity.One, identity.two, identity.three]')).toEqual(['one', 'two', null]);
  expect(await given('copy', '{ ...identity }')).toEqual({ One: 'one', two: 'two' });
  expect(await given('has', `['One' in identity, 'three' in identity]`)).toEqual([true, false]);
});

test('a tedious that can do nothing with what stands in for @azure/identity is loaded with the real one', async () => {
  const picky = `
    if (require('node:util').types.isProxy(require('@azure/identity'))) throw new Error('A proxy');
    ${read('identity.two')}`;
  expect(await classOf('picky', { [part]: picky, [identityFile]: someIdentity })).toBe('two');
});

test('a tedious of other parts, or without @azure/identity, is loaded as ever', async () => {
  const index = `exports.Connection = 'other'; exports.Request = class {};`;
  expect(await classOf('parts', { 'node_modules/tedious/index.js': index, [identityFile]: '' })).toBe(
    'other',
  );
  expect(await classOf('without', { [part]: `exports.default = 'other';` })).toBe('other');
});

test('an @azure/identity that does not load fails each login that needs it, and not the import', async () => {
  const files = { [part]: read('() => identity.One'), [identityFile]: `throw new Error('Broken');` };
  expect(await classOf('broken', files)).toEqual(['Broken', 'Broken']);
});
