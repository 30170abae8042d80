/**
 * How much work it takes to check arguments by the schema of a server. References can double it
 * with each level (`anyOf` of two references to the same, and so on), so that a schema of 2 KB
 * holds a thread for years.
 */
import {
  isDeeperThan,
  isJsonObject,
  MAX_JSON_DEPTH,
  type Json,
  type JsonObject,
} from '../../core/base/json.ts';
import { SCHEMA_LISTS, SCHEMA_MAPS, SINGLE_SCHEMAS } from '../../define/schema/subschemas.ts';

/** Schemas that are tried on values in one check; each may leave an error in memory. */
const MAX_TRIED = 1_000_000;

/** Keywords with which the target of a reference is not found by its path alone. */
const UNKNOWN_TARGETS = ['$dynamicRef', '$recursiveRef', '$anchor', '$dynamicAnchor'];

/** Keywords that no value is compared with. */
const WORDS = ['default', 'examples'];

interface Cost {
  /** Schemas that are tried on each value. */
  readonly tried: number;
  /** Schemas with `uniqueItems`: each compares every value with every other one. */
  readonly compared: number;
}

const costs = new WeakMap<JsonObject, Cost>();

/**
 * Whether `args` can be checked by `schema` in bounded time. One that refers to itself cannot: the
 * server checks, as it does in any case.
 */
export function isCheckable(schema: JsonObject, args: Json): boolean {
  if (isDeeperThan(args, MAX_JSON_DEPTH)) return false;
  const { tried, compared } = costs.get(schema) ?? readCost(schema);
  if (tried > MAX_TRIED) return false;
  const size = sizeOf(args);
  return (tried + compared * size) * size <= MAX_TRIED;
}

function readCost(root: JsonObject): Cost {
  const tried = costOf(root, { root, known: new Map(), perComparison: 0 });
  const both = costOf(root, { root, known: new Map(), perComparison: 1 });
  const cost = { tried, compared: tried > MAX_TRIED ? 0 : both - tried };
  costs.set(root, cost);
  return cost;
}

interface Reading {
  readonly root: JsonObject;
  /** By pointer; infinite while it is being read, so that circles are found. */
  readonly known: Map<string, number>;
  /** What one `uniqueItems` counts. */
  readonly perComparison: number;
}

/** How many schemas are tried on a value, its parts included, if each part is tried once. */
function costOf(schema: Json, reading: Reading): number {
  if (!isJsonObject(schema)) return 0;
  const hasOtherBase = schema['$id'] !== undefined && schema !== reading.root;
  if (hasOtherBase || UNKNOWN_TARGETS.some((keyword) => typeof schema[keyword] === 'string')) {
    return Infinity;
  }
  let cost = 1;
  for (const [keyword, value] of Object.entries(schema)) {
    cost += keywordCost(keyword, value, reading);
  }
  return cost;
}

function keywordCost(keyword: string, value: Json, reading: Reading): number {
  if (keyword === '$ref') return typeof value === 'string' ? targetCost(value, reading) : 0;
  if (keyword === 'uniqueItems') return value === true ? reading.perComparison : 0;
  if (SINGLE_SCHEMAS.includes(keyword)) return costOf(value, reading);
  if (SCHEMA_LISTS.includes(keyword) && Array.isArray(value)) return sum(value as Json[], reading);
  if (SCHEMA_MAPS.includes(keyword) && isJsonObject(value)) {
    return sum(Object.values(value), reading);
  }
  // A list of names, or the values of an `enum`, with each of which a value is compared.
  const isTried = typeof value === 'object' && value !== null && !WORDS.includes(keyword);
  return isTried ? sizeOf(value) : 0;
}

function sum(parts: readonly Json[], reading: Reading): number {
  let total = 0;
  // Of a list in `dependencies`, each name is looked for.
  for (const part of parts) total += Array.isArray(part) ? part.length : costOf(part, reading);
  return total;
}

function targetCost(pointer: string, reading: Reading): number {
  const known = reading.known.get(pointer);
  if (known !== undefined) return known;
  const target = targetOf(pointer, reading.root);
  reading.known.set(pointer, Infinity);
  const cost = target === undefined ? Infinity : costOf(target, reading);
  reading.known.set(pointer, cost);
  return cost;
}

/** The schema at `pointer`; undefined if it is no place of a schema, which has not been cleaned. */
function targetOf(pointer: string, root: JsonObject): Json | undefined {
  if (pointer === '#') return root;
  if (!pointer.startsWith('#/')) return undefined;
  const segments = pointer.slice(2).split('/').map(unescaped);
  let at: Json | undefined = root;
  for (let index = 0; index < segments.length; index++) {
    const keyword = segments[index] ?? '';
    at = partOf(at, keyword);
    if (SINGLE_SCHEMAS.includes(keyword)) continue;
    if (!SCHEMA_MAPS.includes(keyword) && !SCHEMA_LISTS.includes(keyword)) return undefined;
    index += 1;
    at = partOf(at, segments[index] ?? '');
  }
  return at;
}

function partOf(value: Json | undefined, key: string): Json | undefined {
  const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, key);
  return isThere ? (value as JsonObject)[key] : undefined;
}

function unescaped(segment: string): string {
  const text = segment.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Values in `value`, itself included. */
function sizeOf(value: Json): number {
  let size = 1;
  const parts: readonly Json[] = Array.isArray(value)
    ? value
    : isJsonObject(value)
      ? Object.values(value)
      : [];
  for (const part of parts) size += sizeOf(part);
  return size;
}
