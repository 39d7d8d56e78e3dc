/** The tokens of a response message, taken apart. Not for text, ntext and image, which have text pointers. */

import type { SqlValue } from '../../src/dev/sql-engine.js';
import { ByteReader } from '../../src/dev/tds/bytes.js';
import { type Codec, readTypeInfo } from '../../src/dev/tds/types.js';

export type Token =
  | {
      readonly kind: 'done' | 'doneProc' | 'doneInProc';
      readonly status: number;
      readonly command: number;
      readonly count: number;
    }
  | { readonly kind: 'returnStatus'; readonly value: number }
  | {
      readonly kind: 'returnValue';
      readonly ordinal: number;
      readonly name: string;
      readonly value: SqlValue;
    }
  | { readonly kind: 'columns'; readonly names: readonly string[] }
  | { readonly kind: 'row' | 'nbcRow'; readonly values: readonly SqlValue[] }
  | { readonly kind: 'message'; readonly number: number; readonly class: number; readonly text: string }
  | { readonly kind: 'change'; readonly type: number; readonly content: Buffer }
  | { readonly kind: 'loginAck' };

const doneKinds: Record<number, 'done' | 'doneProc' | 'doneInProc'> = {
  253: 'done',
  254: 'doneProc',
  255: 'doneInProc',
};

/** Throws where the bytes are no whole tokens. */
export function tokensOf(payload: Buffer): Token[] {
  const reader = new ByteReader(payload);
  const tokens: Token[] = [];
  let codecs: readonly Codec[] = [];
  while (reader.left > 0) tokens.push(readToken());
  return tokens;

  function readToken(): Token {
    const type = reader.u8();
    const done = doneKinds[type];
    if (done) {
      return { kind: done, status: reader.u16(), command: reader.u16(), count: Number(reader.i64()) };
    }
    switch (type) {
      case 0x79:
        return { kind: 'returnStatus', value: reader.int(4) };
      case 0x81: {
        const columns = Array.from({ length: reader.u16() }, () => {
          reader.skip(6);
          return { codec: readTypeInfo(reader), name: reader.shortText() };
        });
        codecs = columns.map(({ codec }) => codec);
        return { kind: 'columns', names: columns.map(({ name }) => name) };
      }
      case 0xd1:
        return { kind: 'row', values: codecs.map((codec) => codec.read(reader)) };
      case 0xd2: {
        const bitmap = reader.take((codecs.length + 7) >> 3);
        const isNull = (index: number) => (bitmap[index >> 3]! & (1 << (index & 7))) !== 0;
        const values = codecs.map((codec, index) => (isNull(index) ? null : codec.read(reader)));
        return { kind: 'nbcRow', values };
      }
      case 0xac: {
        const ordinal = reader.u16();
        const name = reader.shortText();
        reader.skip(7);
        return { kind: 'returnValue', ordinal, name, value: readTypeInfo(reader).read(reader) };
      }
      case 0xaa:
      case 0xab: {
        const content = new ByteReader(reader.take(reader.u16()));
        const number = content.u32();
        content.u8();
        return { kind: 'message', number, class: content.u8(), text: content.utf16(content.u16()) };
      }
      case 0xe3: {
        const content = reader.take(reader.u16());
        return { kind: 'change', type: content[0]!, content: content.subarray(1) };
      }
      case 0xad:
        reader.take(reader.u16());
        return { kind: 'loginAck' };
      default:
        throw new Error(`An unknown token 0x${type.toString(16)} at ${reader.at - 1}.`);
    }
  }
}
