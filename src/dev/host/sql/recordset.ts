/** The types that need a rule of their own when they become JSON; all others are what their JavaScript value is. */
export type RawType = 'bigint' | 'decimal' | 'real' | 'time' | 'uniqueidentifier' | 'other';

/** A recordset as the driver gave it, in plain data that can go to another thread. */
export interface RawRecordset {
  /** As the server sent them; empty for an expression without a name. */
  readonly names: readonly string[];
  readonly types: readonly RawType[];
  /** bigint: digits; time: 100 ns units since midnight; dates: Date in UTC; binary: Uint8Array. */
  readonly rows: readonly (readonly RawValue[])[];
}

export type RawValue = null | undefined | boolean | number | string | Date | Uint8Array;
