import { ByteReader, ProtocolError } from './bytes.js';
import type { Login } from './engine.js';

/** What LOGIN7 says (MS-TDS 2.2.6.4) beyond what the engine gets to see. */
export interface Login7 extends Omit<Login, 'clientAddress'> {
  readonly tdsVersion: number;
  /** As the client wishes; 0 leaves it to the server. */
  readonly packetSize: number;
  /** Ids of the requested features (FEATUREEXT). */
  readonly features: readonly number[];
  /** The name of a way of login that is not offered here. */
  readonly unsupported?: string;
}

const flag = {
  integrated: { at: 25, bit: 0x80 },
  readOnlyIntent: { at: 26, bit: 0x20 },
  extension: { at: 27, bit: 0x10 },
} as const;
/** Where offset and length of the texts stand. */
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

/** Throws a ProtocolError. */
export function readLogin7(data: Buffer): Login7 {
  if (data.length < fixedLength || data.readUInt32LE(0) !== data.length) {
    throw new ProtocolError('LOGIN7 has not the length that it says.');
  }
  const has = ({ at, bit }: { at: number; bit: number }): boolean => (data[at]! & bit) !== 0;
  const lengthOf = (position: number): number => data.readUInt16LE(position + 2);
  const bytes = (position: number): Buffer => {
    const length = 2 * lengthOf(position);
    // The place of an empty field may be anything.
    return new ByteReader(data, length === 0 ? 0 : data.readUInt16LE(position)).take(length);
  };
  const text = (position: number): string => bytes(position).toString('utf16le');
  // Each byte is XORed with 0xA5, then its halves are swapped.
  const password = bytes(field.password).map((byte) => (((byte ^ 0xa5) << 4) | ((byte ^ 0xa5) >> 4)) & 0xff);
  const features = has(flag.extension) ? readFeatures(data) : [];
  const unsupported = has(flag.integrated)
    ? 'Windows authentication'
    : features.includes(feature.federated)
      ? 'Microsoft Entra authentication'
      : lengthOf(field.changePassword) > 0
        ? 'A change of the password'
        : undefined;
  return {
    tdsVersion: data.readUInt32LE(4),
    packetSize: data.readUInt32LE(8),
    hostName: text(field.hostName),
    user: text(field.user),
    password: Buffer.from(password).toString('utf16le'),
    applicationName: text(field.applicationName),
    libraryName: text(field.libraryName),
    database: text(field.database),
    readOnlyIntent: has(flag.readOnlyIntent),
    features,
    ...(unsupported && { unsupported }),
  };
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
