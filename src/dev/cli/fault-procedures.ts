import type { Faults } from '../faults/faults.js';
import type { BuiltInProcedure } from '../tsql/database.js';

/**
 * The procedures by which a session orders what shall go wrong:
 *
 * - `dev.fault_add @rule nvarchar(max)`: a rule as in the file of `--faults`, as JSON; gives a row with its Id
 * - `dev.fault_clear [@id int]`: takes back one rule, or all; gives a row with how many
 * - `dev.fault_list`: the rules that stand, with how often each will still strike
 */
export function faultProcedures(faults: Faults): Record<string, BuiltInProcedure> {
  return {
    'dev.fault_add': ({ rule }) => {
      if (typeof rule !== 'string') throw new Error('dev.fault_add takes @rule: a fault as JSON.');
      return numbers('Id', faults.add(parse(rule)));
    },
    'dev.fault_clear': ({ id }) => {
      if (id !== undefined && id !== null && typeof id !== 'number') {
        throw new Error('dev.fault_clear takes @id: the number that dev.fault_add gave.');
      }
      return numbers('Cleared', faults.clear(id ?? undefined));
    },
    'dev.fault_list': () => ({
      columns: [
        { name: 'Id', type: { name: 'int' }, nullable: false },
        { name: 'Rule', type: { name: 'nvarchar', length: 'max' }, nullable: false },
        { name: 'TimesLeft', type: { name: 'int' }, nullable: true },
      ],
      rows: faults
        .list()
        .map(({ id, rule, left }) => [id, JSON.stringify(rule), Number.isFinite(left) ? left : null]),
    }),
  };
}

function parse(rule: string): unknown {
  try {
    return JSON.parse(rule);
  } catch (cause) {
    throw new Error(`@rule of dev.fault_add is no JSON: ${(cause as Error).message}`, { cause });
  }
}

function numbers(name: string, value: number): ReturnType<BuiltInProcedure> {
  return { columns: [{ name, type: { name: 'int' }, nullable: false }], rows: [[value]] };
}
