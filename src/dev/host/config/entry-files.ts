import { statSync } from 'node:fs';
import { join } from 'node:path';
import { HostStartError } from '../start-error.js';
import { findFiles } from './glob.js';
import { readJsonFile } from './json-file.js';

/**
 * The files that package.json's `main` means: what the worker loads. `exports` has no say in it.
 *
 * @returns absolute paths
 * @throws HostStartError `EAppDir`, `EJson`, `EMain`
 */
export function entryFiles(appDir: string): string[] {
  if (!statSync(appDir, { throwIfNoEntry: false })?.isDirectory()) {
    throw new HostStartError(
      'EAppDir',
      `There is no directory ${appDir}. Name the function app's with --app.`,
    );
  }
  const packageFile = readJsonFile(appDir, 'package.json');
  if (packageFile === undefined) {
    throw new HostStartError(
      'EAppDir',
      `${appDir} holds no package.json, so it is no Node.js function app. Name the function app's directory with --app.`,
    );
  }
  const main = packageFile.string('main');
  if (main === undefined || main === '') {
    throw new HostStartError(
      'EMain',
      `${packageFile.path} has no "main". Set it to the files that register the functions, such as "dist/functions/*.js".`,
    );
  }
  const files = findFiles(appDir, main);
  if (files.length === 0) {
    const line = packageFile.node('main')?.line;
    throw new HostStartError(
      'EMain',
      `${packageFile.path}:${line}: "main" is "${main}", and no file below ${appDir} matches it. ` +
        'Build the app first, or correct the pattern; it needs the file extension.',
    );
  }
  return files.map((file) => join(appDir, file));
}
