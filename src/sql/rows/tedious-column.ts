/** A column as tedious parses COLMETADATA (MS-TDS 2.2.7.4). */
export interface TediousColumn {
  readonly colName: string;
  readonly userType: number;
  readonly flags: number;
  readonly type: { readonly id: number };
  readonly dataLength?: number | undefined;
  readonly precision?: number | undefined;
  readonly scale?: number | undefined;
  readonly collation?: { readonly codepage?: string | undefined } | undefined;
}
