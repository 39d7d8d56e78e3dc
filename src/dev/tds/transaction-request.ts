import type { ByteReader } from './byte-reader.js';
import type { EngineSession } from './engine.js';
import { ProtocolError } from './protocol-error.js';

type Kind = Parameters<EngineSession['transaction']>[0];

/** Request types of the transaction manager (MS-TDS 2.2.6.9); those of distributed transactions are refused. */
const kinds: Record<number, Kind> = { 5: 'begin', 7: 'commit', 8: 'rollback', 9: 'save' };

/** What is asked, in order: a commit or rollback may begin the next transaction at once. */
export function readTransactionRequest(reader: ByteReader): (readonly [Kind, string])[] {
  const type = reader.u16();
  const kind = kinds[type];
  if (!kind) throw new ProtocolError(`The transaction manager request ${type} is not known.`);
  // The isolation level is not used: there is one lock for all.
  if (kind === 'begin') reader.u8();
  const requests: (readonly [Kind, string])[] = [[kind, name(reader)]];
  if ((kind === 'commit' || kind === 'rollback') && reader.left > 0 && (reader.u8() & 1) !== 0) {
    reader.u8();
    requests.push(['begin', name(reader)]);
  }
  return requests;
}

/** A length in bytes, unlike other short texts. */
const name = (reader: ByteReader): string => reader.take(reader.u8()).toString('utf16le');
