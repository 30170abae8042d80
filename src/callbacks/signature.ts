/**
 * Signatures of callbacks, as Standard Webhooks 1.0 has them: HMAC-SHA256 over
 * `{id}.{timestamp}.{body}`, in base64, after `v1,`
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
 */
import { createHmac } from 'node:crypto';

/** What is signed. */
export interface SignedContent {
  readonly id: string;
  /** Seconds since 1970 of this attempt, so that receivers can refuse what is old. */
  readonly timestamp: number;
  readonly body: string;
}

/** The prefix of secrets; what follows is base64. */
const PREFIX = 'whsec_';

/** The standard wants 24 to 64 random bytes. */
const MIN_BYTES = 24;
const MAX_BYTES = 64;

/** Whether `text` is a secret: `whsec_` and 24 to 64 bytes in base64. */
export function isSecret(text: string): boolean {
  if (!text.startsWith(PREFIX)) return false;
  const digits = text.slice(PREFIX.length);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(digits)) return false;
  const { length } = Buffer.from(digits, 'base64');
  return length >= MIN_BYTES && length <= MAX_BYTES;
}

/**
 * The headers that identify and sign a callback. Each secret gives one signature, so that a secret
 * can be changed: a receiver accepts the request if it knows one of them.
 */
export function signedHeaders(
  { id, timestamp, body }: SignedContent,
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    const digest = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
    return `v1,${digest}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
