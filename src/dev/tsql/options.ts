import { fail, refuse } from './errors.js';
import type { Session } from './session.js';

/** Options whose other value would change results, and the values that are as this server works. */
const fixed: Readonly<Record<string, readonly string[]>> = {
  ANSI_NULLS: ['ON'],
  ANSI_PADDING: ['ON'],
  ANSI_WARNINGS: ['ON'],
  ANSI_DEFAULTS: ['ON'],
  CONCAT_NULL_YIELDS_NULL: ['ON'],
  QUOTED_IDENTIFIER: ['ON'],
  ANSI_NULL_DFLT_ON: ['ON'],
  ANSI_NULL_DFLT_OFF: ['OFF'],
  NUMERIC_ROUNDABORT: ['OFF'],
  IMPLICIT_TRANSACTIONS: ['OFF'],
  ROWCOUNT: ['0'],
  FMTONLY: ['OFF'],
  NOEXEC: ['OFF'],
  PARSEONLY: ['OFF'],
  SHOWPLAN_ALL: ['OFF'],
  SHOWPLAN_TEXT: ['OFF'],
  SHOWPLAN_XML: ['OFF'],
  DATEFORMAT: ['MDY', 'mdy'],
  DATEFIRST: ['7'],
  LANGUAGE: ['us_english', 'US_ENGLISH', 'English', 'ENGLISH'],
  FORCEPLAN: ['OFF'],
};
/** Options without any effect here, whatever their value. ARITHABORT is implied by ANSI_WARNINGS. */
const ignored = new Set([
  'ARITHABORT',
  'ARITHIGNORE',
  'CURSOR_CLOSE_ON_COMMIT',
  'TEXTSIZE',
  'TRANSACTION ISOLATION LEVEL',
  'DEADLOCK_PRIORITY',
  'QUERY_GOVERNOR_COST_LIMIT',
  'STATISTICS',
]);

export function applyOption(names: readonly string[], value: string, session: Session): void {
  const { options } = session;
  if (names[0] === 'IDENTITY_INSERT') {
    const table = names[1]!.toLowerCase();
    if (value === 'ON') {
      if (options.identityInsert && options.identityInsert !== table)
        fail(8107, options.identityInsert, names[1]!);
      options.identityInsert = table;
    } else if (options.identityInsert === table) options.identityInsert = undefined;
    return;
  }
  for (const name of names) {
    if (name === 'NOCOUNT') options.noCount = onOff(value);
    else if (name === 'XACT_ABORT') options.xactAbort = onOff(value);
    else if (name === 'LOCK_TIMEOUT')
      options.lockTimeout = Number.isInteger(Number(value)) ? Number(value) : fail(102, value);
    else if (name in fixed) {
      if (!fixed[name]!.includes(value)) refuse(`SET ${name} ${value}`);
    } else if (!ignored.has(name)) fail(195, name);
  }
}

function onOff(value: string): boolean {
  if (value !== 'ON' && value !== 'OFF') fail(102, value);
  return value === 'ON';
}
