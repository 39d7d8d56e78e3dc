/**
 * The package as others get it: packed, unpacked into projects elsewhere, compiled there and run. Without network: the
 * dependencies are links to those of the checkout.
 */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run, start, within } from './helpers/run.js';
import { RawServer } from './helpers/sql-raw-server.js';
import { script } from './helpers/sql-script.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const name = 'azure-functions-sql-stream';
const packages = join(root, 'node_modules');
let folder: string;
let server: RawServer;

/** What a user writes, and what stands for the host: it asks the handler for a response. */
const endpoint = `
import { app, HttpRequest, InvocationContext } from '@azure/functions';
import { sqlStream } from '${name}';

interface Numbered {
  Id: number;
}

const numbers = sqlStream<Numbered>({
  commandText: 'ids 1,2,3',
  commandType: 'Text',
  connectionStringSetting: 'TestSql',
});

const handler = numbers.handler(async function* (request, context) {
  for await (const { Id } of numbers.rows(request, context)) if (Id !== 2) yield { Id, Square: Id * Id };
});

app.http('Numbers', { methods: ['GET'], handler });
export { handler, HttpRequest, InvocationContext };
`;

const caller = (load: string) => `
${load}
async function call() {
  const request = new HttpRequest({ method: 'GET', url: 'http://localhost/api/Numbers' });
  const response = await handler(request, new InvocationContext({ logHandler() {} }));
  console.log(JSON.stringify({
    status: response.status,
    body: await response.text(),
    oneCopy: response instanceof HttpResponse,
  }));
  await closeSqlStreams(0);
}
call();
`;

async function project(kind: string, files: Record<string, string>): Promise<string> {
  const path = join(folder, kind);
  await mkdir(join(path, 'node_modules', '@azure'), { recursive: true });
  await cp(join(folder, 'package'), join(path, 'node_modules', name), { recursive: true });
  for (const dependency of ['@azure/functions', '@types', 'tedious', 'tarn']) {
    await symlink(join(packages, dependency), join(path, 'node_modules', dependency), 'junction');
  }
  for (const [file, text] of Object.entries(files)) {
    await mkdir(join(path, file, '..'), { recursive: true });
    await writeFile(join(path, file), text);
  }
  return path;
}

/** Without `skipLibCheck`, as in the template: all declarations that an install brings must hold. */
async function compile(path: string): Promise<void> {
  const compiler = join(packages, 'typescript', 'bin', 'tsc');
  const { stdout } = await run(process.execPath, [compiler, '-p', path]);
  expect(stdout).toBe('');
}

async function runIn(path: string, file: string): Promise<unknown> {
  const env = { ...process.env, TestSql: server.connectionString };
  const { code, stdout, stderr } = await run(process.execPath, [join(path, file)], { env });
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

const answer = { status: 200, body: '[{"Id":1,"Square":1},{"Id":3,"Square":9}]', oneCopy: true };

beforeAll(async () => {
  server = await new RawServer(script).listen();
  folder = await mkdtemp(join(tmpdir(), 'package-'));
  const args = ['pack', '--ignore-scripts', '--pack-destination', folder];
  const packed = await run('npm', args, { cwd: root, shell: process.platform === 'win32' });
  expect(packed.code, packed.stderr).toBe(0);
  const [tarball = ''] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
  const unpacked = await run('tar', ['-xzf', tarball], { cwd: folder });
  expect(unpacked.code, unpacked.stderr).toBe(0);
});

afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

test('the package holds dist, README, LICENSE and package.json, and nothing else', async () => {
  const files = await readdir(join(folder, 'package'));
  expect(files.filter((file) => !/^(README\.md|LICENSE)$/.test(file)).sort()).toEqual([
    'dist',
    'package.json',
  ]);
  const { dependencies, peerDependencies } = JSON.parse(
    await readFile(join(folder, 'package', 'package.json'), 'utf8'),
  );
  expect(Object.keys(dependencies).sort()).toEqual(['tarn', 'tedious']);
  // A second copy of the library would not know the functions of the first.
  expect(Object.keys(peerDependencies)).toEqual(['@azure/functions']);
});

test('a CommonJS project with the tsconfig of the Azure Functions template compiles and runs', async () => {
  const path = await project('commonjs', {
    'package.json': JSON.stringify({ name: 'app', main: 'dist/src/functions/*.js' }),
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        module: 'commonjs',
        target: 'es6',
        // The compiler included these by itself until its version 6.
        types: ['node'],
        outDir: 'dist',
        rootDir: '.',
        sourceMap: true,
        strict: false,
      },
    }),
    'src/functions/Numbers.ts': endpoint,
    'call.cjs': caller(`
      const { handler, HttpRequest, InvocationContext } = require('./dist/src/functions/Numbers.js');
      const { HttpResponse } = require('@azure/functions');
      const { closeSqlStreams } = require('${name}');`),
  });
  await compile(path);
  expect(await runIn(path, 'call.cjs')).toEqual(answer);
});

test('a project of strict ES modules compiles and runs', async () => {
  const path = await project('modules', {
    'package.json': JSON.stringify({ name: 'app', type: 'module' }),
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        module: 'nodenext',
        target: 'es2022',
        types: ['node'],
        outDir: 'dist',
        rootDir: '.',
        strict: true,
      },
    }),
    // The library's classes are no named exports for an ES module.
    'Numbers.ts': endpoint
      .replace('{ app, HttpRequest, InvocationContext }', 'functions')
      .replace('\ninterface', '\nconst { app, HttpRequest, InvocationContext } = functions;\n\ninterface'),
    'call.js': caller(`
      import { handler, HttpRequest, InvocationContext } from './dist/Numbers.js';
      import functions from '@azure/functions';
      import { closeSqlStreams } from '${name}';
      const { HttpResponse } = functions;`),
  });
  await compile(path);
  expect(await runIn(path, 'call.js')).toEqual(answer);
});

/** All that its author writes; the tables are those of the scripts beside it. */
const tenLines = `import { app } from '@azure/functions';
import { sqlStream } from '${name}';

app.setup({ enableHttpStream: true });
const numbers = sqlStream({
  commandText: 'select Id, Name from dbo.Numbers where Id >= @from order by Id',
  parameters: '@from={Query.from}',
  connectionStringSetting: 'SqlConnectionString',
});
app.http('Numbers', { authLevel: 'anonymous', handler: numbers.handler() });
`;

test('a project of ten lines streams under npm start of this checkout, and cancels when its client leaves', {
  timeout: 60_000,
}, async () => {
  expect(tenLines.trim().split('\n')).toHaveLength(10);
  const connection =
    'Server=127.0.0.1,14330;Database=Numbers;User Id=sa;Password=Ten-lines-1;Encrypt=false;Max Pool Size=1';
  // The first response stops after two rows, for ever: what comes of it has been streamed.
  const stops = { at: 'rows', action: 'silence', rows: 2, sql: 'from dbo.Numbers where', times: 1 };
  const path = await project('ten-lines', {
    'package.json': JSON.stringify({ name: 'app', type: 'module', main: 'functions/*.js' }),
    'host.json': JSON.stringify({ version: '2.0' }),
    'local.settings.json': JSON.stringify({
      Values: { FUNCTIONS_WORKER_RUNTIME: 'node', SqlConnectionString: connection },
    }),
    'functions/Numbers.js': tenLines,
    'sql/1-numbers.sql': `create table dbo.Numbers (Id int not null primary key, Name nvarchar(50) null);
GO
insert into dbo.Numbers (Id, Name) values (1, N'one'), (2, null), (3, N'drei ☃');
GO
exec dev.fault_add @rule = N'${JSON.stringify(stops)}';
`,
  });
  const args = ['start', '--', '--app', path, '--port', '0', '--sql-port', '0'];
  const runtime = start('npm', args, { cwd: root, shell: process.platform === 'win32' });
  try {
    const [, url] = await within(40_000, 'the ready line', runtime.line(/^Ready on (\S+) /));
    const leave = new AbortController();
    const first = await fetch(`${url}/api/Numbers?from=1`, { signal: leave.signal });
    const { value } = await within(5_000, 'the first rows', first.body!.getReader().read());
    expect(Buffer.from(value!).toString()).toBe('[{"Id":1,"Name":"one"},{"Id":2,"Name":null}');
    leave.abort();
    // There is one connection, and it is free again.
    const second = await within(5_000, 'the second response', fetch(`${url}/api/Numbers?from=2`));
    expect(await second.text()).toBe('[{"Id":2,"Name":null},{"Id":3,"Name":"drei ☃"}]');
    const wrong = await within(5_000, 'the refusal', fetch(`${url}/api/Numbers`));
    expect([wrong.status, await wrong.json()]).toMatchObject([400, { parameter: 'Query.from' }]);
  } finally {
    runtime.process.kill('SIGTERM');
    await within(15_000, 'the end of the runtime', runtime.finished);
  }
});

test('importing the package registers nothing, opens nothing and keeps nothing alive', async () => {
  const path = await project('import', {
    'import.mjs': `
      const before = process.eventNames().length;
      await import('${name}');
      console.log(JSON.stringify({ events: process.eventNames().length - before }));`,
  });
  expect(await runIn(path, 'import.mjs')).toEqual({ events: 0 });
});

test('on SIGTERM the process of an app ends by that signal, after its streams', async () => {
  const path = await project('sigterm', {
    'app.mjs': `
      import { sqlStream } from '${name}';
      sqlStream({ commandText: 'ids 1', connectionStringSetting: 'TestSql' });
      setInterval(() => {}, 1000);
      console.log('ready');`,
  });
  const env = { ...process.env, TestSql: server.connectionString, FUNCTIONS_WORKER_RUNTIME: 'node' };
  const app = start(process.execPath, [join(path, 'app.mjs')], { env });
  await app.line(/^ready$/);
  app.process.kill('SIGTERM');
  await app.finished;
  expect(app.process.signalCode).toBe('SIGTERM');
});
