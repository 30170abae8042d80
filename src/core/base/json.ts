/** JSON as data: types, guards, canonical text, size, depth, rounding. */

import { isJsonObject, type Json, type JsonObject } from '../../lisp/base/json.ts';
import { utf8Length } from '../../lisp/base/utf8-length.ts';

/** Shared with the language, which may not import from core. */
export { isJsonObject, utf8Length };
/** State, payloads and events are JSON, so they survive any serialisation. */
export type { Json, JsonObject };

/** Whether `value` is a plain object: not null, not an array, not an instance of a class. */
export function isPlainObject(value: unknown): value is { readonly [key: string]: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  // Each realm has its own Object.prototype, so accept any prototype that has no prototype.
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The field `name` of `value`; undefined if it is not an object or has no such field. */
export function memberOf(value: Json | undefined, name: string): Json | undefined {
  if (value === undefined || !isJsonObject(value)) return undefined;
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/**
 * The deepest nesting accepted in data from outside. Recursive writers overflow the stack near
 * 1,000 levels (measured with the YAML text of a tool result).
 */
export const MAX_JSON_DEPTH = 200;

/** Whether `value` nests deeper than `levels`; true for a cycle. Stops at that depth. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

/**
 * The JSON text of `value` with the keys of every object in code-unit order and no white space.
 * Equal values have equal text, so hashes and comparisons use it.
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

/** The types of JSON Schema, except that `integer` is `number`. */
export type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

/** The type of `value`, named as in JSON Schema: `null`, `number`, `array`, … */
export function jsonType(value: Json): JsonType {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : (typeof value as JsonType);
}

/** `value` with every number that is not whole rounded to `digits` decimal places. */
export function roundFloats(value: Json, digits: number): Json {
  if (typeof value === 'number') {
    return Number.isInteger(value) ? value : Number(value.toFixed(digits));
  }
  if (Array.isArray(value)) return value.map((item: Json) => roundFloats(item, digits));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, roundFloats(item, digits)]),
  );
}
