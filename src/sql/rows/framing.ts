import type { ColumnInfo, RowWriter } from '../types.js';
import { type FixedText, fixedText } from './json-output.js';

interface RowFraming {
  /** Before each column's value. */
  readonly prefixes: readonly FixedText[];
  /** Instead of prefix and value where the value is NULL. */
  readonly nulls: readonly FixedText[];
}

/** All that a writer puts around the values of a recordset. */
export interface Framing {
  readonly open: FixedText;
  readonly first: RowFraming;
  /** Of all rows but the first, with what separates them from the one before. */
  readonly next: RowFraming;
  /** Around a row that is text already: what separates it from the one before, and what comes after its `}`. */
  readonly separator: FixedText;
  readonly afterRow: FixedText;
  readonly rowEnd: FixedText;
  readonly close: FixedText;
}

/** Recordsets of as many shapes as an app has commands; more than that are shapes that do not come again. */
const mostShapes = 200;
const known = new WeakMap<RowWriter, Map<string, Framing>>();

function rowFraming(prefixes: readonly string[]): RowFraming {
  return {
    prefixes: prefixes.map(fixedText),
    nulls: prefixes.map((prefix) => fixedText(`${prefix}null`)),
  };
}

function makeFraming(columns: readonly ColumnInfo[], writer: RowWriter): Framing {
  const prefixes = writer.columnPrefixes(columns);
  return {
    open: fixedText(writer.open),
    first: rowFraming(prefixes),
    next: rowFraming(prefixes.map((prefix, index) => (index === 0 ? writer.separator + prefix : prefix))),
    separator: fixedText(writer.separator),
    afterRow: fixedText(writer.rowEnd.slice(1)),
    rowEnd: fixedText(writer.rowEnd),
    close: fixedText(writer.close),
  };
}

/** Made once for each shape of recordset: for a few rows it would cost more than the rows. */
export function framingOf(columns: readonly ColumnInfo[], writer: RowWriter): Framing {
  const shapes = known.get(writer) ?? new Map<string, Framing>();
  known.set(writer, shapes);
  const key = columns.map(({ name }) => `${name.length}:${name}`).join();
  const found = shapes.get(key);
  if (found !== undefined) return found;
  const framing = makeFraming(columns, writer);
  if (shapes.size >= mostShapes) shapes.clear();
  shapes.set(key, framing);
  return framing;
}
