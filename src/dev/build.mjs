// Builds dist/ (what is deployed) and .build/ (the development tools), with nothing but Node and the compiler.
//
// Plain JavaScript, because Node 20 loads no TypeScript and this runs before anything is compiled. Two starts
// from one clone may build at once, and a running start may load files meanwhile: so each build goes into a new
// folder and is swapped in whole, under a lock, and an up-to-date build is left alone.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const staging = join(root, '.build.new');
const targets = [
  { folder: join(root, 'dist'), config: '.config/tsconfig.dist.json' },
  { folder: join(root, '.build'), config: '.config/tsconfig.dev.json' },
];
const stampFile = join(root, '.build', 'stamp');

/** @param {string} folder @returns {Promise<string[]>} */
async function filesBelow(folder) {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** A digest of all that decides the output, so that a touched but unchanged file builds nothing. */
async function inputDigest() {
  const compiler = createRequire(import.meta.url)('typescript/package.json');
  const hash = createHash('sha256').update(compiler.version);
  const configs = ['package.json', 'tsconfig.json', ...targets.map((target) => target.config)];
  for (const file of [...configs.map((name) => join(root, name)), ...(await filesBelow(join(root, 'src')))]) {
    hash.update(`\0${file.slice(root.length)}\0`).update(await readFile(file));
  }
  return hash.digest('hex');
}

/** @param {string} digest */
async function isCurrent(digest) {
  const stamp = await readFile(stampFile, 'utf8').catch(() => '');
  return stamp === digest && targets.every((target) => existsSync(target.folder));
}

/** @param {string} config @param {string} outDir @returns {Promise<void>} */
function compile(config, outDir) {
  const tsc = createRequire(import.meta.url)
    .resolve('typescript/package.json')
    .replace(/package\.json$/, 'bin/tsc');
  const args = [tsc, '-p', join(root, config), '--outDir', outDir];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: root }, (error, stdout, stderr) => {
      if (!error) resolve();
      else reject(new Error(`The TypeScript compiler stopped at ${config}:\n${stdout}${stderr}`.trimEnd()));
    });
  });
}

/** Another build's lock is awaited; one whose process is gone is taken over. */
async function lock() {
  const file = join(root, '.build.lock');
  for (let announced = false; ; ) {
    try {
      await writeFile(file, String(process.pid), { flag: 'wx' });
      return () => rm(file, { force: true });
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    }
    if (await isAbandoned(file)) await rm(file, { force: true });
    else if (!announced) {
      announced = true;
      console.log('Another build runs here; waiting for it.');
    }
    await sleep(100);
  }
}

/** @param {string} file */
async function isAbandoned(file) {
  const pid = Number(await readFile(file, 'utf8').catch(() => '0'));
  if (pid > 0) {
    try {
      process.kill(pid, 0);
      return false;
    } catch (error) {
      return /** @type {NodeJS.ErrnoException} */ (error).code === 'ESRCH';
    }
  }
  // Empty for the instant between its creation and its writing, or for ever after a crash in that instant.
  const age =
    Date.now() -
    (await stat(file)
      .then((s) => s.mtimeMs)
      .catch(() => Date.now()));
  return age > 5_000;
}

async function build() {
  const digest = await inputDigest();
  if (await isCurrent(digest)) return;
  const unlock = await lock();
  try {
    if (await isCurrent(digest)) return;
    console.log('Building ...');
    await rm(staging, { recursive: true, force: true });
    await mkdir(staging);
    const outputs = targets.map((target, index) => ({ ...target, output: join(staging, String(index)) }));
    // Both to their ends, also when one fails: the folder that is removed then must not be written to any more.
    const compiled = await Promise.allSettled(outputs.map(({ config, output }) => compile(config, output)));
    for (const result of compiled) if (result.status === 'rejected') throw result.reason;
    await writeFile(join(staging, '1', 'stamp'), digest);
    for (const { folder, output } of outputs) {
      // A folder that is not empty can't be renamed over: move the old one aside first.
      if (existsSync(folder)) await rename(folder, `${output}.old`);
      await rename(output, folder);
    }
  } finally {
    await rm(staging, { recursive: true, force: true });
    await unlock();
  }
}

await build().catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
