import type { Connection } from 'tedious';
import { privatesOf } from './internals.js';

/** MS-TDS 2.2.3.1. */
const headerBytes = 8;
const endOfMessage = 0x01;
const none = Buffer.alloc(0);

/** Reads the payload of one response. */
export interface ResponseReader {
  /** Enough for now: nothing is added until `resume` of the response. */
  readonly isPaused: boolean;
  /** What follows of the payload; read by the next `process` or `end`. */
  add(piece: Buffer): void;
  process(): void;
  /** Nothing follows. */
  end(): void;
}

/** The bytes of one response; tedious gets it in place of its stream of them, and only passes it on. */
export class IncomingResponse {
  readonly #go: () => void;
  reader: ResponseReader | undefined;

  constructor(go: () => void) {
    this.#go = go;
  }

  /** Bytes come from the next tick on. */
  attach(reader: ResponseReader): void {
    this.reader = reader;
    process.nextTick(this.#go);
  }

  /** The reader is no longer paused. */
  resume(): void {
    this.#go();
  }
}

/**
 * Takes the packets of a connection apart. tedious copies those that the reads of the socket cut in two, makes three objects of each, and lets it through a stream of
 * the response: more than the rows in it cost.
 */
class PacketReader {
  readonly #begin: (response: IncomingResponse) => void;
  readonly #fail: (error: Error) => void;
  readonly #header = Buffer.alloc(headerBytes);
  #headerLength = 0;
  /** Bytes of the packet's payload that are still to come. */
  #left = 0;
  #chunk: Buffer = none;
  #at = 0;
  #done: (() => void) | undefined;
  /** Whose end has not come. */
  #response: IncomingResponse | undefined;
  /** The one that was given bytes last. */
  #reader: ResponseReader | undefined;
  #isRunning = false;

  /** `fail` ends the connection: nothing that comes after means anything. */
  constructor(begin: (response: IncomingResponse) => void, fail: (error: Error) => void) {
    this.#begin = begin;
    this.#fail = fail;
  }

  /** Calls back when all of it is read, which a paused reader delays. */
  take(chunk: Buffer, done: () => void): void {
    this.#chunk = chunk;
    this.#at = 0;
    this.#done = done;
    this.#go();
  }

  readonly #go = (): void => {
    // A reader may be resumed while it reads.
    if (this.#isRunning || this.#done === undefined) return;
    this.#isRunning = true;
    const isRead = this.#run();
    this.#isRunning = false;
    if (!isRead) return;
    const done = this.#done;
    this.#done = undefined;
    this.#chunk = none;
    done();
  };

  /** False when there is somebody to wait for. */
  #run(): boolean {
    let hasAdded = false;
    for (;;) {
      if (this.#reader?.isPaused) return false;
      if (this.#headerLength < headerBytes && !this.#takeHeader()) break;
      if (this.#left < 0) {
        this.#fail(new Error('A packet is shorter than its header.'));
        return false;
      }
      this.#reader = this.#response!.reader;
      if (this.#reader === undefined) return false;
      if (this.#addPayload(this.#reader)) hasAdded = true;
      if (this.#left > 0) break;
      this.#headerLength = 0;
      if ((this.#header[1]! & endOfMessage) === 0) continue;
      this.#response = undefined;
      this.#reader.end();
      hasAdded = false;
    }
    // A resumed reader has looked at what it had already, and each look takes time of the turn.
    if (hasAdded) this.#reader?.process();
    if (this.#reader?.isPaused) return false;
    // An idle connection must not hold what it read last.
    if (this.#response === undefined) this.#reader = undefined;
    return true;
  }

  /** False when the chunk ends before. */
  #takeHeader(): boolean {
    const end = Math.min(this.#chunk.length, this.#at + headerBytes - this.#headerLength);
    this.#chunk.copy(this.#header, this.#headerLength, this.#at, end);
    this.#headerLength += end - this.#at;
    this.#at = end;
    if (this.#headerLength < headerBytes) return false;
    this.#left = this.#header.readUInt16BE(2) - headerBytes;
    if (this.#response === undefined) {
      this.#response = new IncomingResponse(this.#go);
      this.#begin(this.#response);
    }
    return true;
  }

  /** False when there was nothing of it in the chunk. */
  #addPayload(reader: ResponseReader): boolean {
    const end = Math.min(this.#chunk.length, this.#at + this.#left);
    const size = end - this.#at;
    if (size > 0) reader.add(this.#chunk.subarray(this.#at, end));
    this.#left -= size;
    this.#at = end;
    return size > 0;
  }
}

/** From here on the connection's responses come as `IncomingResponse`. For a connection that is logged in and has no request. */
export function readPackets(connection: Connection): void {
  const { incomingMessageStream: stream, socket } = privatesOf(connection).messageIo;
  const packets = new PacketReader(
    (response) => stream.push(response),
    (error) => socket.destroy(error),
  );
  stream._transform = (chunk, _encoding, done) => packets.take(chunk, done);
}
