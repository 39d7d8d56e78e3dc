import { aggregateNames, windowNames } from './bind-aggregate.js';
import { functionNames } from './functions.js';
import { refusedMarkdown, supportedMarkdown } from './support.js';
import { viewNames } from './system-views.js';

/** Lines of the two Markdown tables of the documentation: what T-SQL this server runs, and what it refuses. */
export function supportTables(): { readonly supported: string[]; readonly refused: string[] } {
  const functions = [...functionNames(), ...aggregateNames, ...windowNames].filter(
    (name) => name !== 'DEFAULT',
  );
  return { supported: supportedMarkdown(functions.sort(), viewNames()), refused: refusedMarkdown() };
}
