/** One attempt to deliver a callback: where to, signed with what, and what its reply means. */
import { errorText } from '../core/base/error-text.ts';
import { defined } from '../core/base/defined.ts';
import type { CallbackMessage } from '../core/contract/callback.ts';
import { isAllowedHost } from '../http/allowed-hosts.ts';
import { postCallback } from './post-callback.ts';
import { signedHeaders } from './signature.ts';

/** What a worker sends callbacks with. */
export interface CallbackSettings {
  /** As {@link isSecret} accepts them, the newest first. Empty: this worker sends none. */
  readonly secrets: readonly string[];
  /** The hosts that may be called; absent: any. */
  readonly hosts?: readonly string[];
}

/** How an attempt ended; `message` has neither the body nor the path of the address. */
export type Delivery =
  | { readonly kind: 'delivered' }
  /** Another attempt may succeed. */
  | { readonly kind: 'failed'; readonly message: string; readonly retryAfterMs?: number }
  /** The receiver wants no more of it. */
  | { readonly kind: 'gone'; readonly message: string }
  /** This worker may not send it, another may. */
  | { readonly kind: 'not_here'; readonly message: string };

/** A receiver may ask for this much patience; a longer wait would use up the day. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** Tries to deliver `message` once, at `now` in ms since 1970. Never rejects. */
export async function deliver(
  { id, url: text, body }: CallbackMessage,
  { secrets, hosts }: CallbackSettings,
  { now, signal }: { readonly now: number; readonly signal: AbortSignal },
): Promise<Delivery> {
  if (!URL.canParse(text)) return { kind: 'gone', message: 'The address cannot be read.' };
  const url = new URL(text);
  if (secrets.length === 0) {
    return { kind: 'not_here', message: 'This worker has no `EVERLOOP_CALLBACK_SECRET`.' };
  }
  if (!isAllowedHost(url.hostname, hosts)) {
    const message = `\`EVERLOOP_CALLBACK_HOSTS\` of this worker does not name ${url.hostname}.`;
    return { kind: 'not_here', message };
  }
  const content = { id, timestamp: Math.floor(now / 1_000), body: JSON.stringify(body) };
  try {
    const headers = signedHeaders(content, secrets);
    const reply = await postCallback({ url, headers, body: content.body, signal });
    return meaningOf(url.host, reply.status, retryAfterMs(reply.retryAfter, now));
  } catch (error) {
    return { kind: 'failed', message: `Expected a reply of ${url.host}, got: ${causeOf(error)}` };
  }
}

/** A host of several addresses that refuse the connection fails without a text, but with a code. */
function causeOf(error: unknown): string {
  const { code = 'no reply' } = error as NodeJS.ErrnoException;
  return errorText(error) || code;
}

function meaningOf(host: string, status: number, retryAfterMs: number | undefined): Delivery {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  const got = `got ${status}${status >= 300 && status < 400 ? ', and redirects are not followed' : ''}`;
  const message = `Expected status 200 to 299 of ${host}, ${got}.`;
  if (status === 410) return { kind: 'gone', message };
  return { kind: 'failed', message, ...defined({ retryAfterMs }) };
}

/** The wait that `Retry-After` asks for: seconds, or a date (RFC 9110, 10.2.3). */
function retryAfterMs(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : undefined;
}
