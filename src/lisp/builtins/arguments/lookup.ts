/**
 * Lookup in collections. A keyword also finds an equal string key, and a string a keyword; `-` in a
 * key also finds `_`.
 */
import type { Context } from '../../value/context.ts';
import { Fault } from '../../base/problem.ts';
import { arityMessage } from '../../base/arity.ts';
import { FREE_NAME } from '../../value/order.ts';
import { keywordInLeaf, treeGet, treeMember } from '../../value/tree.ts';
import {
  isKeyword,
  isMap,
  isNumber,
  isSet,
  isVector,
  keyword,
  type Meter,
  type TreeMap,
  type Value,
  type Vector,
} from '../../value/value.ts';
import { vectorAt, vectorCount } from '../../value/vector.ts';
import { characterAt as characterIn } from '../../value/characters.ts';

/** Fuel of reading or writing one key. */
export const KEY_COST = 2;

/** The key of `map` that `key` finds, or undefined. */
export function flexibleKey(meter: Meter, map: TreeMap, key: Value): Value | undefined {
  const exact = treeMember(map, key, meter);
  if (exact !== undefined) return exact;
  for (const other of otherSpellings(meter, key)) {
    const found = treeMember(map, other, meter);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The value under `key` in any of its spellings, or undefined. */
export function flexibleGet(meter: Meter, map: TreeMap, key: Value): Value | undefined {
  if (isKeyword(key)) {
    // Every key of a leaf may be a name of the same length.
    if (key.name.length > FREE_NAME) meter.charge(map.root.keys.length * (key.name.length >>> 4));
    const quick = keywordInLeaf(map, key);
    if (quick !== undefined) return quick;
    const other = treeGet(map, key.name, meter);
    if (other !== undefined && map.root.kids === null) return other;
  }
  const exact = treeGet(map, key, meter);
  if (exact !== undefined) return exact;
  for (const other of otherSpellings(meter, key)) {
    const found = treeGet(map, other, meter);
    if (found !== undefined) return found;
  }
  return undefined;
}

function otherSpellings(meter: Meter, key: Value): readonly Value[] {
  const name = typeof key === 'string' ? key : isKeyword(key) ? key.name : null;
  if (name === null) return [];
  if (name.length > FREE_NAME) meter.charge(name.length >>> 4);
  const other = typeof key === 'string' ? keyword(name) : name;
  if (!name.includes('-')) return [other];
  const underscored = name.replaceAll('-', '_');
  return [other, keyword(underscored), underscored];
}

/** A number as an index: a float is truncated, NaN and infinities give −1. */
export function indexOf(value: Value): number {
  if (typeof value === 'number') return value;
  if (!isNumber(value)) return -1;
  const index = Math.trunc(typeof value === 'bigint' ? Number(value) : value.value);
  return Number.isFinite(index) ? index : -1;
}

/** The element of a vector at an index of any number type, or undefined. */
export function elementAt(vector: Vector, index: Value): Value | undefined {
  const at = indexOf(index);
  return at >= 0 && at < vectorCount(vector) ? vectorAt(vector, at) : undefined;
}

/** `found`, or `fallback` when it is undefined. A nil that was found counts. */
export function foundOr(found: Value | undefined, fallback: Value): Value {
  return found === undefined ? fallback : found;
}

/** `get` for any collection; undefined when there is no value. */
export function getFrom(ctx: Context, from: Value, key: Value): Value | undefined {
  ctx.charge(KEY_COST);
  if (isMap(from)) return flexibleGet(ctx, from, key);
  if (isVector(from)) return isNumber(key) ? elementAt(from, key) : undefined;
  if (isSet(from)) return treeMember(from, key, ctx);
  if (typeof from === 'string' && isNumber(key)) return characterAt(ctx, from, indexOf(key));
  return undefined;
}

/** The character of a text at an index, or undefined. */
export function characterAt(ctx: Context, text: string, index: number): Value | undefined {
  ctx.charge(text.length >>> 4);
  return characterIn(text, index);
}

function checkCount(name: string, args: readonly Value[], max: number): void {
  if (args.length >= 1 && args.length <= max) return;
  throw new Fault('arity_error', arityMessage(name, 1, max, args.length));
}

/** The value of calling a keyword, map, set or vector; undefined when `fn` is none of them. */
export function lookup(ctx: Context, fn: Value, args: readonly Value[]): Value | undefined {
  const [first = null, fallback = null] = args;
  if (isKeyword(fn)) {
    checkCount(`:${fn.name}`, args, 2);
    ctx.charge(KEY_COST);
    if (isMap(first)) return foundOr(flexibleGet(ctx, first, fn), fallback);
    if (isSet(first)) return foundOr(treeMember(first, fn, ctx), fallback);
    return fallback;
  }
  if (isMap(fn)) {
    checkCount('map', args, 2);
    ctx.charge(KEY_COST);
    return foundOr(flexibleGet(ctx, fn, first), fallback);
  }
  if (isSet(fn)) {
    checkCount('set', args, 1);
    ctx.charge(KEY_COST);
    return treeMember(fn, first, ctx) ?? null;
  }
  if (isVector(fn)) {
    checkCount('vector', args, 1);
    ctx.charge(KEY_COST);
    if (!isNumber(first)) throw new Fault('type_error', 'A vector is called with an index.');
    return elementAt(fn, first) ?? null;
  }
  return undefined;
}
