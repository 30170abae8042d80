/**
 * JSON as data: the types that everything durable extends, a guard, a canonical text and a size.
 */

import type { Json, JsonObject } from '../../lisp/base/json.ts';
import { utf8Length } from '../../lisp/base/utf8-length.ts';

export { isJsonObject } from '../../lisp/base/json.ts';
/** JSON values: state, payloads and events extend them, so they survive any serialisation. */
export type { Json, JsonObject };
/** One count of bytes for the language and for what surrounds it. */
export { utf8Length };

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

/** The size of `value` as compact JSON, in UTF-8 bytes. */
export function byteSize(value: Json): number {
  return utf8Length(JSON.stringify(value));
}
