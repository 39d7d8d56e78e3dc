import { expect, test } from 'vitest';
import { MessageWriter } from '../../../src/dev/tds/message-writer.js';

interface Sent {
  bytes: Buffer;
  /** Tells the writer that the bytes are gone. */
  done: () => void;
}

function sender(): (length: number) => Sent {
  const sent: Sent[] = [];
  const writer = new MessageWriter({
    write: (bytes, done) => sent.push({ bytes, done }) > 0,
    onDrain: () => undefined,
  });
  return (length) => {
    writer.tokens.bytes(Buffer.alloc(length));
    writer.end();
    return sent.at(-1)!;
  };
}

test('memory that Node shares out is never used again for packets, whatever its size', () => {
  const before = Buffer.poolSize;
  Buffer.poolSize = 65_536; // That of Node 24, and what the packets of a stream have.
  try {
    const send = sender();
    for (const length of [100, 4000, 5000, 20_000, 40_000]) {
      send(length).done();
      const others = Array.from({ length: 2000 }, () => Buffer.from('memory of others'));
      send(40_000).bytes.fill(0xff);
      expect(new Set(others.map(String)), `after ${length} bytes`).toEqual(new Set(['memory of others']));
    }
  } finally {
    Buffer.poolSize = before;
  }
});

test('the memory of packets that are gone is used again, and of packets still under way it is not', () => {
  const send = sender();
  const first = send(30_000);
  const second = send(30_000);
  expect(second.bytes.buffer).not.toBe(first.bytes.buffer);
  first.done();
  expect(send(30_000).bytes.buffer).toBe(first.bytes.buffer);
  second.done();
  expect(send(30_000).bytes.buffer).toBe(second.bytes.buffer);
});
