/**
 * Decides what a reader of provisional text may see.
 *
 * I1  Every comparison takes as long for a wrong token as for a right one, over all tokens.
 * I2  A refusal has no reason: forged, expired and unknown tokens look the same.
 */
import { isAmong } from '../../protection/same-text.ts';
import {
  keyOf,
  MAX_STREAM_TOKEN_MS,
  readerTokens,
  scopedParts,
  signatureOf,
  type StreamScope,
} from '../../protection/stream-token.ts';

/** What a reader may see: everything, one tree until a time, or nothing. */
export type ReaderAccess = 'all' | StreamScope | null;

/** How far the clock of a signer may be ahead of this one. */
const MAX_SKEW_MS = 300_000;

/**
 * Reads the `Authorization` of requests. `readers`: the reader tokens, separated by commas. `now`:
 * in ms since 1970.
 */
export function readerAccess(
  readers: string,
): (authorization: string | undefined, now?: number) => ReaderAccess {
  const tokens = readerTokens(readers);
  const accepted = tokens.map((token) => `Bearer ${token}`);
  const keys = tokens.map(keyOf);
  return (authorization = '', now = Date.now()) => {
    if (isAmong(authorization, accepted)) return 'all';
    const scoped = /^Bearer (.*)$/.exec(authorization)?.[1];
    const parts = scoped === undefined ? undefined : scopedParts(scoped);
    if (parts === undefined) return null;
    const { signed, signature, rootRunId, expiresAt } = parts;
    const signatures = keys.map((key) => signatureOf(signed, key));
    const isSigned = isAmong(signature, signatures);
    // The upper bound also bounds the timer that ends the stream.
    const isCurrent = expiresAt > now && expiresAt <= now + MAX_STREAM_TOKEN_MS + MAX_SKEW_MS;
    return isSigned && isCurrent ? { rootRunId, expiresAt } : null;
  };
}
