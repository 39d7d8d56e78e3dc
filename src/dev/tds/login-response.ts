import { collationOf } from './collations.js';
import type { EngineSession, ServerMessage } from './engine.js';
import { feature, type Login7 } from './login7.js';
import type { MessageWriter } from './message-writer.js';
import { packetSizes } from './packets.js';
import { serverVersion } from './prelogin.js';
import {
  doneStatus,
  envChange,
  tokenType,
  writeBinaryChange,
  writeDone,
  writeLoginAck,
  writeMessage,
  writeTextChange,
} from './tokens.js';

/** MS-TDS 2.2.7.14: 7.4, and the oldest whose types and tokens are the same but for what is left out. */
export const tdsVersion = { newest: 0x7400_0004, compressedRows: 0x730b_0003, oldest: 0x730a_0003 } as const;

/** Says what it is, and still has the words by which clients tell SQL Server from Sybase. */
const program = 'Embedded server, not Microsoft SQL Server';

/** TLS records take 16 KB at most, so SQL Server sends no larger packets through it. */
export function packetSizeFor(login: Login7, isEncrypted: boolean): number {
  const wished = login.packetSize || packetSizes.initial;
  const largest = isEncrypted ? 16_384 : packetSizes.largest;
  return Math.min(largest, Math.max(packetSizes.smallest, wished));
}

export function writeLogin(
  out: MessageWriter,
  login: Login7,
  session: EngineSession,
  packetSize: number,
  serverName: string,
): void {
  const { tokens } = out;
  const inform = (number: number, state: number, message: string): void =>
    writeMessage(tokens, { number, state, class: 0, message, line: 1 }, serverName);
  writeTextChange(tokens, envChange.database, session.database, 'master');
  inform(5701, 2, `Changed database context to '${session.database}'.`);
  writeBinaryChange(tokens, envChange.collation, collationOf().bytes, new Uint8Array(0));
  writeTextChange(tokens, envChange.language, 'us_english', '');
  inform(5703, 1, 'Changed language setting to us_english.');
  writeLoginAck(tokens, Math.min(login.tdsVersion, tdsVersion.newest), program, serverVersion);
  writeTextChange(tokens, envChange.packetSize, String(packetSize), String(packetSizes.initial));
  if (login.features.length > 0) {
    tokens.u8(tokenType.featureExtAck);
    if (login.features.includes(feature.utf8)) {
      tokens.u8(feature.utf8);
      tokens.u32(1);
      tokens.u8(1);
    }
    tokens.u8(feature.terminator);
  }
  writeDone(tokens, tokenType.done, 0);
  out.end();
}

export function writeLoginRefusal(out: MessageWriter, refusal: ServerMessage, serverName: string): void {
  writeMessage(out.tokens, refusal, serverName);
  writeDone(out.tokens, tokenType.done, doneStatus.error);
  out.end();
}

/** Why a login is refused before the engine is asked. */
export function unsupportedLogin(login: Login7): ServerMessage | undefined {
  const refuse = (what: string): ServerMessage => ({
    number: 18456,
    state: 1,
    class: 14,
    message: `Login failed for user '${login.user}'. ${what} is not supported by the embedded server.`,
    line: 1,
  });
  if (login.tdsVersion < tdsVersion.oldest) {
    return refuse(`TDS version 0x${login.tdsVersion.toString(16)} (older than 7.3)`);
  }
  if (login.refused === 'integrated') return refuse('Windows authentication');
  if (login.refused === 'federated') return refuse('Microsoft Entra authentication');
  if (login.refused) return refuse('A change of the password');
  return undefined;
}
