import type { RowValue, TypeName } from '../../../sql/index.js';

/** A recordset in plain data that can go to another thread. */
export interface RawRecordset {
  /** Unique, as a DataTable makes them. */
  readonly names: readonly string[];
  readonly types: readonly TypeName[];
  /** As `sqlStream` gives them, decimals as numbers; after a change of threads, binary is a Uint8Array. */
  readonly rows: readonly (readonly RowValue[])[];
}
