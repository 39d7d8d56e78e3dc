import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { childrenOf, isAlive } from '../../helpers/processes.js';
import { within } from '../../helpers/run.js';
import { type LocalRuntime, type RuntimeOptions, startCli, startRuntime } from '../../helpers/runtime.js';

const started: LocalRuntime[] = [];

async function runtime(options?: RuntimeOptions): Promise<LocalRuntime> {
  const one = await startRuntime(options);
  started.push(one);
  return one;
}

afterEach(async () => {
  for (const { process } of started.splice(0)) process.kill('SIGKILL');
});

async function gone(pids: readonly number[]): Promise<void> {
  const all = async () => {
    while (pids.some(isAlive)) await sleep(20);
  };
  await within(5_000, `the end of ${pids}`, all());
}

describe('npm start', () => {
  test('serves Blog and BlogAsync with the same JSON, about as long as the published one', async () => {
    const { url, stop } = await runtime();
    const [blog, blogAsync] = await Promise.all(
      ['Blog', 'BlogAsync'].map(async (name) => {
        const response = await fetch(`${url}/api/${name}`);
        expect(response.status).toBe(200);
        expect(response.headers.get('content-type')).toMatch(/^application\/json/);
        return response.text();
      }),
    );
    expect(blogAsync).toBe(blog);
    expect(blog?.length).toBeGreaterThan(1_285 * 0.95);
    expect(blog?.length).toBeLessThan(1_285 * 1.05);
    expect(await stop()).toMatchObject({ code: 0, stderr: '' });
  });

  test('lists the functions with their methods and URLs, and prints one ready line', async () => {
    const { url, output, stop } = await runtime();
    expect(output()).toContain(`\tBlog: [GET] ${url}/api/Blog\n`);
    expect(output()).toContain(`\tBlogAsync: [GET] ${url}/api/BlogAsync\n`);
    await stop();
    expect(output().match(/^Ready on /gm)).toHaveLength(1);
  });

  test('lets a running request end after SIGTERM, takes no new one, and leaves no process', async () => {
    const { url, process: main, stop } = await runtime();
    const children = childrenOf(main.pid as number);
    expect(children).toHaveLength(2);
    const running = fetch(`${url}/api/BlogAsync`).then((response) => response.json());
    await sleep(300);
    const stopped = stop();
    expect(await running).toHaveLength(10);
    expect(await stopped).toMatchObject({ code: 0 });
    await expect(fetch(`${url}/api/Blog`)).rejects.toThrow();
    await gone(children);
  });

  test('takes one Ctrl-C that arrives twice for one, and ends at once at a later second signal', async () => {
    const { url, process: main, finished } = await runtime();
    const children = childrenOf(main.pid as number);
    const running = fetch(`${url}/api/BlogAsync`).then((response) => response.text());
    const cut = expect(running).rejects.toThrow();
    await sleep(200);
    main.kill('SIGINT');
    main.kill('SIGINT');
    await sleep(600);
    expect(isAlive(main.pid as number)).toBe(true);
    main.kill('SIGINT');
    expect(await within(1_000, 'the end', finished)).toMatchObject({ code: 130 });
    await cut;
    await gone(children);
  });

  test('takes its children with it when it is killed', async () => {
    const { process: main } = await runtime();
    const children = childrenOf(main.pid as number);
    main.kill('SIGKILL');
    await gone(children);
  });

  test('works twice at once on free ports', async () => {
    const [one, two] = await Promise.all([runtime(), runtime()]);
    expect(one.url).not.toBe(two.url);
    const bodies = await Promise.all(
      [one, two].map(async ({ url }) => (await fetch(`${url}/api/BlogAsync`)).text()),
    );
    expect(bodies[0]).toBe(bodies[1]);
  });

  test('names another server in its ready line, starts none, and lets the environment beat the file', async () => {
    const { sql, process: main } = await runtime({
      env: { SqlConnectionString: 'Server=db.example.com;User Id=u;Password=p' },
    });
    expect(sql).toBe('SQL on db.example.com');
    expect(childrenOf(main.pid as number)).toHaveLength(1);
  });

  test('starts no SQL server with --no-sql', async () => {
    const { sql, process: main } = await runtime({ args: ['--no-sql'] });
    expect(sql).toContain('not started');
    expect(childrenOf(main.pid as number)).toHaveLength(1);
  });
});

describe('npm start says what is wrong in one message, and exits', () => {
  const endOf = async (args: readonly string[], env?: Record<string, string>) =>
    within(30_000, 'the end', startCli(['start', '--port', '0', '--sql-port', '0', ...args], env).finished);

  test.for([
    ['--port', 'which option and that 0 picks a free one', 'for the functions'],
    ['--sql-port', 'which option and that 0 picks a free one', 'for SQL'],
  ] as const)('a port that is taken: %s', async ([option]) => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const { code, stderr } = await endOf([option, String(port)]);
    server.close();
    expect(code).toBe(1);
    expect(stderr).toContain(String(port));
    expect(stderr).toContain(option);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  test('an option that does not exist, with the help', async () => {
    const { code, stderr } = await endOf(['--prot', '1']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/--prot/);
    expect(stderr).toMatch(/Usage: npm start/);
  });

  test('a port that is none', async () => {
    const { code, stderr } = await endOf(['--port', '70000']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/--port.*'70000'/);
  });

  test('a SQL script that fails: file, batch, line, number and text', async () => {
    const { code, stderr } = await endOf(['--app', 'test/fixtures/apps/failing-script']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/1-wrong\.sql, batch 2, line 4: error 208: .*NoSuchTable/);
  });

  test('an app directory that does not exist', async () => {
    const { code, stderr } = await endOf(['--app', 'no/such/app']);
    expect(code).toBe(1);
    expect(stderr).toContain('no/such/app');
  });
});
