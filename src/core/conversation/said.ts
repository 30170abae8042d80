/**
 * The memory of a conversation for the ids of its messages.
 *
 * I1  An id counts once among the last {@link MAX_KNOWN}. They are kept as digests, as one text.
 */
import { sha256 } from '../../lisp/base/sha256.ts';

/** The code of the warning about a message that is refused; its text begins with the id and `: `. */
export const MESSAGE_REFUSED = 'message_refused';

/** Messages whose ids are known. */
export const MAX_KNOWN = 10_000;

/** Characters of a digest: 48 bits. */
const DIGEST = 12;

/** Whether message `id` is among those that were said. */
export function isKnownMessage(known: string, id: string): boolean {
  const digest = digestOf(id);
  let at = known.indexOf(digest);
  while (at !== -1 && at % DIGEST !== 0) at = known.indexOf(digest, at + 1);
  return at !== -1;
}

/** `known` with message `id`. */
export function withKnownMessage(known: string, id: string): string {
  return (known + digestOf(id)).slice(-MAX_KNOWN * DIGEST);
}

function digestOf(id: string): string {
  return sha256(id).slice(0, DIGEST);
}
