/** Messages on a stream of bytes: each has its length, four bytes, before it. */
import type { Socket } from 'node:net';

const HEAD_BYTES = 4;

/** A message as it is sent. */
export function frameOf(message: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(message.length);
  return Buffer.concat([head, message]);
}

/**
 * Calls `onFrame` with each message that arrives. A message of more than `maxBytes` ends the
 * socket with an error before it is read.
 */
export function onFrames(
  socket: Socket,
  maxBytes: number,
  onFrame: (message: Buffer) => void,
): void {
  let chunks: Buffer[] = [];
  let size = 0;
  let wanted = HEAD_BYTES;
  let isHead = true;
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    while (size >= wanted && !socket.destroyed) {
      const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
      const message = bytes.subarray(0, wanted);
      chunks = [bytes.subarray(wanted)];
      size -= wanted;
      if (!isHead) {
        isHead = true;
        wanted = HEAD_BYTES;
        onFrame(message);
        continue;
      }
      isHead = false;
      wanted = message.readUInt32BE();
      if (wanted > maxBytes) {
        const got = `a message of ${wanted} bytes, at most ${maxBytes} are allowed`;
        socket.destroy(new Error(got));
      }
    }
  });
}
