/**
 * Tokens for readers of provisional text. A reader token opens every stream. A scoped token is made
 * of a reader token and opens the streams of one tree, until it expires.
 *
 * I1  A scoped token names the run id of the root, which the service has made up: no id that a user
 *     chooses, and no prefix of one, is compared.
 * I2  A reader token signs with a key that is derived from it, so a scoped token reveals nothing of
 *     it, and ends with it.
 */
import { createHmac } from 'node:crypto';
import { UsageError } from '../core/base/usage-error.ts';

/** A token for the streams of one tree. */
export interface StreamToken {
  /** Sent as `Authorization: Bearer TOKEN`. */
  readonly token: string;
  /** When workers stop to take it, by their clocks, in ms since 1970. */
  readonly expiresAt: number;
}

/** What a scoped token opens. */
export interface StreamScope {
  readonly rootRunId: string;
  /** In ms since 1970, a whole second. */
  readonly expiresAt: number;
}

/** The longest life of a scoped token: a day. */
export const MAX_STREAM_TOKEN_MS = 86_400_000;

/** The life of a scoped token by default: an hour. */
const STREAM_TOKEN_MS = 3_600_000;

/** Shorter lives end before a page has connected. */
const MIN_STREAM_TOKEN_MS = 1_000;

/** The first part of every scoped token. */
const FORM = 'els1';

/** The reader tokens of a text that has several, separated by commas. */
export function readerTokens(text: string): readonly string[] {
  return text
    .split(',')
    .map((token) => token.trim())
    .filter((token) => token !== '');
}

/** The token that readers send and that signs: the first of `text`, or empty if there is none. */
export function sentToken(text: string): string {
  return readerTokens(text)[0] ?? '';
}

/** What {@link signStreamToken} takes. */
export interface SignedStream {
  /** The run id of the root. */
  readonly rootRunId: string;
  /** How long workers take it, in ms: from a second to a day; default an hour. */
  readonly ttlMs?: number | undefined;
  /** The reader tokens of the workers, separated by commas: the first signs. */
  readonly readers: string | undefined;
  /** In ms since 1970; default now. */
  readonly now?: number;
}

/**
 * A token that opens the streams of one tree.
 *
 * @throws UsageError `stream_token` without a reader token, `number` for a `ttlMs` out of its range.
 */
export function signStreamToken(options: SignedStream): StreamToken {
  const { rootRunId, ttlMs = STREAM_TOKEN_MS, readers = '', now = Date.now() } = options;
  const secret = sentToken(readers);
  if (secret === '') {
    throw new UsageError(
      'stream_token',
      'Expected the token of the workers to sign with, got none. Set `EVERLOOP_STREAM_TOKEN` to the value that the workers have.',
    );
  }
  if (!(ttlMs >= MIN_STREAM_TOKEN_MS && ttlMs <= MAX_STREAM_TOKEN_MS)) {
    throw new UsageError(
      'number',
      `Expected the life of a stream token to be from 1 s to 24 h, got ${String(ttlMs)} ms. Choose another.`,
    );
  }
  const seconds = Math.ceil((now + ttlMs) / 1_000);
  const signed = `${FORM}.${rootRunId}.${seconds}`;
  return { token: `${signed}.${signatureOf(signed, keyOf(secret))}`, expiresAt: seconds * 1_000 };
}

const SCOPED = /^(els1\.([\w-]{1,100})\.(\d{1,11}))\.([\w-]{43})$/;

/** The parts of a token that has the form of a scoped one; undefined for any other. */
export function scopedParts(
  token: string,
): (StreamScope & { readonly signed: string; readonly signature: string }) | undefined {
  const [, signed = '', rootRunId = '', seconds = '', signature = ''] = SCOPED.exec(token) ?? [];
  if (signed === '') return undefined;
  return { rootRunId, expiresAt: Number(seconds) * 1_000, signed, signature };
}

/** The key with which a reader token signs. */
export function keyOf(readerToken: string): Buffer {
  return createHmac('sha256', readerToken).update('everloop stream token').digest();
}

/** The signature of a scoped token, in base64url. */
export function signatureOf(signed: string, key: Buffer): string {
  return createHmac('sha256', key).update(signed).digest('base64url');
}
