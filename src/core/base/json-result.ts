/** A tool's return value as JSON, or the place where it is not JSON. */
import { isPlainObject, MAX_JSON_DEPTH, type Json } from './json.ts';

/** JSON or `undefined`; otherwise the place and type of the part that is not JSON. */
export type JsonResult =
  | { readonly kind: 'json'; readonly value: Json | undefined }
  | {
      readonly kind: 'not_json';
      /** `rows[2].id`, or `(value)` for the root. */
      readonly path: string;
      /** `Map`, `bigint`, `function`, `NaN`, `a cycle`, … */
      readonly type: string;
    };

/**
 * `value` as JSON. A Date becomes ISO text, an instance of a class the value of its `toJSON`,
 * undefined properties are dropped, undefined items of a list become null, -0 becomes 0. Refused:
 * functions, symbols, bigints, NaN, infinities, Map, Set, cycles, other instances of classes.
 */
export function toJsonResult(value: unknown): JsonResult {
  if (value === undefined) return { kind: 'json', value: undefined };
  try {
    return { kind: 'json', value: convert(value, '', []) };
  } catch (thrown) {
    if (!(thrown instanceof NotJson)) throw thrown;
    const { path, type } = thrown;
    return { kind: 'not_json', path: path === '' ? '(value)' : path, type };
  }
}

class NotJson extends Error {
  readonly path: string;
  readonly type: string;

  constructor(path: string, type: string) {
    super(`${path} is ${type}`);
    this.path = path;
    this.type = type;
  }
}

function convert(value: unknown, path: string, around: readonly object[]): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw new NotJson(path, String(value));
      return Object.is(value, -0) ? 0 : value;
    case 'object':
      return value === null ? null : convertObject(value, path, around);
    case 'undefined':
      return null;
    default:
      throw new NotJson(path, typeof value);
  }
}

function convertObject(value: object, path: string, around: readonly object[]): Json {
  if (around.includes(value)) throw new NotJson(path, 'a cycle');
  if (around.length >= MAX_JSON_DEPTH) {
    throw new NotJson(path, `deeper than ${MAX_JSON_DEPTH} levels`);
  }
  const inside = [...around, value];
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    const replaced: unknown = value.toJSON();
    // An invalid date would become null and be lost silently.
    if (replaced === null && 'getTime' in value) throw new NotJson(path, 'an invalid date');
    if (replaced === value) throw new NotJson(path, 'a cycle');
    return convert(replaced, path, inside);
  }
  if (Array.isArray(value)) {
    return value.map((item: unknown, i) => convert(item, `${path}[${i}]`, inside));
  }
  if (!isPlainObject(value)) throw new NotJson(path, className(value));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key, convert(item, path === '' ? key : `${path}.${key}`, inside)]),
  );
}

function className(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === 'string' && name !== '' ? name : 'an object of a class';
}
