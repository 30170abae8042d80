/** Finds which keys encrypted what is stored: in messages of the service, and in stored payloads. */
import type { Payload } from '@temporalio/common';
import {
  decodeReferencePayload,
  isReferencePayload,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
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
  const id = metadata == null ? undefined : (keyIdOf(message) ?? keyIdOfReference(message));
  if (id !== undefined) found.add(id);
  else for (const value of Object.values(message)) addKeyIds(value, found, depth + 1);
}

/** Enough of a stored payload to see its metadata, in bytes. */
export const HEAD_BYTES = 1_024;

/** Base64 of {@link HEAD_BYTES}. */
const HEAD_CHARACTERS = Math.ceil(HEAD_BYTES / 3) * 4;

/** The key of a stored payload that the store did not take, so that its reference has it. */
function keyIdOfReference(payload: Payload): string | undefined {
  if (!isReferencePayload(payload)) return undefined;
  try {
    const { data } = decodeReferencePayload(payload).claimData;
    if (typeof data !== 'string') return undefined;
    return keyIdOfHead(Buffer.from(data.slice(0, HEAD_CHARACTERS), 'base64'));
  } catch {
    return undefined;
  }
}

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
