/**
 * Decompresses for one request after the other what becomes large, so that what is open at the same
 * time stays bounded. Small payloads, which nearly all are, wait for nobody.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip, gunzipSync } from 'node:zlib';
import { RefusedRequest } from './wire.ts';

/** What takes a few milliseconds is decompressed at once: up to 1 MiB. */
const SMALL_BYTES = 1_048_576;

/** How many requests wait for their turn with large payloads; further ones are refused. */
const MAX_WAITING = 8;

const gunzipAside = promisify(gunzip);

/** How long one waits, in ms; well before it would be disconnected for its silence. */
const MAX_WAIT_MS = 10_000;

/** Decompresses for one request. */
export interface LargeOpening {
  /** Throws a {@link RefusedRequest} 413 for more than `most` bytes, 503 if too many requests wait. */
  unpack(packed: Uint8Array, most: number): Promise<Uint8Array>;
  /** Ends the turn of the request. */
  release(): void;
}

/** Returns a function that begins a request. */
export function largeOpenings(): () => LargeOpening {
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  const turn = async (): Promise<() => void> => {
    if (waiting >= MAX_WAITING) {
      throw busy();
    }
    const before = last;
    let release = (): void => undefined;
    last = new Promise((resolve) => (release = resolve));
    waiting += 1;
    const over = new AbortController();
    const isTurn = await Promise.race([
      before.then(() => true),
      // Aborted when the turn has come.
      sleep(MAX_WAIT_MS, false, { signal: over.signal }).catch(() => true),
    ]);
    over.abort();
    waiting -= 1;
    if (isTurn) return release;
    // Those behind it wait for the one before it.
    void before.then(release);
    throw busy();
  };
  return () => {
    let release: (() => void) | undefined;
    return {
      unpack: async (packed, most) => {
        const small = unpackSmall(packed, Math.min(most, SMALL_BYTES));
        if (small !== undefined) return small;
        if (most <= SMALL_BYTES) throw tooMuch();
        release ??= await turn();
        // In another thread: requests that are not large go on meanwhile.
        return gunzipAside(packed, { maxOutputLength: most }).catch((error: unknown) => {
          throw isTooLarge(error) ? tooMuch() : error;
        });
      },
      release: () => release?.(),
    };
  };
}

/** The bytes; undefined: there are more than `most`. */
function unpackSmall(packed: Uint8Array, most: number): Uint8Array | undefined {
  if (most <= 0) return undefined;
  try {
    return gunzipSync(packed, { maxOutputLength: most });
  } catch (error) {
    if (isTooLarge(error)) return undefined;
    throw error;
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
}

function busy(): RefusedRequest {
  return new RefusedRequest(503, 'Too much is asked for at once. Try again later.');
}

function tooMuch(): RefusedRequest {
  return new RefusedRequest(413, TOO_MUCH);
}

/** The most bytes that one answer opens: the largest blob, as it is stored and as it is decrypted. */
export const MAX_OPENED_BYTES = 67_108_864;

/** What a request is told that opens more. */
export const TOO_MUCH: string = `Expected at most ${MAX_OPENED_BYTES} bytes once opened.`;
