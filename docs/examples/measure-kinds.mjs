// Runs kinds-of-work.mjs for every kind, and writes its table into docs/blocked-threads.md.
//
//     npm run build && node docs/examples/measure-kinds.mjs
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { writeBetweenMarkers } from '../../.build/dev/docs/markers.js';

const program = fileURLToPath(new URL('./kinds-of-work.mjs', import.meta.url));
const document = fileURLToPath(new URL('../blocked-threads.md', import.meta.url));
const figures = /took (\d+) ms; .* (\d+) % in use.* (\d+) ms late/;

const rows = ['io-bound', 'cpu-bound', 'fake-async', 'blocked-threads'].map((kind) => {
  const text = execFileSync(process.execPath, [program, kind], { encoding: 'utf8' });
  const [, tookMs, inUse, lateMs] = figures.exec(text) ?? [];
  const label = kind === 'blocked-threads' ? '`blocked-threads` (four threads)' : `\`${kind}\``;
  return `| ${label} | ${tookMs} ms | ${inUse} % | ${lateMs} ms |`;
});
const machine = `${cpus().length} x ${cpus()[0]?.model.trim()}, Node.js ${process.version}, ${process.platform}`;
const table = [
  `${machine}, ${new Date().toISOString().slice(0, 10)}, one run:`,
  '',
  '| kind | all eight took | event loop in use | timers came late by up to |',
  '|---|---:|---:|---:|',
  ...rows,
].join('\n');
await writeBetweenMarkers(document, 'kinds', table);
console.log(table);
