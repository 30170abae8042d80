/**
 * Well-formed text: no half of a surrogate pair. JavaScript makes such halves easily, as in
 * `'x 😀'.slice(0, 3)`, but they have no UTF-8, so the service and providers refuse them.
 */
import { isPlainObject } from '../base/json.ts';

const HALVES = /\p{Surrogate}/gu;

/** In JSON: an escaped pair, an escaped half, or another escape, which may hold a backslash. */
const ESCAPES = /\\u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})|\\u(d[89a-f][\da-f]{2})|\\[^]/gi;

/** `text` with U+FFFD for every half of a surrogate pair; the same text when there is none. */
export function wellFormedText(text: string): string {
  return text.replace(HALVES, '\ufffd');
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
  return mended(value) as Value;
}

function mended(value: unknown): unknown {
  if (typeof value === 'string') return wellFormedText(value);
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value.map(mended);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isPlainObject(value)) return value;
  const before = Object.entries(value);
  const after = before.map(([key, item]) => [wellFormedText(key), mended(item)] as const);
  const isSame = after.every(([key, item], index) => {
    const [oldKey, oldItem] = before[index] ?? [];
    return key === oldKey && item === oldItem;
  });
  return isSame ? value : Object.fromEntries(after);
}
