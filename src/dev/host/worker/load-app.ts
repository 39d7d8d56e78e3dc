import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import type { WorkerMessage } from '../protocol.js';
import { app } from './core-api.js';
import { appHookContext, executeHooks } from './hooks.js';

/** Why the app could not be loaded, as it is told to the host. */
export class LoadError extends Error {
  readonly reason: Extract<WorkerMessage, { type: 'startFailed' }>['reason'];
  readonly file: string | undefined;

  constructor(reason: LoadError['reason'], cause: unknown, file?: string) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'LoadError';
    this.reason = reason;
    this.file = file;
  }
}

/**
 * Loads the files one after the other, as the real worker does, and awaits each: top-level await has ended before the
 * next. `import()` takes CommonJS and ES modules.
 *
 * @throws LoadError
 */
export async function loadApp(files: readonly string[], appDir: string): Promise<void> {
  for (const file of files) {
    app.currentFile = file;
    try {
      await import(pathToFileURL(file).href);
    } catch (error) {
      throw new LoadError('entry', error, file);
    }
  }
  try {
    await executeHooks('appStart', appHookContext({ functionAppDirectory: appDir }));
  } catch (error) {
    throw new LoadError('hook', error);
  }
}

/** The stack of what went wrong; for a syntax error in an ES module, whose stack has no line, what the compiler says. */
export function stackOf({ cause, file }: LoadError): string | undefined {
  if (cause instanceof SyntaxError && file !== undefined) {
    const check = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8', timeout: 5_000 });
    if (check.status !== 0 && check.stderr) return check.stderr.trim();
  }
  return cause instanceof Error ? cause.stack : undefined;
}
