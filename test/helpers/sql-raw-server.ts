/**
 * A TDS server that says exactly the bytes it is told to: for cuts at any byte, values no engine would make, and misbehaviour. It knows enough of PRELOGIN and
 * LOGIN7 to let a client in.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

export interface RawRequest {
  /** 1 SQL batch, 3 RPC, 6 attention (MS-TDS 2.2.3.1.1). */
  readonly type: number;
  /** Text of a batch; empty for an RPC. */
  readonly text: string;
  readonly data: Buffer;
  readonly reset: boolean;
}

export type Respond = (request: RawRequest, session: RawSession) => void | Promise<void>;

const packetStatus = { endOfMessage: 1, ignore: 2, reset: 8 };

export function done(rows = 0, status = rows > 0 ? 0x10 : 0): Buffer {
  const token = Buffer.alloc(13);
  token[0] = 0xfd;
  token.writeUInt16LE(status, 1);
  token.writeUInt16LE(0xc1, 3);
  token.writeBigUInt64LE(BigInt(rows), 5);
  return token;
}

export const attentionAcknowledged = done(0, 0x20);

function usVarChar(text: string): Buffer {
  return Buffer.concat([Buffer.from(Uint16Array.of(text.length).buffer), Buffer.from(text, 'utf16le')]);
}

function bVarChar(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'utf16le')]);
}

function withLength(type: number, body: Buffer): Buffer {
  const header = Buffer.from([type, body.length & 0xff, body.length >> 8]);
  return Buffer.concat([header, body]);
}

export function errorToken(number: number, message: string, severity = 16, state = 1): Buffer {
  const fixed = Buffer.alloc(6);
  fixed.writeInt32LE(number);
  fixed[4] = state;
  fixed[5] = severity;
  const line = Buffer.alloc(4);
  line.writeUInt32LE(7);
  return withLength(
    0xaa,
    Buffer.concat([fixed, usVarChar(message), bVarChar('raw'), bVarChar('dbo.Proc'), line]),
  );
}

export interface RawColumn {
  readonly name: string;
  /** Type byte and the rest of TYPE_INFO. */
  readonly typeInfo: Buffer;
  readonly nullable?: boolean;
  readonly userType?: number;
}

export function colMetadata(columns: readonly RawColumn[]): Buffer {
  const count = Buffer.alloc(3);
  count[0] = 0x81;
  count.writeUInt16LE(columns.length, 1);
  const parts = columns.map(({ name, typeInfo, nullable = true, userType = 0 }) => {
    const head = Buffer.alloc(6);
    head.writeUInt32LE(userType);
    head.writeUInt16LE(nullable ? 1 : 0, 4);
    // text, ntext and image name their table.
    const table = [0x22, 0x23, 0x63].includes(typeInfo[0]!)
      ? Buffer.concat([Buffer.from([1]), usVarChar('t')])
      : Buffer.alloc(0);
    return Buffer.concat([head, typeInfo, table, bVarChar(name)]);
  });
  return Buffer.concat([count, ...parts]);
}

export function row(...values: Buffer[]): Buffer {
  return Buffer.concat([Buffer.from([0xd1]), ...values]);
}

/** Values that are undefined are NULL in the bitmap. */
export function nbcRow(...values: (Buffer | undefined)[]): Buffer {
  const bitmap = Buffer.alloc((values.length + 7) >> 3);
  values.forEach((value, index) => {
    if (value === undefined) bitmap[index >> 3]! |= 1 << (index & 7);
  });
  const present = values.filter((value) => value !== undefined);
  return Buffer.concat([Buffer.from([0xd2]), bitmap, ...present]);
}

/** LOGINACK, what else a login is answered, and DONE. */
function loginAnswer(...more: Buffer[]): Buffer {
  const ack = Buffer.concat([Buffer.from([1, 0x74, 0, 0, 4]), bVarChar('raw'), Buffer.from([15, 0, 0, 0])]);
  return Buffer.concat([withLength(0xad, ack), ...more, done()]);
}

/** FEATUREEXTACK of FEDAUTH without data (MS-TDS 2.2.7.11). */
export const tokenLoginAnswer = loginAnswer(Buffer.from([0xae, 2, 0, 0, 0, 0, 0xff]));

/** FEDAUTHINFO (MS-TDS 2.2.7.12): where a client gets a token, and for what. */
export function fedAuthInfo(stsUrl: string, spn: string): Buffer {
  const texts = [stsUrl, spn].map((text) => Buffer.from(text, 'utf16le'));
  const head = Buffer.alloc(4 + 2 * 9);
  head.writeUInt32LE(2);
  let at = head.length;
  for (const [index, text] of texts.entries()) {
    const entry = 4 + index * 9;
    head[entry] = index + 1;
    head.writeUInt32LE(text.length, entry + 1);
    head.writeUInt32LE(at, entry + 5);
    at += text.length;
  }
  const length = Buffer.alloc(5);
  length[0] = 0xee;
  length.writeUInt32LE(at, 1);
  return Buffer.concat([length, head, ...texts]);
}

export class RawSession {
  readonly socket: Socket;
  readonly #server: RawServer;
  #buffer = Buffer.alloc(0);
  #message: Buffer[] = [];

  constructor(socket: Socket, server: RawServer) {
    this.socket = socket;
    this.#server = server;
    socket.on('error', () => {});
    socket.on('data', (chunk) => this.#receive(chunk));
  }

  /** One message of type 4, in packets of the sizes given; the last size repeats. Resolves when the socket takes more. */
  async send(tokens: Buffer, sizes: readonly number[] = [4_088], isLast = true): Promise<void> {
    let at = 0;
    let index = 0;
    do {
      const size = sizes[Math.min(index, sizes.length - 1)]!;
      const part = tokens.subarray(at, at + size);
      at += part.length;
      const end = at >= tokens.length && isLast;
      const header = Buffer.from([4, end ? packetStatus.endOfMessage : 0, 0, 0, 0, 0, ++index & 0xff, 0]);
      header.writeUInt16BE(part.length + 8, 2);
      if (this.socket.destroyed) return;
      if (!this.socket.write(Buffer.concat([header, part]))) {
        await this.#drained();
      }
    } while (at < tokens.length);
  }

  #drained(): Promise<void> {
    const { socket } = this;
    return new Promise((resolve) => {
      const settle = () => {
        socket.off('drain', settle);
        socket.off('close', settle);
        resolve();
      };
      socket.on('drain', settle);
      socket.on('close', settle);
    });
  }

  #receive(chunk: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, chunk]);
    while (this.#buffer.length >= 8) {
      const length = this.#buffer.readUInt16BE(2);
      if (this.#buffer.length < length) return;
      this.#server.longestPacket = Math.max(this.#server.longestPacket, length);
      const packet = this.#buffer.subarray(0, length);
      this.#buffer = this.#buffer.subarray(length);
      this.#message.push(packet.subarray(8));
      const status = packet[1]!;
      if ((status & packetStatus.endOfMessage) === 0) continue;
      const data = Buffer.concat(this.#message.splice(0));
      // Cancelled while it was being sent: the answer is a normal one (MS-TDS 2.2.1.7).
      if ((status & packetStatus.ignore) !== 0) {
        this.#server.ignored++;
        void this.send(done(0, 0x02));
        continue;
      }
      this.#dispatch(packet[0]!, data, (status & packetStatus.reset) !== 0);
    }
  }

  #dispatch(type: number, data: Buffer, reset: boolean): void {
    if (type === 0x12) {
      // VERSION and ENCRYPTION (2: not supported).
      const reply = Buffer.from('00000b000601001100 01ff 0f0000000000 02'.replaceAll(' ', ''), 'hex');
      void this.send(reply);
      return;
    }
    if (type === 0x10) {
      this.#server.logins.push(data);
      void this.#server.login(this);
      return;
    }
    if (type === 0x08) {
      void this.#server.token(data.subarray(8).toString('utf16le'), this);
      return;
    }
    const text = type === 1 ? data.subarray(data.readUInt32LE(0)).toString('utf16le') : '';
    const request = { type, text, data, reset };
    this.#server.requests.push(request);
    if (type === 1 && /^set (textsize|ansi_nulls)/.test(text)) void this.send(done());
    else void this.#server.respond(request, this);
  }
}

export class RawServer {
  readonly server: Server;
  readonly requests: RawRequest[] = [];
  readonly logins: Buffer[] = [];
  readonly sessions = new Set<RawSession>();
  /** Messages that ended with the IGNORE bit. */
  /** Bytes of the longest packet that came. */
  longestPacket = 0;
  ignored = 0;
  respond: Respond;
  /** Answers a LOGIN7; the default lets everyone in. */
  login: (session: RawSession) => void | Promise<void> = (session) => session.send(loginAnswer());
  /** Answers a token, which a client sends when `login` answers with `fedAuthInfo`. */
  token: (token: string, session: RawSession) => void | Promise<void> = (_token, session) =>
    session.send(tokenLoginAnswer);

  constructor(respond: Respond) {
    this.respond = respond;
    this.server = createServer({ noDelay: true }, (socket) => {
      const session = new RawSession(socket, this);
      this.sessions.add(session);
      socket.on('close', () => this.sessions.delete(session));
    });
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get connectionString(): string {
    return `Server=127.0.0.1,${this.port};User Id=sa;Password=x;Encrypt=false;Database=d`;
  }

  async listen(port = 0): Promise<this> {
    this.server.listen(port, '127.0.0.1');
    await once(this.server, 'listening');
    return this;
  }

  async close(): Promise<void> {
    for (const session of this.sessions) session.socket.destroy();
    this.server.close();
    await once(this.server, 'close').catch(() => {});
  }
}
