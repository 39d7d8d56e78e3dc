import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const startMs = 60_000;
const stopMs = 15_000;

// Source files run in tests only; what they start must be compiled.
const cli = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? '../../../.build/dev/cli.js' : '../cli.js', import.meta.url),
);

export interface LoggerRuntime {
  /** Without a slash at its end. */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts the local runtime with an app on a free port; its log is read and thrown away, so that writing it costs what it does.
 *
 * @throws Error with all that it wrote, when it ends instead of becoming ready
 */
export async function startLoggerRuntime(
  appDir: string,
  loggerCache: boolean,
  signal: AbortSignal,
): Promise<LoggerRuntime> {
  const args = [cli, 'start', '--app', appDir, '--port', '0', '--no-sql', '--threads-min', '1'];
  // A group of its own: Ctrl-C reaches this process only, which then stops the runtime.
  const child = spawn(process.execPath, loggerCache ? args : [...args, '--no-logger-cache'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve())).finally(() =>
    process.off('exit', kill),
  );
  const stop = async () => {
    child.kill('SIGTERM');
    const late = setTimeout(kill, stopMs);
    await ended;
    clearTimeout(late);
  };
  let output = '';
  let timer: NodeJS.Timeout | undefined;
  try {
    const url = await new Promise<string>((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`The runtime ${why}:\n${output}`.trimEnd()));
      timer = setTimeout(() => fail(`was not ready within ${startMs / 1_000} s`), startMs);
      const look = (text: string) => {
        output += text;
        const ready = /^Ready on (http:\/\/\S+)/m.exec(output)?.[1];
        if (ready !== undefined) resolve(ready);
      };
      child.stdout.setEncoding('utf8').on('data', look);
      child.stderr.setEncoding('utf8').on('data', look);
      child.once('error', (error) => fail(`could not be started (${error.message})`));
      void ended.then(() => fail('ended'));
      if (signal.aborted) reject(signal.reason as Error);
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    for (const stream of [child.stdout, child.stderr]) stream.removeAllListeners('data').resume();
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
