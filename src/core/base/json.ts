/**
 * JSON as data: the types that everything durable extends, a guard, a canonical text and a size.
 */

/** A JSON value. State, payloads and events extend it, so they survive any serialisation. */
export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** Whether `value` is a plain object: neither null, nor an array, nor an instance of a class. */
export function isPlainObject(value: unknown): value is { readonly [key: string]: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  // Objects of another realm have another Object.prototype: accept any prototype without one above.
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * Arrays and objects inside each other that data from outside may have. Whoever writes it as text,
 * recursively, ends near 1,000 levels with a stack that is full (measured: YAML of a result).
 */
export const MAX_JSON_DEPTH = 200;

/** Whether `value` nests deeper than `levels`; a cycle does. Looks no deeper than that. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

/** Whether `value` is a JSON object; the values inside are not looked at. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The JSON text of `value` with the keys of every object in code-unit order and no white space.
 * Equal values give equal text, so it is what is hashed and compared. Linear in the size.
 */
export function canonicalJson(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const object = value as JsonObject;
  const members = Object.keys(object)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(object[key] as Json)}`);
  return `{${members.join(',')}}`;
}

/** The length of `text` in UTF-8 bytes. A lone surrogate counts 3, as its replacement would. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(index + 1))) {
      bytes += 4;
      index += 1;
    } else bytes += 3;
  }
  return bytes;
}

/** The size of `value` as compact JSON, in UTF-8 bytes. */
export function byteSize(value: Json): number {
  return utf8Length(JSON.stringify(value));
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
