import type { Command } from './cli/command.js';
import { tellParent } from './cli/embedded.js';

/** Loaded when asked for: the server of `sql` should not carry the memory of the host, nor the host its. */
const commands: Record<string, () => Promise<Command>> = {
  start: async () => (await import('./cli/start.js')).start,
  sql: async () => (await import('./cli/sql.js')).sql,
  scripts: async () => (await import('./cli/scripts.js')).scripts,
  threads: async () => ({
    summary: 'shows the blocked threads of a running host, with their stacks',
    run: (await import('./lab/threads-view.js')).main,
  }),
  requester: async () => ({
    summary: 'calls the blocking and the awaiting portal, and counts answers',
    run: (await import('./lab/requester.js')).main,
  }),
  bench: async () => ({
    summary: 'measures sqlStream and the usual driver paths side by side',
    run: (await import('./bench/bench.js')).main,
  }),
  soak: async () => ({
    summary: 'runs users that leave, read slowly and meet faults, and checks what is left over',
    run: (await import('./bench/soak.js')).main,
  }),
  'bench-logger': async () => ({
    summary: 'measures what the logger cache of the runtime changes',
    run: (await import('./bench/logger.js')).main,
  }),
  docs: async () => (await import('./cli/docs.js')).docs,
};

async function help(): Promise<string> {
  const lines = ['Usage: node .build/dev/cli.js COMMAND [options]', '', 'Commands:'];
  for (const [name, load] of Object.entries(commands)) {
    lines.push(`  ${name.padEnd(14)} ${(await load()).summary}`);
  }
  return [...lines, '', 'COMMAND --help shows its options.'].join('\n');
}

async function main([name = '--help', ...args]: readonly string[]): Promise<number> {
  if (name === '--help' || name === '-h' || name === 'help') {
    console.log(await help());
    return 0;
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load === undefined) {
    console.error(`There is no command '${name}'.\n\n${await help()}`);
    return 2;
  }
  return (await load()).run(args);
}

/** Errors with a code are said in one message: they name the cause and the remedy. Others are our faults. */
function report(error: unknown): number {
  const { code, message, stack } = error as NodeJS.ErrnoException;
  if (process.send) {
    tellParent({
      kind: 'failed',
      code: code ?? 'EUNKNOWN',
      message: typeof code === 'string' ? message : (stack ?? message),
    });
    return 1;
  }
  if (code === 'EUSAGE') {
    console.error(message);
    return 2;
  }
  console.error(typeof code === 'string' ? message : (stack ?? String(error)));
  return 1;
}

// Not process.exit(): output that is still on its way to a pipe would be cut.
process.exitCode = await main(process.argv.slice(2)).catch(report);
if (process.connected) process.disconnect();
