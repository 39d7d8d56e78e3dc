import { dataTableJson } from './data-table.js';
import type { RawRecordset } from './recordset.js';

/** What a thread runs for the binding: `read` stands still until the rows are there. */
export function readDataTable(read: () => unknown): string {
  return dataTableJson(read() as RawRecordset | undefined);
}
