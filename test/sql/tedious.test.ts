/** The contract with the installed tedious: what src/sql/tedious uses of it beyond its public API. An upgrade that changes it must fail here. */
import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { PassThrough } from 'node:stream';
import { Connection } from 'tedious';
import { expect, test } from 'vitest';
import { internals } from '../../src/sql/tedious/internals.js';
import { done, errorToken } from '../helpers/sql-raw-server.js';

const require = createRequire(import.meta.url);

test('the version is the one that was checked', () => {
  expect(require('tedious/package.json').version).toBe('19.2.2');
});

test('all internals are found', () => {
  expect(internals).toBeDefined();
});

test('a connection has the fields and methods that are replaced or set', () => {
  const connection = new Connection({ server: 'localhost' }) as unknown as Record<string, unknown>;
  expect(typeof connection['createTokenStreamParser']).toBe('function');
  expect(typeof connection['sendLogin7Packet']).toBe('function');
  // Declared only: it is read when a request is made, and the flag on the wire has a test of its own.
  expect(String(connection['makeRequest'])).toContain('resetConnection: this.resetConnectionOnNextRequest');
  expect(connection['inTransaction']).toBe(false);
  expect(connection).toHaveProperty('config.options');
  expect(connection).toHaveProperty('debug');
});

test('sending a request does what is done for one that fits a packet', () => {
  const connection = new Connection({ server: 'localhost' }) as unknown as Record<string, unknown>;
  expect(typeof connection['_cancelAfterRequestSent']).toBe('function');
  expect(connection).toHaveProperty('STATE.LOGGED_IN');
  expect(connection).toHaveProperty('STATE.SENT_CLIENT_REQUEST');
  // A change of what is set, called or listened to must be looked at: the same is done elsewhere.
  const steps = String(connection['makeRequest']).match(
    /this\.(?!debug)[\w.]+(?: = (?!message)\w+|\()|request\.\w+(?: = |\()|message\.once\('\w+'|new _\w+\.default/g,
  );
  expect(steps).toMatchInlineSnapshot(`
    [
      "request.callback(",
      "request.callback(",
      "this.isSqlBatch = true",
      "this.isSqlBatch = false",
      "this.request = request",
      "this.attentionSent = false",
      "request.connection = ",
      "request.rowCount = ",
      "request.rows = ",
      "request.rst = ",
      "request.resume(",
      "request.once(",
      "this.createRequestTimer(",
      "new _message.default",
      "this.messageIo.outgoingMessageStream.write(",
      "this.transitionTo(",
      "message.once('finish'",
      "request.removeListener(",
      "request.prependOnceListener(",
      "this.resetConnectionOnNextRequest = false",
    ]
  `);
});

test('bytes of a connection go through _transform of one stream, and what that pushes is a response', async () => {
  const MessageIo = require('tedious/lib/message-io') as new (
    socket: PassThrough,
    packetSize: number,
    debug: object,
  ) => {
    readonly socket: PassThrough;
    readonly incomingMessageStream: {
      _transform(chunk: Buffer, encoding: string, done: () => void): void;
      push(response: object): boolean;
    };
    readMessage(): Promise<unknown>;
  };
  const socket = new PassThrough();
  const io = new MessageIo(socket, 4_096, {});
  expect(io.socket).toBe(socket);
  const seen: Buffer[] = [];
  const response = {};
  io.incomingMessageStream._transform = (chunk, _encoding, done) => {
    seen.push(chunk);
    io.incomingMessageStream.push(response);
    done();
  };
  socket.write('bytes');
  expect(await io.readMessage()).toBe(response);
  expect(Buffer.concat(seen).toString()).toBe('bytes');
});

test("tedious's token stream emits end, passes tokens to the method that they name, and can be paused", async () => {
  const connection = new Connection({ server: 'localhost' }) as unknown as {
    createTokenStreamParser(
      message: PassThrough,
      handler: object,
    ): EventEmitter & { pause(): void; resume(): void };
  };
  const message = new PassThrough();
  const seen: unknown[] = [];
  const handler = {
    onErrorMessage: (token: { number: number }) => seen.push(token.number),
    onDone: (token: { attention: boolean; rowCount: number }) => seen.push(token.attention, token.rowCount),
  };
  const parser = connection.createTokenStreamParser(message, handler);
  expect(parser).toBeInstanceOf(EventEmitter);
  expect(typeof parser.pause).toBe('function');
  expect(typeof parser.resume).toBe('function');
  const ended = new Promise((resolve) => parser.once('end', resolve));
  message.end(Buffer.concat([errorToken(208, 'x'), done(3, 0x10)]));
  await ended;
  expect(seen).toEqual([208, false, 3]);
});

test('its parser of single tokens reads from `buffer` at `position`, and asks the iterator for more', async () => {
  const bytes = done(7, 0x10);
  const chunks = [bytes.subarray(5)];
  const source = {
    [Symbol.asyncIterator]: () => ({
      next: () => Promise.resolve({ done: false as const, value: chunks.shift()! }),
    }),
  };
  const options = { tdsVersion: '7_4' };
  const parser = new internals!.StreamParser(source, {}, options);
  parser.buffer = bytes.subarray(0, 5);
  parser.position = 1;
  const token = await parser.readToken(bytes[0]!);
  expect(token).toMatchObject({ handlerName: 'onDone', rowCount: 7 });
  expect(parser.position).toBe(parser.buffer.length);
});

test('COLMETADATA is parsed into the fields that decoders are made from', async () => {
  const bytes = Buffer.from(
    '810200' +
      '00000000' +
      '0900' +
      'e76400' +
      '0904d00000' +
      '0161006a'.slice(0, 6) +
      '00000000' +
      '0800' +
      '6a091302' +
      '016200',
    'hex',
  );
  const none = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('no more')) }) };
  const parser = new internals!.StreamParser(none as never, {}, { tdsVersion: '7_4' });
  parser.buffer = bytes;
  parser.position = 1;
  const token = await parser.readToken(0x81);
  expect(token.handlerName).toBe('onColMetadata');
  expect(token.columns).toMatchObject([
    { colName: 'a', flags: 9, dataLength: 100, type: { id: 0xe7 }, collation: { codepage: 'CP1252' } },
    { colName: 'b', flags: 8, precision: 19, scale: 2, type: { id: 0x6a }, userType: 0 },
  ]);
});
