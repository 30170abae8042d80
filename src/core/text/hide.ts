/** Takes values out of texts and of JSON that leave a worker. */
import { isJsonObject, type Json } from '../base/json.ts';

/** Returns a text without what it hides. Never throws, and takes time that is linear in the text. */
export type HideText = (text: string) => string;

/** Hides nothing. */
export const HIDE_NOTHING: HideText = (text) => text;

/** `value` with all its texts and names hidden; as it is if nothing is to hide. */
export function hideIn<Value extends Json>(value: Value, hide: HideText): Value {
  return (hide === HIDE_NOTHING ? value : hidden(value, hide)) as Value;
}

function hidden(value: Json, hide: HideText): Json {
  if (typeof value === 'string') return hide(value);
  if (Array.isArray(value)) return value.map((item) => hidden(item, hide));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [hide(name), hidden(item, hide)]),
  );
}
