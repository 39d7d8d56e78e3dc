import { createServer } from 'node:net';
import { afterAll, afterEach, expect, test } from 'vitest';
import type { Host } from '../../../src/dev/host/index.js';
import { childrenOf } from '../../helpers/processes.js';
import { makeApp, removeApps, type StartedApp, startApp } from './apps.js';

let running: Host | undefined;
afterEach(() => running?.stop());
afterAll(removeApps);

const base = {
  'package.json': { name: 'app', main: '*.js' },
  'host.json': { version: '2.0' },
  'app.js': "require('@azure/functions').app.http('One', { handler: () => ({ body: 'one' }) });",
};

async function start(files: Record<string, string | object>, env = {}): Promise<StartedApp> {
  const app = await startApp(await makeApp({ ...base, ...files }), { env });
  running = app.host;
  return app;
}

const fn = (name: string, options = '{}') =>
  `require('@azure/functions').app.http('${name}', { handler: () => ({}), ...${options} });`;
const sqlInput = (more: object) =>
  `const { app, input } = require('@azure/functions');
   const sql = input.sql(${JSON.stringify({ commandText: 'select 1', commandType: 'Text', connectionStringSetting: 'Db', ...more })});
   app.http('Reads', { extraInputs: [sql], handler: () => ({}) });`;
const good = 'Server=127.0.0.1,1;User Id=a;Password=b;Encrypt=false';

test.each<[string, string, RegExp, Record<string, string | object>, object?]>([
  [
    'an entry file throws',
    'EEntry',
    /bad\.js failed with Error: at load\n +at .*bad\.js:1:7/,
    { 'bad.js': "throw new Error('at load')" },
  ],
  [
    'an entry file throws after a registration',
    'EEntry',
    /z\.js failed with/,
    { 'z.js': `${fn('Two')} null.x;` },
  ],
  [
    'an entry file has a syntax error',
    'EEntry',
    /bad\.mjs:2[\s\S]*SyntaxError/,
    { 'package.json': { main: '*.mjs' }, 'bad.mjs': 'let a;\nlet b = ;' },
  ],
  [
    'a rejected top-level await',
    'EEntry',
    /late\.mjs failed with Error: later/,
    { 'package.json': { main: '*.mjs' }, 'late.mjs': "await Promise.reject(new Error('later'))" },
  ],
  [
    'an entry file ends the process',
    'EWorker',
    /ended with exit code 7 while it loaded/,
    { 'exit.js': 'process.exit(7)' },
  ],
  [
    'main matches nothing',
    'EMain',
    /package\.json:1: "main" is "dist\/\*\.js", and no file/,
    { 'package.json': { main: 'dist/*.js' } },
  ],
  ['main is missing', 'EMain', /package\.json has no "main"/, { 'package.json': {} }],
  ['nothing is registered', 'ENoFunctions', /registered no function/, { 'app.js': '' }],
  [
    'two functions have one name',
    'EFunction',
    /'one': it is registered in .*app\.js and in .*b\.js/,
    { 'b.js': fn('one') },
  ],
  ['a name is none', 'EFunction', /'a b' can't be a function's name/, { 'b.js': fn('a b') }],
  [
    'a route is wrong',
    'EFunction',
    /route 'a\/\{id:wrong\}' of the function 'Two' .*constraint 'wrong' of \{id\} is not known/,
    { 'b.js': fn('Two', "{ route: 'a/{id:wrong}' }") },
  ],
  [
    'an appStart hook throws',
    'EEntry',
    /appStart hook failed with Error: hook/,
    { 'b.js': "require('@azure/functions').app.hook.appStart(() => { throw new Error('hook') })" },
  ],
  [
    'host.json is malformed',
    'EJson',
    /host\.json:3:\d+ is not valid JSON\. /,
    { 'host.json': '{\n  "version": "2.0",\n  oops\n}' },
  ],
  [
    'host.json has a wrong value',
    'EConfig',
    /host\.json:3: functionTimeout must be a time/,
    { 'host.json': '{\n "version": "2.0",\n "functionTimeout": "5 min"\n}' },
  ],
  [
    'local.settings.json is malformed',
    'EJson',
    /local\.settings\.json:2:\d+ .*no closing }/,
    { 'local.settings.json': '{\n  "Values": { "a": "b"\n' },
  ],
  [
    'a setting is nested',
    'EConfig',
    /local\.settings\.json:2: Values\.a must be a string/,
    { 'local.settings.json': '{ "Values": {\n "a": {} } }' },
  ],
  [
    'a setting is missing',
    'ESetting',
    /app setting Db, which the sql input binding of the function 'Reads' names, is missing\. .*local\.settings\.json/,
    { 'r.js': sqlInput({}) },
  ],
  ['a setting is empty', 'ESetting', /app setting Db, .* is empty/, { 'r.js': sqlInput({}) }, { Db: '' }],
  [
    'a connection string is wrong',
    'ESetting',
    /app setting Db, .*'sever' is not known/i,
    { 'r.js': sqlInput({}) },
    { Db: 'Sever=x' },
  ],
  [
    'a %setting% is missing',
    'ESetting',
    /'Table' of %Table% is missing/,
    { 'r.js': sqlInput({ commandText: 'select * from %Table%' }) },
    { Db: good },
  ],
  [
    'the setting of an output binding is missing',
    'ESetting',
    /app setting Queues, which the queue output binding of the function 'Out' names/,
    {
      'o.js':
        "const { app, output } = require('@azure/functions'); app.http('Out', { extraOutputs: [output.storageQueue({ queueName: 'q', connection: 'Queues' })], handler: () => ({}) });",
    },
  ],
])('%s: %s, and no process is left', async (_what, code, message, files, env = {}) => {
  const before = childrenOf(process.pid).length;
  await expect(start(files, env)).rejects.toMatchObject({
    name: 'HostStartError',
    code,
    message: expect.stringMatching(message),
  });
  expect(childrenOf(process.pid).length).toBeLessThanOrEqual(before);
});

test('no message holds a password', async () => {
  const env = { Db: 'Server=x;User Id=a;Password=geheim;Encrypt=perhaps' };
  const error = await start({ 'r.js': sqlInput({}) }, env).catch((thrown: Error) => thrown);
  expect(error).toMatchObject({ code: 'ESetting' });
  expect(String((error as Error).message)).not.toContain('geheim');
});

test('a directory that is none, or no app', async () => {
  await expect(startApp('/nowhere/at/all')).rejects.toMatchObject({ code: 'EAppDir' });
  const empty = await makeApp({ 'a.txt': '' });
  await expect(startApp(empty)).rejects.toMatchObject({
    code: 'EAppDir',
    message: expect.stringContaining('--app'),
  });
});

test('a taken port is named, with the option that chooses another', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  const message = expect.stringMatching(new RegExp(`Port ${port} on 127\\.0\\.0\\.1 is taken .*--port`));
  await expect(startApp(await makeApp(base), { port })).rejects.toMatchObject({ code: 'EPort', message });
  other.close();
});

test('a start can be given up', async () => {
  const files = {
    ...base,
    'package.json': { main: '*.mjs' },
    'never.mjs': 'await new Promise((done) => setTimeout(done, 60_000));',
  };
  const abort = new AbortController();
  const started = startApp(await makeApp(files), { signal: abort.signal });
  setTimeout(() => abort.abort(new Error('given up')), 300);
  await expect(started).rejects.toThrow('given up');
});

test('misplaced settings of host.json are warned of, and the prefix is used where it is right', async () => {
  const hostJson =
    '{\n "version": "2.0",\n "http": { "routePrefix": "v9" },\n "extensions": { "http": { "routePrefix": "/v1/" } }\n}';
  const app = await start({ 'host.json': hostJson });
  await app.logged(
    /Warning: .*host\.json:3: http\.routePrefix has no effect; its place is extensions\.http\.routePrefix/,
  );
  expect((await app.get('/v1/One')).status).toBe(200);
  expect(app.host.functions[0]?.url).toBe(`${app.host.url}/v1/One`);
});

test('a commandText that takes parts of a request into the SQL is warned of', async () => {
  const files = { 'r.js': sqlInput({ commandText: "select * from t where a = '{Query.a}'" }) };
  const app = await start(files, { Db: good });
  await app.logged(
    /Warning: commandText of .*'Reads' has binding expressions, .* becomes part of the SQL\. Use parameters\./,
  );
});

test('a functionTimeout that is shorter than a stream may take is warned of, with both times and the remedy', async () => {
  const short = await start({ 'host.json': '{\n "version": "2.0",\n "functionTimeout": "00:03:49"\n}' });
  await short.logged(
    /Warning: .*host\.json:3: functionTimeout is 229 s, less than the 230 s .*Raise functionTimeout, or .*deadlines\.totalMs below 229000/,
  );
  await short.host.stop();
  for (const functionTimeout of ['00:03:50', '-1', undefined]) {
    const enough = await start({ 'host.json': { version: '2.0', functionTimeout } });
    expect(enough.log().join()).not.toContain('functionTimeout');
    await enough.host.stop();
  }
});

test('an app without HTTP streaming, without host.json and without settings runs', async () => {
  const folder = await makeApp({ 'package.json': base['package.json'], 'app.js': base['app.js'] });
  const app = await startApp(folder);
  running = app.host;
  expect(await (await app.get('/api/One')).text()).toBe('one');
  await app.logged(/Warning: The app has no host\.json/);
});

test('functions of other triggers and bindings are listed as not run, and said so when called', async () => {
  const files = {
    'b.js': `const { app, input } = require('@azure/functions');
      app.timer('Nightly', { schedule: '0 0 3 * * *', handler: () => {} });
      app.http('Blob', { extraInputs: [input.storageBlob({ path: 'a/b' })], handler: () => ({}) });`,
  };
  const app = await start(files);
  expect(app.host.functions).toMatchObject([
    { name: 'One', notRun: undefined },
    {
      name: 'Nightly',
      triggerType: 'timerTrigger',
      url: undefined,
      notRun: expect.stringContaining('timerTrigger'),
    },
    { name: 'Blob', notRun: expect.stringContaining('type blob') },
  ]);
  const answer = await app.get('/api/Blob');
  expect([answer.status, (await answer.json()).code]).toEqual([501, 'NotSupported']);
});
