import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Logs once, so that both loggers of a function have work to do. */
const source = `const { app } = require('@azure/functions');

app.http('Trivial', {
  methods: ['GET'],
  authLevel: 'anonymous',
  handler: (request, context) => {
    context.log('one line');
    return { body: 'ok' };
  },
});
`;

/** As in a template's host.json: something to choose from for each logger that is made. */
const hostJson = {
  version: '2.0',
  logging: {
    logLevel: {
      default: 'Warning',
      Host: 'Warning',
      Function: 'Information',
      'Function.Trivial.User': 'Information',
    },
  },
};

/** A trivial function app in a temporary folder, which finds the packages of this project. */
export async function writeLoggerApp(): Promise<{ readonly folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-logger-'));
  const packages = fileURLToPath(new URL('../../../node_modules', import.meta.url));
  // A junction needs no rights on Windows; elsewhere the type means nothing.
  await symlink(packages, join(folder, 'node_modules'), 'junction');
  const files: Record<string, string> = {
    'package.json': JSON.stringify({ name: 'bench-logger', private: true, main: 'app.js' }),
    'host.json': JSON.stringify(hostJson),
    'local.settings.json': JSON.stringify({ IsEncrypted: false, Values: {} }),
    'app.js': source,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
