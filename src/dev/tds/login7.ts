import { ByteReader } from './byte-reader.js';
import type { Login } from './engine.js';
import { ProtocolError } from './protocol-error.js';

/** What LOGIN7 says (MS-TDS 2.2.6.4) beyond what the engine gets to see. */
export interface Login7 extends Omit<Login, 'clientAddress'> {
  readonly tdsVersion: number;
  /** As the client wishes; 0 leaves it to the server. */
  readonly packetSize: number;
  /** Ids of the requested features (FEATUREEXT). */
  readonly features: readonly number[];
  /** Windows, Entra or a changed password: ways of login that are not offered here. */
  readonly refused?: 'integrated' | 'federated' | 'password change';
}

const at = { options2: 25, typeFlags: 26, options3: 27 } as const;
const field = {
  hostName: 36,
  user: 40,
  password: 44,
  applicationName: 48,
  extension: 56,
  libraryName: 60,
  database: 68,
  changePassword: 86,
} as const;
const fixedLength = 94;
export const feature = { federated: 2, utf8: 10, terminator: 0xff } as const;

export function readLogin7(data: Buffer): Login7 {
  if (data.length < fixedLength || data.readUInt32LE(0) !== data.length) {
    throw new ProtocolError('LOGIN7 has not the length that it says.');
  }
  // The place of an empty field may be anything.
  const text = (position: number): string => {
    const length = data.readUInt16LE(position + 2);
    return length === 0 ? '' : new ByteReader(data, data.readUInt16LE(position)).utf16(length);
  };
  const features = (data[at.options3]! & 0x10) !== 0 ? readFeatures(data) : [];
  const refused =
    (data[at.options2]! & 0x80) !== 0
      ? 'integrated'
      : features.includes(feature.federated)
        ? 'federated'
        : data.readUInt16LE(field.changePassword + 2) > 0
          ? 'password change'
          : undefined;
  return {
    tdsVersion: data.readUInt32LE(4),
    packetSize: data.readUInt32LE(8),
    hostName: text(field.hostName),
    user: text(field.user),
    password: readPassword(data),
    applicationName: text(field.applicationName),
    libraryName: text(field.libraryName),
    database: text(field.database),
    readOnlyIntent: (data[at.typeFlags]! & 0x20) !== 0,
    features,
    ...(refused && { refused }),
  };
}

/** Each byte is XORed with 0xA5, then its halves are swapped. */
function readPassword(data: Buffer): string {
  const length = data.readUInt16LE(field.password + 2);
  if (length === 0) return '';
  const hidden = new ByteReader(data, data.readUInt16LE(field.password)).take(2 * length);
  const plain = hidden.map((byte) => (((byte ^ 0xa5) << 4) | ((byte ^ 0xa5) >> 4)) & 0xff);
  return Buffer.from(plain).toString('utf16le');
}

function readFeatures(data: Buffer): number[] {
  const reader = new ByteReader(data, new ByteReader(data, data.readUInt16LE(field.extension)).u32());
  const features: number[] = [];
  for (let id = reader.u8(); id !== feature.terminator; id = reader.u8()) {
    features.push(id);
    reader.skip(reader.u32());
  }
  return features;
}
