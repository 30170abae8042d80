/**
 * Well-formed text: no half of a surrogate pair. JavaScript makes such halves easily, as in
 * `'x 😀'.slice(0, 3)`, but they have no UTF-8, so the service and providers refuse them.
 */
import { isPlainObject } from '../base/json.ts';

/** In JSON: an escaped pair, an escaped half, or another escape, which may hold a backslash. */
const ESCAPES = /\\u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})|\\u(d[89a-f][\da-f]{2})|\\[^]/gi;

/** `text` with U+FFFD for every half of a surrogate pair; the same text when there is none. */
export function wellFormedText(text: string): string {
  return text.toWellFormed();
}

/** The JSON `text` with U+FFFD for every escaped half of a surrogate pair. */
export function wellFormedJson(text: string): string {
  return text.replace(ESCAPES, (escape, _high: string, _low: string, half: string | undefined) =>
    half === undefined ? escape : '\\ufffd',
  );
}

/**
 * `value` with all its texts and keys made well-formed. Lists and plain objects are searched;
 * what has nothing to mend is returned as it is, not copied.
 */
export function wellFormed<Value>(value: Value): Value {
  return (isWellFormed(value) ? value : mended(value)) as Value;
}

/** Each event of a run is searched, nearly always for nothing: so this makes no copies. */
function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (Array.isArray(value)) return value.every(isWellFormed);
  if (!isPlainObject(value)) return true;
  for (const key in value) {
    if (!key.isWellFormed() || !isWellFormed(value[key])) return false;
  }
  return true;
}

function mended(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]),
  );
}
