/** What a stream of rows costs the system's memory, beyond what it holds. */
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { fixedText, JsonOutput } from '../../src/sql/rows/json-output.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const pageBytes = 4_096;
const roundBytes = 20 * 1_048_576;
const row = fixedText('x'.repeat(150));

/** Writes and drops as much as V8 lets wait for its collection, and tells how many pages the system had to provide. */
async function pagesOfRound(): Promise<number> {
  const { minorPageFault } = process.resourceUsage();
  const output = new JsonOutput();
  const chunks: Uint8Array[] = [];
  while (output.total < roundBytes) {
    output.fixed(row);
    output.endRow();
    const chunk = output.takeReady();
    if (chunk !== undefined) chunks.push(chunk);
  }
  const pages = process.resourceUsage().minorPageFault - minorPageFault;
  chunks.length = 0;
  collect();
  // V8 releases the memory of buffers beside the program.
  await wait(50);
  return pages;
}

const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };

test.skipIf(header.glibcVersionRuntime === undefined)(
  'memory of output that was sent serves the output that follows (glibc)',
  async () => {
    for (let round = 0; round < 5; round++) await pagesOfRound();
    const rounds: number[] = [];
    for (let round = 0; round < 5; round++) rounds.push(await pagesOfRound());
    rounds.sort((a, b) => a - b);
    expect(rounds[2]).toBeLessThan(roundBytes / pageBytes / 10);
  },
);
