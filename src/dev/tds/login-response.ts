import { collationOf } from './collations.js';
import type { EngineSession, ServerMessage } from './engine.js';
import { feature, type Login7 } from './login7.js';
import { packetSizes } from './packets.js';
import { serverVersion } from './prelogin.js';
import type { WireSession } from './response.js';
import { doneStatus, tokenType, writeChange, writeDone, writeLoginAck, writeMessage } from './tokens.js';

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
  writeLoginAck(tokens, Math.min(login.tdsVersion, tdsVersion.newest), program, serverVersion);
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
