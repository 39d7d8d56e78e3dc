import type { Column, SqlType, SqlValue } from '../sql-engine.js';
import type { BuiltInProcedure } from '../tsql/database.js';

interface Mix {
  readonly columns: readonly Column[];
  /** The nth row, from 1. */
  readonly row: (n: number) => readonly SqlValue[];
}

const column = (name: string, type: SqlType, nullable = false): Column => ({ name, type, nullable });
const nvarchar = (length: number): SqlType => ({ name: 'nvarchar', length });
const firstDay = 738_000;
const ticksPerDay = 864_000_000_000n;

const strings: Mix = {
  columns: [
    column('Id', { name: 'int' }),
    column('Name', nvarchar(100)),
    column('Url', nvarchar(200)),
    column('Author', nvarchar(50), true),
    column('Code', { name: 'varchar', length: 20 }),
    column('Rating', { name: 'int' }),
  ],
  row: (n) => [
    n,
    `Reading rows, part ${n}`,
    `https://blogs.example.com/2026/reading-rows-part-${n}`,
    n % 5 === 0 ? null : 'Zoë Müller',
    `B-${String(n).padStart(6, '0')}`,
    n % 6,
  ],
};

const numbers: Mix = {
  columns: [
    column('Id', { name: 'int' }),
    column('Big', { name: 'bigint' }),
    column('Price', { name: 'decimal', precision: 18, scale: 4 }),
    column('Ratio', { name: 'float' }, true),
    column('Created', { name: 'datetime2', scale: 7 }),
    column('Day', { name: 'date' }, true),
  ],
  row: (n) => [
    n,
    9_007_199_254_740_993n + BigInt(n),
    BigInt(n) * 12_345n,
    n % 5 === 0 ? null : n / 7,
    BigInt(firstDay + n) * ticksPerDay + 372_301_234_567n,
    n % 7 === 0 ? null : firstDay + n,
  ],
};

const mixes = new Map<SqlValue, Mix>([
  ['strings', strings],
  ['numbers', numbers],
]);

/** Rows that repeat. Those of a text are about 32 KB: whole packets, and short enough to pause between. */
const distinctRows = 256;

/**
 * `dev.replay @rows int = 1000000, @mix varchar(7) = 'strings' | 'numbers'`: rows of six columns that are encoded once
 * and repeat, for measurements in which the server must not be the limit.
 */
export const replayProcedure: BuiltInProcedure = ({ rows, mix, ...others }) => {
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw new Error(`dev.replay has no parameter @${unknown}; it has @rows and @mix.`);
  const count = Number(rows ?? 1_000_000);
  if (!Number.isSafeInteger(count) || count < 0)
    throw new Error(`@rows must be a whole number; it is '${rows}'.`);
  const found = mixes.get(String(mix ?? 'strings').toLowerCase());
  if (!found) throw new Error(`@mix must be 'strings' or 'numbers'; it is '${mix}'.`);
  const distinct = Array.from({ length: distinctRows }, (_, index) => found.row(index + 1));
  return { columns: found.columns, rows: distinct, count };
};
