/**
 * Sends one callback over HTTP. Only the status is read: the body of the reply is dropped, and a
 * redirect is not followed, since it could lead where the address itself may not.
 */
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { defined } from '../core/base/defined.ts';
import { VERSION } from '../core/base/version.ts';
import { checkAddress, isRefusedAddress, lookupWithout } from '../http/allowed-hosts.ts';

/** What is sent. */
export interface CallbackPost {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
  /** Ends the request. */
  readonly signal: AbortSignal;
}

/** What the receiver said. */
export interface CallbackReply {
  readonly status: number;
  /** The text of `Retry-After`. */
  readonly retryAfter?: string;
}

/** The time for the whole request: the standard wants 15 to 30 s, so that receivers may be slow. */
const CALLBACK_TIMEOUT_MS = 15_000;

/** Bytes of a reply that are drained before the connection is cut. */
const MAX_REPLY_BYTES = 65_536;

/** Sends a callback; rejects when there is no reply. */
export async function postCallback({
  url,
  headers,
  body,
  signal,
}: CallbackPost): Promise<CallbackReply> {
  checkAddress(url, isRefusedAddress);
  const bytes = Buffer.from(body);
  const options: RequestOptions = {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-length': bytes.length,
      'user-agent': `everloop/${VERSION}`,
      ...headers,
    },
    lookup: lookupWithout(isRefusedAddress),
    // A connection of its own: none is kept for a receiver that may be called once a week.
    agent: false,
    signal: AbortSignal.any([signal, AbortSignal.timeout(CALLBACK_TIMEOUT_MS)]),
  };
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const sent = send(url, options, (reply) => {
      const { statusCode = 0, headers: got } = reply;
      const retryAfter = got['retry-after'];
      resolve(defined({ status: statusCode, retryAfter }));
      drain(reply);
    });
    sent.on('error', reject);
    sent.end(bytes);
  });
}

/** Reads a short reply to its end, so that the receiver sees none that was cut; drops it. */
function drain(reply: IncomingMessage): void {
  let bytes = 0;
  reply.on('error', () => undefined);
  reply.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > MAX_REPLY_BYTES) reply.destroy();
  });
}
