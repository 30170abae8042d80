/** Finds which keys encrypted what is stored: in messages of the service, and in stored payloads. */
import type { Payload } from '@temporalio/common';
// It is CommonJS, and Node finds no names in it.
import proto from '@temporalio/proto';
import { keyIdOf } from './codec.ts';

/** Messages of the service are not as deep; what is deeper is not looked at. */
const MAX_DEPTH = 64;

/** Adds the ids of the keys that encrypted payloads anywhere in `message` to `found`. */
export function addKeyIds(message: unknown, found: Set<string>, depth = 0): void {
  if (typeof message !== 'object' || message === null || depth > MAX_DEPTH) return;
  if (message instanceof Uint8Array) return;
  const { metadata } = message as Payload;
  const id = metadata == null ? undefined : keyIdOf(message);
  if (id !== undefined) found.add(id);
  else for (const value of Object.values(message)) addKeyIds(value, found, depth + 1);
}

/** Enough of a stored payload to see its metadata, in bytes. */
export const HEAD_BYTES = 1_024;

/** The first field of the message `Payload`: an entry of its metadata. */
const METADATA = 0x0a;

/**
 * The id of the key that encrypted a payload, of which these are the first bytes; undefined if it is
 * not encrypted.
 */
export function keyIdOfHead(head: Uint8Array): string | undefined {
  let end = 0;
  // Entries of metadata are short: a length has one byte, or two.
  while (head[end] === METADATA) {
    const [low = 0, high = 0] = head.subarray(end + 1);
    const next = low < 0x80 ? end + 2 + low : end + 3 + (low & 0x7f) + (high << 7);
    if (next > head.length) break;
    end = next;
  }
  try {
    return keyIdOf(proto.temporal.api.common.v1.Payload.decode(head.subarray(0, end)));
  } catch {
    return undefined;
  }
}
