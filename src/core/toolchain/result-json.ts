/** A tool's return value as JSON, or the place where it is not JSON. */
import { MAX_JSON_DEPTH, type Json } from '../base/json.ts';

/** Plain JSON; `undefined` is kept; or the place and type of what is not JSON. */
export type JsonResult =
  | { readonly kind: 'json'; readonly value: Json | undefined }
  | {
      readonly kind: 'not_json';
      /** `rows[2].id`, or `(value)` for the root. */
      readonly path: string;
      /** `Map`, `bigint`, `function`, `NaN`, `a cycle`, … */
      readonly type: string;
    };

interface Refusal {
  readonly path: string;
  readonly type: string;
}

/**
 * `value` as JSON. A Date becomes ISO text, an instance of a class the value of its `toJSON`,
 * undefined properties are dropped, undefined items of a list become null, -0 becomes 0. Refused:
 * functions, symbols, bigints, NaN, infinities, Map, Set, cycles, other instances of classes.
 */
export function toJsonResult(value: unknown): JsonResult {
  if (value === undefined) return { kind: 'json', value: undefined };
  const refusals: Refusal[] = [];
  const json = convert(value, '', [], refusals);
  const [refusal] = refusals;
  return refusal === undefined
    ? { kind: 'json', value: json }
    : {
        kind: 'not_json',
        path: refusal.path === '' ? '(value)' : refusal.path,
        type: refusal.type,
      };
}

function convert(value: unknown, path: string, around: object[], refusals: Refusal[]): Json {
  const refuse = (type: string): null => {
    refusals.push({ path, type });
    return null;
  };
  if (refusals.length > 0) return null;
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) return refuse(String(value));
      return Object.is(value, -0) ? 0 : value;
    case 'object':
      return value === null ? null : convertObject(value, path, around, refusals);
    case 'undefined':
      return null;
    default:
      return refuse(typeof value);
  }
}

function convertObject(value: object, path: string, around: object[], refusals: Refusal[]): Json {
  const refuse = (type: string): null => {
    refusals.push({ path, type });
    return null;
  };
  if (around.includes(value)) return refuse('a cycle');
  if (around.length >= MAX_JSON_DEPTH) return refuse(`deeper than ${MAX_JSON_DEPTH} levels`);
  const inside = [...around, value];
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    const replaced: unknown = value.toJSON();
    // An invalid date would become null and be lost silently.
    if (replaced === null && 'getTime' in value) return refuse('an invalid date');
    return replaced === value ? refuse('a cycle') : convert(replaced, path, inside, refusals);
  }
  if (Array.isArray(value)) {
    return value.map((item: unknown, i) => convert(item, `${path}[${i}]`, inside, refusals));
  }
  if (!isPlain(value)) return refuse(className(value));
  const entries: [string, Json][] = [];
  for (const [key, item] of Object.entries(value)) {
    const itemPath = path === '' ? key : `${path}.${key}`;
    if (item !== undefined) entries.push([key, convert(item, itemPath, inside, refusals)]);
  }
  return Object.fromEntries(entries);
}

/** Of any realm: it has no prototype, or one that has none. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function className(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' ? name : 'an object of a class';
}
