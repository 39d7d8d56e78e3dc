import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Runtime {
  readonly url: string;
  stop(): Promise<void>;
}

const startMs = 60_000;

/**
 * Starts the local runtime on free ports, as `npm start` does.
 *
 * @throws Error with all that it wrote, when it ends instead of becoming ready
 */
export async function startRuntime(signal: AbortSignal): Promise<Runtime> {
  const cli = fileURLToPath(new URL('../cli.js', import.meta.url));
  const args = [cli, 'start', '--port', '0', '--sql-port', '0'];
  // A group of its own: Ctrl-C reaches this process only, which then stops the runtime in its own time.
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async () => {
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), 15_000);
    await ended;
    clearTimeout(late);
  };
  const onExit = () => child.kill('SIGTERM');
  process.once('exit', onExit);
  void ended.then(() => process.off('exit', onExit));
  try {
    const url = await new Promise<string>((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`The runtime ${why}:\n${output}`.trimEnd()));
      const timer = setTimeout(() => fail(`was not ready within ${startMs / 1_000} s`), startMs);
      const look = (text: string) => {
        output += text;
        const ready = /^Ready on (http:\/\/\S+)/m.exec(output);
        if (!ready?.[1]) return;
        clearTimeout(timer);
        resolve(ready[1]);
      };
      child.stdout.setEncoding('utf8').on('data', look);
      child.stderr.setEncoding('utf8').on('data', look);
      child.once('error', (error) => fail(`could not be started (${error.message})`));
      ended.then(() => {
        clearTimeout(timer);
        fail('ended');
      });
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    // It goes on logging; nobody reads it, but a full pipe would stop it.
    child.stdout.removeAllListeners('data').resume();
    child.stderr.removeAllListeners('data').resume();
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
