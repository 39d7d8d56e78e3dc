import type { EngineSession, Login, ServerMessage } from '../sql-engine.js';
import { collationOf } from '../text/collations.js';
import { ByteReader, ProtocolError } from './bytes.js';
import { packetSizes } from './packets.js';
import { serverVersion } from './prelogin.js';
import type { WireSession } from './response.js';
import { doneStatus, tokenType, writeChange, writeDone, writeMessage, writeSized } from './tokens.js';

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
  interfaceName: 60,
  database: 68,
  changePassword: 86,
} as const;
const fixedLength = 94;
const feature = { federated: 2, utf8: 10, terminator: 0xff } as const;

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
    interfaceName: text(field.interfaceName),
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

/** MS-TDS 2.2.7.14: 7.4, and the oldest whose types and tokens are the same but for what is left out. */
export const tdsVersion = { newest: 0x7400_0004, compressedRows: 0x730b_0003, oldest: 0x730a_0003 } as const;

/** Says what it is, and still has the words by which clients tell SQL Server from Sybase. */
const program = 'Embedded server, not Microsoft SQL Server';

/** TLS records take 16 KB at most, so SQL Server sends no larger packets through it. */
export function packetSizeFor(login: Login7, isEncrypted: boolean): number {
  const largest = isEncrypted ? 16_384 : packetSizes.largest;
  return Math.min(largest, Math.max(packetSizes.smallest, login.packetSize || packetSizes.initial));
}

export function writeLogin(
  { out, serverName }: WireSession,
  login: Login7,
  session: EngineSession,
  packetSize: number,
): void {
  const { tokens } = out;
  const inform = (number: number, state: number, message: string): void =>
    writeMessage(tokens, { number, state, class: 0, message, line: 1 }, serverName);
  writeChange(tokens, 'database', session.database, 'master');
  inform(5701, 2, `Changed database context to '${session.database}'.`);
  writeChange(tokens, 'collation', collationOf().bytes);
  writeChange(tokens, 'language', 'us_english');
  inform(5703, 1, 'Changed language setting to us_english.');
  writeSized(tokens, tokenType.loginAck, () => {
    tokens.u8(1);
    const version = Buffer.alloc(4);
    // The only number in TDS that has its first byte first.
    version.writeUInt32BE(Math.min(login.tdsVersion, tdsVersion.newest));
    tokens.bytes(version);
    tokens.shortText(program);
    tokens.bytes(Uint8Array.from(serverVersion));
  });
  writeChange(tokens, 'packetSize', String(packetSize), String(packetSizes.initial));
  if (login.features.length > 0) {
    const { utf8, terminator } = feature;
    const acknowledged = login.features.includes(utf8) ? [utf8, 1, 0, 0, 0, 1] : [];
    tokens.bytes(Uint8Array.of(tokenType.featureExtAck, ...acknowledged, terminator));
  }
  writeDone(tokens, {});
  out.end();
}

export function writeLoginRefusal({ out, serverName }: WireSession, refusal: ServerMessage): void {
  writeMessage(out.tokens, refusal, serverName);
  writeDone(out.tokens, { status: doneStatus.error });
  out.end();
}

/** Why a login is refused before the engine is asked. */
export function unsupportedLogin(login: Login7): ServerMessage | undefined {
  const isOld = login.tdsVersion < tdsVersion.oldest;
  const what = isOld ? `TDS version 0x${login.tdsVersion.toString(16)} (older than 7.3)` : login.unsupported;
  if (what === undefined) return undefined;
  const message = `Login failed for user '${login.user}'. ${what} is not supported by the embedded server.`;
  return { number: 18456, state: 1, class: 14, message, line: 1 };
}
