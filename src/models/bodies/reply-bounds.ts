/**
 * How much a provider may send before its request is closed. Nothing of a worker may be held or filled
 * by a reply, so each bound is kept while bytes arrive, before they are joined or parsed.
 */

/** The most bytes of one message: an event of a stream, or a whole reply. No model writes so much. */
export const MAX_MESSAGE_BYTES = 4_194_304;

/** The most JSON values of one message: an empty one takes little room as text, and much when parsed. */
export const MAX_MESSAGE_VALUES = 500_000;

/** The most bytes of one stream; a token in an event of its own takes some 400. */
export const MAX_STREAM_BYTES = 67_108_864;

/** The most lines of one stream; a token takes three. */
export const MAX_STREAM_LINES = 1_000_000;

/** What is read of the body of an error; the rest is cut. */
export const MAX_ERROR_BYTES = 65_536;

/** How long the body of an error is read, in ms: its status says most. */
export const ERROR_BODY_MS = 5_000;

/** The name of the error of a reply that crossed a bound. */
export const UNBOUNDED_REPLY = 'UnboundedReplyError';

/** The code of a reply whose content is too long: the next would be as long. */
export const REPLY_TOO_LONG = 'reply_too_long';

/** The code of a request that its provider sends to another host. */
export const REDIRECTED = 'redirected';

/** The error of a message or a stream that crossed a bound; `got` says what came. */
export function unboundedReply(expected: string, got: string): Error {
  const message = `Expected ${expected} of the provider, got ${got}. The request was closed.`;
  return Object.assign(new Error(message), { name: UNBOUNDED_REPLY });
}

/** The error of a reply whose content has more than `maxBytes`. */
export function replyTooLong(maxBytes: number): Error {
  const message = `Expected a reply of at most ${maxBytes} bytes, got a longer one. Set \`maxOutputTokens\`.`;
  return Object.assign(new Error(message), { name: UNBOUNDED_REPLY, code: REPLY_TOO_LONG });
}
