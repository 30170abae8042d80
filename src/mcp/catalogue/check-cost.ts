/**
 * How much work it is to check arguments by a schema of a stranger. References can double it with
 * each level (`anyOf` of two references to the same, and so on), so that a schema of 2 KB holds a
 * thread for years.
 */
import {
  isDeeperThan,
  isJsonObject,
  MAX_JSON_DEPTH,
  type Json,
  type JsonObject,
} from '../../core/base/json.ts';

/** Schemas that are tried on values in one check; each may leave an error in memory. */
const MAX_TRIED = 1_000_000;

/** Keywords with which the target of a reference is not found by its path alone. */
const UNKNOWN_TARGETS = ['$dynamicRef', '$recursiveRef', '$anchor', '$dynamicAnchor'];

const costs = new WeakMap<JsonObject, number>();

/**
 * Whether `args` can be checked by `schema` in bounded time. One that refers to itself cannot: the
 * server checks, as it does in any case.
 */
export function isCheckable(schema: JsonObject, args: Json): boolean {
  if (isDeeperThan(args, MAX_JSON_DEPTH)) return false;
  const cost = costs.get(schema) ?? costOf(schema, { root: schema, known: new Map() });
  costs.set(schema, cost);
  return cost <= MAX_TRIED && cost * sizeOf(args) <= MAX_TRIED;
}

interface Reading {
  readonly root: JsonObject;
  /** By pointer; infinite while it is being read, so that circles are found. */
  readonly known: Map<string, number>;
}

/** How many schemas are tried on a value, its parts included, if each part is tried once. */
function costOf(part: Json, reading: Reading): number {
  if (Array.isArray(part)) return sum(part as readonly Json[], reading);
  if (!isJsonObject(part)) return 0;
  const { $id, $ref: pointer, ...rest } = part;
  const hasOtherBase = $id !== undefined && part !== reading.root;
  if (hasOtherBase || UNKNOWN_TARGETS.some((keyword) => typeof rest[keyword] === 'string')) {
    return Infinity;
  }
  const own = 1 + sum(Object.values(rest), reading);
  return typeof pointer === 'string' ? own + targetCost(pointer, reading) : own;
}

function sum(parts: readonly Json[], reading: Reading): number {
  let total = 0;
  for (const part of parts) total += costOf(part, reading);
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

function targetOf(pointer: string, root: JsonObject): Json | undefined {
  if (pointer === '#') return root;
  if (!pointer.startsWith('#/')) return undefined;
  let at: Json | undefined = root;
  for (const segment of pointer.slice(2).split('/')) {
    const key = unescaped(segment);
    const isThere: boolean = typeof at === 'object' && at !== null && Object.hasOwn(at, key);
    if (!isThere) return undefined;
    at = (at as JsonObject)[key];
  }
  return at;
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
