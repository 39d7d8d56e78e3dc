import { readFile, writeFile } from 'node:fs/promises';

/** The generated part of a document has no markers, or they are in the wrong order. */
export class MarkerError extends Error {
  readonly code = 'EMARKERS';

  constructor(name: string, file: string) {
    super(
      `${file} has no lines '<!-- begin ${name} -->' and '<!-- end ${name} -->', in this order and once.`,
    );
    this.name = 'MarkerError';
  }
}

/**
 * Replaces what stands between `<!-- begin NAME -->` and `<!-- end NAME -->`, so that figures and tables in the
 * docs are written by the code that knows them and nothing else of the document changes.
 *
 * @throws MarkerError
 */
export function replaceBetweenMarkers(
  text: string,
  name: string,
  content: string,
  file = 'The text',
): string {
  const [begin, end] = [`<!-- begin ${name} -->`, `<!-- end ${name} -->`];
  const [before, rest, extra] = text.split(begin);
  const parts = rest?.split(end);
  if (before === undefined || parts?.length !== 2 || extra !== undefined) throw new MarkerError(name, file);
  return `${before}${begin}\n\n${content.trim()}\n\n${end}${parts[1]}`;
}

/**
 * Does so in a file.
 *
 * @returns whether the file changed.
 * @throws MarkerError
 */
export async function writeBetweenMarkers(file: string, name: string, content: string): Promise<boolean> {
  const before = await readFile(file, 'utf8');
  const after = replaceBetweenMarkers(before, name, content, file);
  if (after !== before) await writeFile(file, after);
  return after !== before;
}
