/**
 * Sets and relations.
 */
import { checkCount, type Context } from '../../value/context.ts';
import { treeKeys, treeVals } from '../../value/tree-walk.ts';
import {
  EMPTY_MAP,
  EMPTY_SET,
  mapOf,
  mapRemove,
  mapSet,
  setAdd,
  setOf,
  setRemove,
  treeGet,
  treeHas,
} from '../../value/tree.ts';
import {
  isMap,
  isSet,
  type TreeMap,
  type TreeSet,
  type Value,
  type BuiltinWork,
} from '../../value/value.ts';
import { arg, expectMap, wrongType } from '../arguments/expect.ts';
import { flexibleGet, KEY_COST } from '../arguments/lookup.ts';
import { itemsAt } from '../arguments/seqable.ts';
import { plain } from '../arguments/stepping.ts';

/** Argument `index` as a set: nil is the empty set, and other collections become sets. */
function setAt(ctx: Context, args: readonly Value[], index: number): TreeSet {
  const value = arg(args, index);
  if (isSet(value)) return value;
  if (value === null) return EMPTY_SET;
  const items = itemsAt(ctx, args, index);
  ctx.charge(items.length * KEY_COST);
  return setOf(items, ctx);
}

function union(ctx: Context, args: readonly Value[]): Value {
  let result: TreeSet | null = null;
  const sets = args
    .map((_, index) => setAt(ctx, args, index))
    .toSorted((a, b) => b.count - a.count);
  for (const next of sets) {
    if (result === null) {
      result = next;
      continue;
    }
    ctx.charge(next.count * KEY_COST);
    for (const item of treeKeys(next)) {
      checkCount(ctx, result.count + 1);
      result = setAdd(result, item, ctx);
    }
  }
  if (args.length > 0 && args.every((value) => value === null)) return null;
  return result ?? EMPTY_SET;
}

function intersection(ctx: Context, args: readonly Value[]): Value {
  if (arg(args, 0) === null) return null;
  let result = setAt(ctx, args, 0);
  for (let index = 1; index < args.length; index++) {
    if (arg(args, index) === null) return result.count === 0 ? result : null;
    const other = setAt(ctx, args, index);
    const [small, large] = result.count <= other.count ? [result, other] : [other, result];
    ctx.charge(small.count * KEY_COST);
    result = setOf(
      treeKeys(small).filter((item) => treeHas(large, item, ctx)),
      ctx,
    );
  }
  return result;
}

function difference(ctx: Context, args: readonly Value[]): Value {
  if (arg(args, 0) === null) return null;
  let result = setAt(ctx, args, 0);
  for (let index = 1; index < args.length; index++) {
    const other = setAt(ctx, args, index);
    ctx.charge(Math.min(other.count, result.count) * KEY_COST);
    if (other.count > result.count) {
      result = setOf(
        treeKeys(result).filter((item) => !treeHas(other, item, ctx)),
        ctx,
      );
    } else {
      // Each removal copies the way to its element.
      ctx.charge(other.count * KEY_COST);
      for (const item of treeKeys(other)) result = setRemove(result, item, ctx);
    }
  }
  return result;
}

function isSubset(ctx: Context, small: TreeSet, large: TreeSet): boolean {
  ctx.charge(small.count * KEY_COST);
  return small.count <= large.count && treeKeys(small).every((item) => treeHas(large, item, ctx));
}

function renameKeys(ctx: Context, map: TreeMap, names: TreeMap): TreeMap {
  ctx.charge((map.count + names.count) * KEY_COST);
  const olds = treeKeys(names);
  const news = treeVals(names);
  let result = map;
  for (const old of olds) result = mapRemove(result, old, ctx);
  for (const [index, old] of olds.entries()) {
    const value = treeGet(map, old, ctx);
    if (value !== undefined) result = mapSet(result, news[index] as Value, value, ctx);
  }
  return result;
}

function rowsAt(ctx: Context, args: readonly Value[], index: number): readonly TreeMap[] {
  const rows = itemsAt(ctx, args, index);
  ctx.charge(rows.length * KEY_COST);
  return rows.map((row) => {
    if (row === null) return EMPTY_MAP;
    if (!isMap(row)) throw wrongType(ctx, index, 'a set of maps', row);
    return row;
  });
}

function project(ctx: Context, row: TreeMap, keys: readonly Value[]): TreeMap {
  let result = EMPTY_MAP;
  for (const key of keys) {
    ctx.charge(KEY_COST);
    const value = flexibleGet(ctx, row, key);
    if (value !== undefined) result = mapSet(result, key, value, ctx);
  }
  return result;
}

function indexRows(ctx: Context, rows: readonly TreeMap[], keys: readonly Value[]): TreeMap {
  let index = EMPTY_MAP;
  ctx.charge(keys.length + rows.length * KEY_COST);
  for (const row of rows) {
    const key = project(ctx, row, keys);
    const group = treeGet(index, key, ctx);
    index = mapSet(
      index,
      key,
      setAdd(group === undefined ? EMPTY_SET : (group as TreeSet), row, ctx),
      ctx,
    );
  }
  return index;
}

function merged(ctx: Context, a: TreeMap, b: TreeMap): TreeMap {
  let result = a;
  ctx.charge(b.count * KEY_COST);
  const vals = treeVals(b);
  for (const [index, key] of treeKeys(b).entries())
    result = mapSet(result, key, vals[index] as Value, ctx);
  return result;
}

function join(ctx: Context, args: readonly Value[]): Value {
  const left = rowsAt(ctx, args, 0);
  const right = rowsAt(ctx, args, 1);
  const [first] = left;
  const [second] = right;
  if (first === undefined || second === undefined) return EMPTY_SET;
  const pairs: (readonly [Value, Value])[] = [];
  if (args.length > 2) {
    const by = expectMap(ctx, args, 2);
    const vals = treeVals(by);
    for (const [index, key] of treeKeys(by).entries()) pairs.push([key, vals[index] as Value]);
  } else {
    for (const key of treeKeys(first)) if (treeHas(second, key, ctx)) pairs.push([key, key]);
  }
  // As in Clojure, the smaller relation is indexed, and rows of the larger one win.
  const leftIsSmall = left.length <= right.length;
  const [small, large] = leftIsSmall ? [left, right] : [right, left];
  const index = indexRows(
    ctx,
    small,
    pairs.map(([a, b]) => (leftIsSmall ? a : b)),
  );
  let result = EMPTY_SET;
  for (const row of large) {
    let wanted = EMPTY_MAP;
    for (const [a, b] of pairs) {
      const value = flexibleGet(ctx, row, leftIsSmall ? b : a);
      if (value !== undefined) wanted = mapSet(wanted, leftIsSmall ? a : b, value, ctx);
    }
    const found = treeGet(index, wanted, ctx);
    if (found === undefined || !isSet(found)) continue;
    for (const other of treeKeys(found)) {
      checkCount(ctx, result.count + 1);
      ctx.charge(KEY_COST);
      result = setAdd(result, merged(ctx, other as TreeMap, row), ctx);
    }
  }
  return result;
}

/** The work of these builtins; `set/select` is in `walking.ts`. */
export const SET_WORK: { readonly [name: string]: BuiltinWork } = Object.freeze({
  'set/union': plain(union),
  'set/intersection': plain(intersection),
  'set/difference': plain(difference),
  'set/subset?': plain((ctx, args) => isSubset(ctx, setAt(ctx, args, 0), setAt(ctx, args, 1))),
  'set/superset?': plain((ctx, args) => isSubset(ctx, setAt(ctx, args, 1), setAt(ctx, args, 0))),
  'set/map-invert': plain((ctx, args) => {
    const value = arg(args, 0);
    if (value === null) return EMPTY_MAP;
    const map = expectMap(ctx, args, 0);
    ctx.charge(map.count * KEY_COST);
    return mapOf(treeVals(map), treeKeys(map), ctx);
  }),
  'set/rename-keys': plain((ctx, args) =>
    arg(args, 0) === null
      ? null
      : renameKeys(ctx, expectMap(ctx, args, 0), expectMap(ctx, args, 1)),
  ),
  'set/rename': plain((ctx, args) => {
    const names = expectMap(ctx, args, 1);
    return setOf(
      rowsAt(ctx, args, 0).map((row) => renameKeys(ctx, row, names)),
      ctx,
    );
  }),
  'set/project': plain((ctx, args) => {
    const keys = itemsAt(ctx, args, 1);
    ctx.charge(keys.length);
    return setOf(
      rowsAt(ctx, args, 0).map((row) => project(ctx, row, keys)),
      ctx,
    );
  }),
  'set/index': plain((ctx, args) => indexRows(ctx, rowsAt(ctx, args, 0), itemsAt(ctx, args, 1))),
  'set/join': plain(join),
});
