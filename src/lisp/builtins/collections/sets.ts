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
  type Work,
} from '../../value/value.ts';
import { arg, expectMap, wrongType } from '../arguments/expect.ts';
import { flexibleGet, KEY_COST } from '../arguments/lookup.ts';
import { itemsAt } from '../arguments/seqable.ts';
import { plain } from '../arguments/stepping.ts';

/** Argument `index` as a set; nil is the empty set. */
function setAt(c: Context, args: readonly Value[], index: number): TreeSet {
  const value = arg(args, index);
  if (isSet(value)) return value;
  if (value === null) return EMPTY_SET;
  const items = itemsAt(c, args, index);
  c.charge(items.length * KEY_COST);
  return setOf(items, c);
}

function union(c: Context, args: readonly Value[]): Value {
  let result: TreeSet | null = null;
  const sets = args.map((_, index) => setAt(c, args, index)).toSorted((a, b) => b.count - a.count);
  for (const next of sets) {
    if (result === null) {
      result = next;
      continue;
    }
    c.charge(next.count * KEY_COST);
    for (const item of treeKeys(next)) {
      checkCount(c, result.count + 1);
      result = setAdd(result, item, c);
    }
  }
  if (args.length > 0 && args.every((value) => value === null)) return null;
  return result ?? EMPTY_SET;
}

function intersection(c: Context, args: readonly Value[]): Value {
  if (arg(args, 0) === null) return null;
  let result = setAt(c, args, 0);
  for (let index = 1; index < args.length; index++) {
    if (arg(args, index) === null) return result.count === 0 ? result : null;
    const other = setAt(c, args, index);
    const [small, large] = result.count <= other.count ? [result, other] : [other, result];
    c.charge(small.count * KEY_COST);
    result = setOf(
      treeKeys(small).filter((item) => treeHas(large, item, c)),
      c,
    );
  }
  return result;
}

function difference(c: Context, args: readonly Value[]): Value {
  if (arg(args, 0) === null) return null;
  let result = setAt(c, args, 0);
  for (let index = 1; index < args.length; index++) {
    const other = setAt(c, args, index);
    c.charge(Math.min(other.count, result.count) * KEY_COST);
    if (other.count > result.count) {
      result = setOf(
        treeKeys(result).filter((item) => !treeHas(other, item, c)),
        c,
      );
    } else for (const item of treeKeys(other)) result = setRemove(result, item, c);
  }
  return result;
}

function isSubset(c: Context, small: TreeSet, large: TreeSet): boolean {
  c.charge(small.count * KEY_COST);
  return small.count <= large.count && treeKeys(small).every((item) => treeHas(large, item, c));
}

function renameKeys(c: Context, map: TreeMap, names: TreeMap): TreeMap {
  c.charge((map.count + names.count) * KEY_COST);
  const olds = treeKeys(names);
  const news = treeVals(names);
  let result = map;
  for (const old of olds) result = mapRemove(result, old, c);
  for (const [index, old] of olds.entries()) {
    const value = treeGet(map, old, c);
    if (value !== undefined) result = mapSet(result, news[index] as Value, value, c);
  }
  return result;
}

function rowsAt(c: Context, args: readonly Value[], index: number): readonly TreeMap[] {
  return itemsAt(c, args, index).map((row) => {
    if (row === null) return EMPTY_MAP;
    if (!isMap(row)) throw wrongType(c, index, 'a set of maps', row);
    return row;
  });
}

function project(c: Context, row: TreeMap, keys: readonly Value[]): TreeMap {
  let result = EMPTY_MAP;
  for (const key of keys) {
    c.charge(KEY_COST);
    const value = flexibleGet(c, row, key);
    if (value !== undefined) result = mapSet(result, key, value, c);
  }
  return result;
}

function indexRows(c: Context, rows: readonly TreeMap[], keys: readonly Value[]): TreeMap {
  let index = EMPTY_MAP;
  for (const row of rows) {
    const key = project(c, row, keys);
    const group = treeGet(index, key, c);
    index = mapSet(
      index,
      key,
      setAdd(group === undefined ? EMPTY_SET : (group as TreeSet), row, c),
      c,
    );
  }
  return index;
}

function merged(c: Context, a: TreeMap, b: TreeMap): TreeMap {
  let result = a;
  c.charge(b.count * KEY_COST);
  const vals = treeVals(b);
  for (const [index, key] of treeKeys(b).entries())
    result = mapSet(result, key, vals[index] as Value, c);
  return result;
}

function join(c: Context, args: readonly Value[]): Value {
  const left = rowsAt(c, args, 0);
  const right = rowsAt(c, args, 1);
  const [first] = left;
  const [second] = right;
  if (first === undefined || second === undefined) return EMPTY_SET;
  const pairs: (readonly [Value, Value])[] = [];
  if (args.length > 2) {
    const by = expectMap(c, args, 2);
    const vals = treeVals(by);
    for (const [index, key] of treeKeys(by).entries()) pairs.push([key, vals[index] as Value]);
  } else {
    for (const key of treeKeys(first)) if (treeHas(second, key, c)) pairs.push([key, key]);
  }
  // As in Clojure, the smaller relation is indexed, and rows of the larger one win.
  const leftIsSmall = left.length <= right.length;
  const [small, large] = leftIsSmall ? [left, right] : [right, left];
  const index = indexRows(
    c,
    small,
    pairs.map(([a, b]) => (leftIsSmall ? a : b)),
  );
  let result = EMPTY_SET;
  for (const row of large) {
    let wanted = EMPTY_MAP;
    for (const [a, b] of pairs) {
      const value = flexibleGet(c, row, leftIsSmall ? b : a);
      if (value !== undefined) wanted = mapSet(wanted, leftIsSmall ? a : b, value, c);
    }
    const found = treeGet(index, wanted, c);
    if (found === undefined || !isSet(found)) continue;
    for (const other of treeKeys(found)) {
      checkCount(c, result.count + 1);
      c.charge(KEY_COST);
      result = setAdd(result, merged(c, other as TreeMap, row), c);
    }
  }
  return result;
}

/** The work of these builtins; `set/select` is in `walking.ts`. */
export const SET_WORK: { readonly [name: string]: Work } = Object.freeze({
  'set/union': plain(union),
  'set/intersection': plain(intersection),
  'set/difference': plain(difference),
  'set/subset?': plain((c, args) => isSubset(c, setAt(c, args, 0), setAt(c, args, 1))),
  'set/superset?': plain((c, args) => isSubset(c, setAt(c, args, 1), setAt(c, args, 0))),
  'set/map-invert': plain((c, args) => {
    const value = arg(args, 0);
    if (value === null) return EMPTY_MAP;
    const map = expectMap(c, args, 0);
    c.charge(map.count * KEY_COST);
    return mapOf(treeVals(map), treeKeys(map), c);
  }),
  'set/rename-keys': plain((c, args) =>
    arg(args, 0) === null ? null : renameKeys(c, expectMap(c, args, 0), expectMap(c, args, 1)),
  ),
  'set/rename': plain((c, args) => {
    const names = expectMap(c, args, 1);
    return setOf(
      rowsAt(c, args, 0).map((row) => renameKeys(c, row, names)),
      c,
    );
  }),
  'set/project': plain((c, args) => {
    const keys = itemsAt(c, args, 1);
    return setOf(
      rowsAt(c, args, 0).map((row) => project(c, row, keys)),
      c,
    );
  }),
  'set/index': plain((c, args) => indexRows(c, rowsAt(c, args, 0), itemsAt(c, args, 1))),
  'set/join': plain(join),
});
