/**
 * Errors of payloads that cannot be decrypted. A worker's SDK makes the name of an error the type of
 * the failure, so the names are failure types.
 */
import { clip } from '../core/text/cut.ts';

/** Longer lists of keys help nobody. */
const MAX_NAMED = 10;

/** This process lacks a key. Retryable: another worker may have it, or this one gets it. */
export class KeyMissingError extends Error {
  override readonly name = 'key_missing';
  /** The id of the key, cut to 128 characters. */
  readonly keyId: string;

  constructor(keyId: string, known: readonly string[]) {
    const id = clip(keyId, 128);
    super(`Expected key \`${id}\`, got ${keysText(known)}. Set EVERLOOP_KEYS.`);
    this.keyId = id;
  }
}

/** An encrypted payload was changed, or encrypted with another key under the same id. */
export class PayloadDamagedError extends Error {
  override readonly name = 'payload_damaged';

  constructor(keyId: string) {
    super(
      `Expected a payload that key \`${clip(keyId, 128)}\` opens, got one that is damaged or that another key of this id encrypted. Give this process the right key.`,
    );
  }
}

/** `keys (k2, k1)` or `no keys`. */
export function keysText(known: readonly string[]): string {
  if (known.length === 0) return 'no keys';
  const rest = known.length > MAX_NAMED ? ', …' : '';
  return `keys (${known.slice(0, MAX_NAMED).join(', ')}${rest})`;
}
