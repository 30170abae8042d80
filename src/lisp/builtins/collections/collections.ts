/**
 * The builtins that read collections, join them, and take parts of them away.
 */
import { checkCount, type Context } from '../../value/context.ts';
import { characterCount, isSimple } from '../../value/characters.ts';
import { compareKeys } from '../../value/order.ts';
import { treeKeys, treeVals } from '../../value/tree-walk.ts';
import { EMPTY_MAP, EMPTY_SET, mapRemove, mapSet, setRemove, treeHas } from '../../value/tree.ts';
import {
  isMap,
  isNumber,
  isSet,
  isVector,
  type Value,
  type Vector,
  type BuiltinWork,
} from '../../value/value.ts';
import {
  EMPTY_VECTOR,
  vectorAppend,
  vectorAt,
  vectorCount,
  vectorDrop,
  vectorItems,
  vectorOf,
  vectorPop,
  vectorSlice,
} from '../../value/vector.ts';
import { arg, expectCount, expectMap, fault, wrongType } from '../arguments/expect.ts';
import {
  characterAt,
  elementAt,
  flexibleGet,
  flexibleKey,
  foundOr,
  getFrom,
  indexOf,
  KEY_COST,
} from '../arguments/lookup.ts';
import {
  allOf,
  elementsOf,
  entriesOf,
  itemsAt,
  orderedSourceAt,
  sourceAt,
} from '../arguments/seqable.ts';
import { plain } from '../arguments/stepping.ts';
import { associate, associateIn, conjoin, getInAt } from './entries.ts';

/** The number of elements of argument `index`; fails when its type has none. */
function countAt(ctx: Context, args: readonly Value[], index: number): number {
  const value = arg(args, index);
  if (value === null) return 0;
  if (isVector(value)) return vectorCount(value);
  if (isMap(value) || isSet(value)) return value.count;
  if (typeof value !== 'string') throw wrongType(ctx, index, 'something with elements', value);
  ctx.charge(value.length >>> 4);
  if (!isSimple(value)) ctx.charge(value.length >>> 4);
  return characterCount(value);
}

function nth(ctx: Context, args: readonly Value[]): Value {
  const [coll = null, index = null, fallback = null] = args;
  if (isMap(coll) || isSet(coll)) orderedSourceAt(ctx, args, 0);
  if (!isNumber(index)) throw wrongType(ctx, 1, 'an index', index);
  ctx.charge(KEY_COST);
  if (coll === null) return fallback;
  if (isVector(coll)) return foundOr(elementAt(coll, index), fallback);
  if (typeof coll === 'string') return foundOr(characterAt(ctx, coll, indexOf(index)), fallback);
  throw wrongType(ctx, 0, 'something with an order', coll);
}

function find(ctx: Context, args: readonly Value[]): Value {
  const [coll = null, key = null] = args;
  ctx.charge(KEY_COST);
  if (coll === null) return null;
  if (isMap(coll)) {
    const found = flexibleKey(ctx, coll, key);
    return found === undefined ? null : vectorOf([found, flexibleGet(ctx, coll, found) ?? null]);
  }
  if (!isVector(coll)) throw wrongType(ctx, 0, 'a map or vector', coll);
  const value = isNumber(key) ? elementAt(coll, key) : undefined;
  return value === undefined ? null : vectorOf([indexOf(key), value]);
}

function contains(ctx: Context, args: readonly Value[]): Value {
  const [coll = null, key = null] = args;
  ctx.charge(KEY_COST);
  if (coll === null) return false;
  if (isMap(coll)) return flexibleGet(ctx, coll, key) !== undefined;
  if (isSet(coll)) return treeHas(coll, key, ctx);
  if (typeof coll === 'string')
    return isNumber(key) && characterAt(ctx, coll, indexOf(key)) !== undefined;
  if (!isVector(coll)) throw wrongType(ctx, 0, 'a collection or text', coll);
  ctx.charge(vectorCount(coll));
  return vectorItems(coll).some((item) => compareKeys(item, key, ctx) === 0);
}

/** The vector that `peek` and `pop` take; nil counts as an empty one. */
function stackOf(ctx: Context, args: readonly Value[]): Vector {
  const coll = arg(args, 0) ?? EMPTY_VECTOR;
  if (isVector(coll)) return coll;
  throw wrongType(ctx, 0, 'a vector', coll);
}

function subvec(ctx: Context, args: readonly Value[]): Value {
  const [coll = null] = args;
  if (!isVector(coll)) throw wrongType(ctx, 0, 'a vector', coll);
  const count = vectorCount(coll);
  const start = Math.max(0, Math.min(count, expectCount(ctx, args, 1)));
  const end = args.length > 2 ? Math.max(0, Math.min(count, expectCount(ctx, args, 2))) : count;
  if (end <= start) return EMPTY_VECTOR;
  if (end === count) return vectorDrop(coll, start);
  ctx.charge(end - start);
  return vectorOf(vectorSlice(coll, start, end));
}

function side(which: 'keys' | 'vals'): BuiltinWork {
  return plain((ctx, args) => {
    const value = arg(args, 0);
    if (value === null) return null;
    if (isMap(value)) {
      ctx.charge(value.count);
      if (value.count === 0) return null;
      return vectorOf(which === 'keys' ? treeKeys(value) : treeVals(value));
    }
    const items = elementsOf(ctx, value);
    if (items !== undefined && items.length === 0) return null;
    if (isVector(value)) {
      ctx.charge(vectorCount(value));
      return vectorOf(
        vectorItems(value).map((item) => pairPart(ctx, item, which === 'keys' ? 0 : 1)),
      );
    }
    throw wrongType(ctx, 0, 'a map', value);
  });
}

function pairPart(ctx: Context, value: Value, index: number): Value {
  if (isVector(value) && vectorCount(value) === 2) return vectorAt(value, index);
  throw wrongType(ctx, 0, 'an entry `[k v]`', value);
}

function merge(ctx: Context, args: readonly Value[]): Value {
  const given = args.filter((value) => value !== null);
  const [first, ...rest] = given;
  if (first === undefined) return EMPTY_MAP;
  // As with `conj`, the first argument may be any collection.
  return rest.reduce((into: Value, item) => conjoin(ctx, into, item), first);
}

function selectKeys(ctx: Context, args: readonly Value[]): Value {
  const [coll = null] = args;
  let result = EMPTY_MAP;
  const keys = sourceAt(ctx, args, 1);
  if (coll === null) return EMPTY_MAP;
  if (!isMap(coll) && !isVector(coll)) throw wrongType(ctx, 0, 'a map or vector', coll);
  for (const key of allOf(keys)) {
    const value = getFrom(ctx, coll, key);
    if (value === undefined) continue;
    ctx.charge(KEY_COST);
    result = mapSet(result, key, value, ctx);
  }
  return result;
}

function into(ctx: Context, args: readonly Value[]): Value {
  if (args.length === 0) return EMPTY_VECTOR;
  const [target = null] = args;
  if (args.length === 1) return target;
  const items = itemsAt(ctx, args, 1);
  ctx.charge(items.length);
  if (target === null || isVector(target)) {
    checkCount(ctx, (target === null ? 0 : vectorCount(target)) + items.length);
    if (items.length === 0) return target;
    if (target === null || items.length > 8) return vectorAppend(target ?? EMPTY_VECTOR, items);
  }
  ctx.charge(items.length);
  let result: Value = target;
  for (const item of items) result = conjoin(ctx, result, item);
  return result;
}

function concat(ctx: Context, args: readonly Value[]): Value {
  const all: Value[] = [];
  for (let index = 0; index < args.length; index++) {
    const items = itemsAt(ctx, args, index);
    checkCount(ctx, all.length + items.length);
    ctx.charge(items.length);
    for (const item of items) all.push(item);
  }
  return vectorOf(all);
}

function without(of: 'map' | 'set'): BuiltinWork {
  return plain((ctx, args) => {
    const [coll = null, ...keys] = args;
    if (coll === null) return null;
    ctx.charge(keys.length * KEY_COST);
    if (of === 'map') {
      let map = expectMap(ctx, args, 0);
      for (const key of keys) map = mapRemove(map, key, ctx);
      return map;
    }
    if (!isSet(coll)) throw wrongType(ctx, 0, 'a set', coll);
    let set = coll;
    for (const key of keys) set = setRemove(set, key, ctx);
    return set;
  });
}

/** The work of these builtins. */
export const COLLECTION_WORK: { readonly [name: string]: BuiltinWork } = Object.freeze({
  get: plain((ctx, args) => foundOr(getFrom(ctx, arg(args, 0), arg(args, 1)), args[2] ?? null)),
  'get-in': plain((ctx, args) => foundOr(getInAt(ctx, args, 1, arg(args, 0)), args[2] ?? null)),
  'by-path~': plain((ctx, args) => getInAt(ctx, args, 0, arg(args, 1)) ?? null),
  nth: plain(nth),
  peek: plain((ctx, args) => {
    const coll = stackOf(ctx, args);
    return vectorCount(coll) === 0 ? null : vectorAt(coll, vectorCount(coll) - 1);
  }),
  pop: plain((ctx, args) => {
    const coll = stackOf(ctx, args);
    if (args[0] !== null) ctx.charge(KEY_COST);
    return vectorCount(coll) === 0 ? null : vectorPop(coll);
  }),
  find: plain(find),
  key: plain((ctx, args) => pairPart(ctx, arg(args, 0), 0)),
  val: plain((ctx, args) => pairPart(ctx, arg(args, 0), 1)),
  keys: side('keys'),
  vals: side('vals'),
  entries: plain((ctx, args) => {
    const [value = null] = args;
    if (value === null) return EMPTY_VECTOR;
    const map = expectMap(ctx, args, 0);
    ctx.charge(map.count);
    return vectorOf(entriesOf(map));
  }),
  'contains?': plain(contains),
  count: plain((ctx, args) => countAt(ctx, args, 0)),
  'empty?': plain((ctx, args) => isEmptyAt(ctx, args)),
  'not-empty': plain((ctx, args) => (isEmptyAt(ctx, args) ? null : arg(args, 0))),
  seq: plain((ctx, args) => {
    const [value = null] = args;
    if (isVector(value)) return vectorCount(value) === 0 ? null : value;
    const items = itemsAt(ctx, args, 0);
    ctx.charge(items.length);
    return items.length === 0 ? null : vectorOf(items);
  }),
  subvec: plain(subvec),
  assoc: plain((ctx, args) => {
    if (args.length % 2 === 0) {
      throw fault(
        ctx,
        'arity_error',
        `pairs of key and value are needed, got ${args.length - 1} arguments after the collection.`,
      );
    }
    let coll = arg(args, 0);
    for (let index = 1; index < args.length; index += 2) {
      coll = associate(ctx, coll, arg(args, index), arg(args, index + 1));
    }
    return coll;
  }),
  'assoc-in': plain((ctx, args) => {
    const path = itemsAt(ctx, args, 1);
    return associateIn(ctx, arg(args, 0), path.length === 0 ? [null] : path, arg(args, 2));
  }),
  dissoc: without('map'),
  disj: without('set'),
  merge: plain(merge),
  'select-keys': plain(selectKeys),
  conj: plain((ctx, args) => {
    if (args.length === 0) return EMPTY_VECTOR;
    let coll = arg(args, 0);
    for (let index = 1; index < args.length; index++) coll = conjoin(ctx, coll, arg(args, index));
    return coll;
  }),
  cons: plain((ctx, args) => {
    const items = itemsAt(ctx, args, 1);
    checkCount(ctx, items.length + 1);
    ctx.charge(items.length + 1);
    return vectorOf([arg(args, 0), ...items]);
  }),
  into: plain(into),
  empty: plain((_c, args) => {
    const [value = null] = args;
    if (isVector(value)) return EMPTY_VECTOR;
    if (isMap(value)) return EMPTY_MAP;
    return isSet(value) ? EMPTY_SET : null;
  }),
  concat: plain(concat),
});

function isEmptyAt(ctx: Context, args: readonly Value[]): boolean {
  const value = arg(args, 0);
  if (typeof value === 'string') return value === '';
  return countAt(ctx, args, 0) === 0;
}
