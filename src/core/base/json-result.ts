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
 * Values in a result. A list of a billion holes, or an object that stands twice in each of thirty
 * others, would hold the process.
 */
const MAX_VALUES = 2_500_000;

/**
 * `value` as JSON. A Date becomes ISO text, an instance of a class the value of its `toJSON`,
 * undefined properties are dropped, undefined items of a list become null, -0 becomes 0. Refused:
 * functions, symbols, bigints, NaN, infinities, Map, Set, cycles, other instances of classes, and more
 * than {@link MAX_VALUES} values.
 */
export function toJsonResult(value: unknown): JsonResult {
  if (value === undefined) return { kind: 'json', value: undefined };
  try {
    return { kind: 'json', value: convert(value, '', { around: [], seen: { values: 0 } }) };
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

/** Where a value stands: the objects around it, and how many values were converted. */
interface Place {
  readonly around: readonly object[];
  readonly seen: { values: number };
}

function convert(value: unknown, path: string, place: Place): Json {
  countValues(1, path, place);
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw new NotJson(path, String(value));
      return Object.is(value, -0) ? 0 : value;
    case 'object':
      return value === null ? null : convertObject(value, path, place);
    case 'undefined':
      return null;
    default:
      throw new NotJson(path, typeof value);
  }
}

/** Counts `more` values, of which there may be too many. */
function countValues(more: number, path: string, { seen }: Place): void {
  seen.values += more;
  if (seen.values > MAX_VALUES) throw new NotJson(path, `beyond ${MAX_VALUES} values`);
}

function convertObject(value: object, path: string, place: Place): Json {
  const { around, seen } = place;
  if (around.includes(value)) throw new NotJson(path, 'a cycle');
  if (around.length >= MAX_JSON_DEPTH) {
    throw new NotJson(path, `deeper than ${MAX_JSON_DEPTH} levels`);
  }
  const inside: Place = { around: [...around, value], seen };
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    const replaced: unknown = value.toJSON();
    // An invalid date would become null and be lost silently.
    if (replaced === null && 'getTime' in value) throw new NotJson(path, 'an invalid date');
    if (replaced === value) throw new NotJson(path, 'a cycle');
    return convert(replaced, path, inside);
  }
  if (Array.isArray(value)) {
    // Holes are converted too: JSON has null for them.
    if (value.length > MAX_VALUES) countValues(value.length, path, place);
    return Array.from(value, (item: unknown, i) => convert(item, `${path}[${i}]`, inside));
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
