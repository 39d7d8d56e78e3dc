/** What goes wrong at the server, in the form of its option --faults. */

const kinds = [
  // Retried: nobody should notice.
  { at: 'start', action: 'error', number: 1205 },
  { at: 'start', action: 'delay', delayMs: 700 },
  // Never retried: a plain status.
  { at: 'start', action: 'error', number: 50_000 },
  { at: 'start', action: 'reset' },
  { at: 'start', action: 'silence' },
  // Amid the rows: a broken body.
  { at: 'rows', rows: 300, action: 'error', number: 50_000 },
  { at: 'rows', rows: 300, action: 'reset' },
  { at: 'rows', rows: 300, action: 'delay', delayMs: 700 },
] as const;

/** Faults of all kinds that meet `share` of the requests in all, 0 to 1; set-up and other tables are spared. */
export function soakFaults(share: number): object[] {
  return kinds.map((kind) => ({ ...kind, sql: 'from dbo.SoakRows', probability: share / kinds.length }));
}
