/** Takes values out of texts and of JSON that leave a worker. */

/** Returns a text without what it hides. Never throws, and takes time that is linear in the text. */
export type HideText = (text: string) => string;

/** Hides nothing. */
export const HIDE_NOTHING: HideText = (text) => text;

/**
 * `value` with all its texts and names hidden; as it is if nothing is to hide. It is JSON, whatever
 * its type is called, and stays of that type: what is hidden in a text is a text.
 */
export function hideIn<Value>(value: Value, hide: HideText): Value {
  return hide === HIDE_NOTHING ? value : (hidden(value, hide) as Value);
}

function hidden(value: unknown, hide: HideText): unknown {
  if (typeof value === 'string') return hide(value);
  if (Array.isArray(value)) return value.map((item) => hidden(item, hide));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [hide(name), hidden(item, hide)]),
  );
}
