/**
 * Errors of payloads that cannot be decrypted. A worker's SDK makes the name of an error's class the
 * type of the failure, so the names are failure types.
 */
import { ValueError } from '@temporalio/common';
import { UsageError } from '../core/base/usage-error.ts';
import { clip } from '../core/text/cut.ts';
import { ENCRYPTED } from '../workflows/converters.ts';

/** Ids come as data. */
const MAX_SHOWN_ID = 128;

/** Longer lists of keys help nobody. */
const MAX_NAMED = 10;

/** This process lacks a key. Retryable: another worker may have it, or this one gets it. */
export class KeyMissingError extends Error {
  static override get name(): string {
    return 'keys_missing';
  }

  override readonly name = 'keys_missing';
  /** The id of the key, cut to 128 characters. */
  readonly keyId: string;

  /** The ids of the keys that are there. */
  readonly known: readonly string[];

  constructor(keyId: string, known: readonly string[]) {
    const id = clip(keyId, MAX_SHOWN_ID);
    super(`Expected key \`${id}\`, got ${keysText(known)}. Set EVERLOOP_KEYS.`);
    this.keyId = id;
    this.known = known;
  }
}

/** An encrypted payload was changed, or encrypted with another key under the same id. */
export class PayloadDamagedError extends Error {
  static override get name(): string {
    return 'payload_damaged';
  }

  override readonly name = 'payload_damaged';
  /** The id of the key that the payload names, cut to 128 characters. */
  readonly keyId: string;

  constructor(keyId: string) {
    const id = clip(keyId, MAX_SHOWN_ID);
    super(
      `Expected a payload that key \`${id}\` opens, got one that is damaged or that another key of this id encrypted. Give this process the right key.`,
    );
    this.keyId = id;
  }
}

/** Why a payload cannot be decrypted here. Another process may be able to. */
export type UnreadError = KeyMissingError | PayloadDamagedError;

/** Whether `error` is an {@link UnreadError}. */
export function isUnreadError(error: unknown): error is UnreadError {
  return error instanceof KeyMissingError || error instanceof PayloadDamagedError;
}

/** `keys (k2, k1)` or `no keys`. */
function keysText(known: readonly string[]): string {
  if (known.length === 0) return 'no keys';
  const rest = known.length > MAX_NAMED ? ', …' : '';
  return `keys (${known.slice(0, MAX_NAMED).join(', ')}${rest})`;
}

/**
 * The UsageError for an error of the codec; undefined for any other error. `purpose`: what the
 * payload was needed for, such as ``to read run `a` ``.
 */
export function unreadableError(error: unknown, purpose: string): UsageError | undefined {
  if (error instanceof KeyMissingError) {
    const { keyId, known } = error;
    const message = `Expected key \`${keyId}\` ${purpose}, got ${keysText(known)}. Set EVERLOOP_KEYS.`;
    return Object.assign(new UsageError('keys_missing', message), { cause: error });
  }
  if (error instanceof ValueError && error.message.includes(ENCRYPTED)) {
    // A client that somebody else made has no codec.
    const message = `Expected a client with keys ${purpose}, got one without any. Set EVERLOOP_KEYS and use \`connect\`.`;
    return Object.assign(new UsageError('keys_missing', message), { cause: error });
  }
  if (!(error instanceof PayloadDamagedError)) return undefined;
  return Object.assign(new UsageError('payload_damaged', error.message), { cause: error });
}
