import type { FormatOptions, RowValue } from '../types.js';
import type { JsonOutput } from './json-output.js';

/** Both ways out of a value that a layout located, so that there is one matrix of types. Never called for NULL. */
export interface Codec {
  json(source: Buffer, start: number, length: number, out: JsonOutput): void;
  value(source: Buffer, start: number, length: number): RowValue;
}

export type ResolvedFormats = Required<FormatOptions>;
