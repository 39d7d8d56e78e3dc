import { BenchUsageError } from './arguments.js';
import { ChildProcesses } from './child-processes.js';

/** A second signal counts from here on: npm passes on a Ctrl-C that the terminal has already sent. */
const sameSignalMs = 500;

/**
 * Runs a program that needs child processes. However it ends, they end: after it, when it throws, at a signal (then
 * the exit code is 130 or 143), and by themselves if this process is killed.
 *
 * @returns the exit code: 2 for wrong arguments, 1 for any other failure, both said on standard error.
 */
export async function runProgram(run: (children: ChildProcesses) => Promise<number>): Promise<number> {
  const children = new ChildProcesses();
  let signalCode: number | undefined;
  let first = 0;
  const onSignal = (name: NodeJS.Signals) => {
    const code = name === 'SIGINT' ? 130 : 143;
    if (signalCode !== undefined) {
      if (performance.now() - first > sameSignalMs) process.exit(code);
      return;
    }
    signalCode = code;
    first = performance.now();
    console.error('Stopping.');
    // What waits for them fails, and so ends the program.
    children.kill();
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  try {
    const code = await run(children);
    return signalCode ?? code;
  } catch (error) {
    if (signalCode !== undefined) return signalCode;
    const known = error instanceof Error && 'code' in error;
    console.error(error instanceof Error ? (known ? error.message : error.stack) : error);
    return error instanceof BenchUsageError ? 2 : 1;
  } finally {
    await children.stop();
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
  }
}
