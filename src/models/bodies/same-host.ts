/**
 * Requests that stay at their provider: keys and the conversation are in them, so a redirect to another
 * host is not followed. One of the same host is, a few times.
 */
import { REDIRECTED } from './reply-bounds.ts';

/** The redirects of one request that are followed. */
const MAX_REDIRECTS = 3;

/** Statuses that send the same request to another place. */
const SAME_REQUEST: readonly (number | undefined)[] = [307, 308];

type Fetch = typeof globalThis.fetch;

/** `send`, which follows no redirect to another host. */
export function sendToSameHost(send: Fetch): Fetch {
  return async (input, init) => {
    let target = input;
    for (let followed = 0; ; followed++) {
      const response = await send(target, { ...init, redirect: 'manual' });
      // A user's own `fetch` may give anything.
      const { status, headers, body } = Object(response) as Partial<Response>;
      if (status === undefined || status < 300 || status > 399 || status === 304) return response;
      const from = urlOf(target);
      const to = nextUrl(headers?.get('location'), from);
      const isSame = to !== undefined && to.hostname === from?.hostname && !isDowngrade(from, to);
      if (!isSame || !SAME_REQUEST.includes(status) || followed === MAX_REDIRECTS) {
        throw redirected(status, to);
      }
      await body?.cancel().catch(() => undefined);
      target = to;
    }
  };
}

function urlOf(target: Parameters<Fetch>[0]): URL | undefined {
  const text = target instanceof Request ? target.url : String(target);
  return URL.canParse(text) ? new URL(text) : undefined;
}

function nextUrl(location: string | null | undefined, from: URL | undefined): URL | undefined {
  if (location == null || !URL.canParse(location, from?.href)) return undefined;
  return new URL(location, from?.href);
}

function isDowngrade(from: URL, to: URL): boolean {
  return from.protocol === 'https:' && to.protocol !== 'https:';
}

function redirected(status: number, to: URL | undefined): Error {
  const place = to === undefined ? 'another place' : to.origin;
  const message = `The provider redirects to ${place}, which is not followed, since keys are sent with a request. Set the base URL of the model to where it is served.`;
  return Object.assign(new Error(message), { code: REDIRECTED, statusCode: status });
}
