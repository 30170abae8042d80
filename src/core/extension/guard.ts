/**
 * Calls the code of authors. Data must not end a run, so what their readers throw is a reply that is
 * not read; so is what they return and no reader may return.
 */
import { errorText } from '../base/error-text.ts';
import { byteSize, type Json } from '../base/json.ts';
import { toJsonResult } from '../base/json-result.ts';
import type { ReplyProblem } from '../base/problem.ts';
import { UsageError } from '../base/usage-error.ts';
import { firstBytes } from '../text/cut.ts';
import { shown } from '../text/shown.ts';
import { wellFormed, wellFormedText } from '../text/well-formed.ts';

/** UTF-8 bytes of what an author's reader threw that a model reads. */
const MAX_MESSAGE_BYTES = 2_000;

/** Characters that an own reader gets at once; the other readers have the same limit. */
export const MAX_OWN_TEXT = 262_144;

/** UTF-8 bytes of JSON that an own reader may return. */
const MAX_OWN_BYTES = 1_048_576;

/** What a reader returned, or what the model is told. */
export type OwnReading<Value> =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'problem'; readonly problem: ReplyProblem };

/** Reads `text` with an author's `read`. */
export function readOwn<Value>(text: string, read: (text: string) => Value): OwnReading<Value> {
  if (text.length > MAX_OWN_TEXT) {
    return unread(`it has ${text.length} characters, at most ${MAX_OWN_TEXT} are read`);
  }
  try {
    return { kind: 'value', value: read(wellFormedText(text)) };
  } catch (error) {
    return unread(thrownText(error));
  }
}

/** The reading of `value` as JSON; a problem if it is none. `what` names its reader. */
export function ownJson(value: unknown, what: string): OwnReading<Json> {
  const read = toJsonResult(value);
  if (read.kind === 'not_json') {
    return wrongReturn(what, 'JSON', `${read.type} at ${read.path}`);
  }
  const json = wellFormed(read.value ?? null);
  const bytes = byteSize(json);
  return bytes > MAX_OWN_BYTES
    ? wrongReturn(what, `at most ${MAX_OWN_BYTES} bytes of JSON`, `${bytes}`)
    : { kind: 'value', value: json };
}

/** The reader `what` returned something that it may not: told to the model like an unread reply. */
export function wrongReturn(
  what: string,
  wanted: string,
  got: string,
): { readonly kind: 'problem'; readonly problem: ReplyProblem } {
  return unread(`the reader of ${what} returned ${got}, expected ${wanted}`);
}

/**
 * The text that an author's `write` makes for a model.
 *
 * @throws UsageError `extension` if it throws, or returns something else than a text.
 */
export function ownText(what: string, write: () => unknown): string {
  let text: unknown;
  try {
    text = write();
  } catch (error) {
    throw notText(what, `an error: ${thrownText(error)}`);
  }
  if (typeof text !== 'string') throw notText(what, shown(text));
  return wellFormedText(text);
}

/** The same for text that is made from data: if it cannot be written, `fallback` writes it. */
export function ownTextOr(what: string, write: () => unknown, fallback: () => string): string {
  try {
    return ownText(what, write);
  } catch {
    return fallback();
  }
}

function notText(what: string, got: string): UsageError {
  return new UsageError('extension', `Expected ${what} to return a text, got ${got}. Mend it.`);
}

function unread(message: string): { readonly kind: 'problem'; readonly problem: ReplyProblem } {
  return { kind: 'problem', problem: { code: 'unreadable', message } };
}

/** What was thrown, from any realm and with any `toString`. */
function thrownText(error: unknown): string {
  let text = '';
  try {
    const { message } = Object(error) as { readonly message?: unknown };
    text = typeof message === 'string' ? message : errorText(error);
  } catch {
    // Its text cannot be read either.
  }
  return firstBytes(
    wellFormedText(text.trim() === '' ? 'it cannot be read' : text),
    MAX_MESSAGE_BYTES,
  );
}
