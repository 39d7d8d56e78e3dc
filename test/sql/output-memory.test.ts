/** What a stream of rows costs the system's memory, beyond what it holds. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { median } from '../../src/dev/bench/statistics.js';
import { fixedText, JsonOutput } from '../../src/sql/rows/json-output.js';
import { collectGarbage } from '../helpers/collect-garbage.js';

const pageBytes = 4_096;
const roundBytes = 20 * 1_048_576;
const row = fixedText('x'.repeat(150));

function chunksOf(bytes: number): Uint8Array[] {
  const output = new JsonOutput();
  const chunks: Uint8Array[] = [];
  while (output.total < bytes) {
    output.fixed(row);
    output.endRow();
    const chunk = output.takeReady();
    if (chunk !== undefined) chunks.push(chunk);
  }
  return chunks;
}

/** Writes and drops as much as V8 lets wait for its collection, and tells how many pages the system had to provide. */
async function pagesOfRound(): Promise<number> {
  const { minorPageFault } = process.resourceUsage();
  chunksOf(roundBytes);
  const pages = process.resourceUsage().minorPageFault - minorPageFault;
  collectGarbage();
  // V8 releases the memory of buffers beside the program.
  await wait(50);
  return pages;
}

const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };

test.skipIf(header.glibcVersionRuntime === undefined)(
  'memory of output that was sent serves the output that follows (glibc)',
  async () => {
    // Takes the gaps in glibc's heap, so that what follows lies at its end, where memory is given back.
    const held = chunksOf(2 * roundBytes);
    for (let round = 0; round < 5; round++) await pagesOfRound();
    const rounds: number[] = [];
    for (let round = 0; round < 5; round++) rounds.push(await pagesOfRound());
    expect(median(rounds)).toBeLessThan(roundBytes / pageBytes / 10);
    expect(held.length).toBeGreaterThan(0);
  },
);
