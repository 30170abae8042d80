/**
 * Adding to a collection, and reading and replacing what is under a key or at a path.
 */
import { checkCount, type Context } from '../../value/context.ts';
import { magnitude } from '../../value/order.ts';
import { treeKeys, treeVals } from '../../value/tree-walk.ts';
import { EMPTY_MAP, mapSet, setAdd } from '../../value/tree.ts';
import { isMap, isNumber, isSet, isVector, type TreeMap, type Value } from '../../value/value.ts';
import { vectorAt, vectorCount, vectorOf, vectorPush, vectorSet } from '../../value/vector.ts';
import { arg, fault, wrongType } from '../arguments/expect.ts';
import { getFrom, indexOf, KEY_COST } from '../arguments/lookup.ts';
import { itemsAt } from '../arguments/seqable.ts';

/** `coll` with `item` added, as `conj` does. */
export function conjoin(ctx: Context, coll: Value, item: Value): Value {
  ctx.charge(KEY_COST);
  if (coll === null) return vectorOf([item]);
  if (isVector(coll)) {
    checkCount(ctx, vectorCount(coll) + 1);
    return vectorPush(coll, item);
  }
  if (isSet(coll)) {
    checkCount(ctx, coll.count + 1);
    return setAdd(coll, item, ctx);
  }
  if (isMap(coll)) return addEntries(ctx, coll, item);
  throw wrongType(ctx, 0, 'a collection', coll);
}

/** `map` with an entry added, or with all entries of another map. */
function addEntries(ctx: Context, map: TreeMap, item: Value): TreeMap {
  if (item === null) return map;
  if (isVector(item) && vectorCount(item) === 2) {
    checkCount(ctx, map.count + 1);
    return mapSet(map, vectorAt(item, 0), vectorAt(item, 1), ctx);
  }
  if (!isMap(item)) throw wrongType(ctx, 1, 'an entry `[k v]` or a map', item);
  ctx.charge(item.count * KEY_COST);
  ctx.charge(item.count);
  const vals = treeVals(item);
  let result = map;
  for (const [index, key] of treeKeys(item).entries()) {
    checkCount(ctx, result.count + 1);
    result = mapSet(result, key, vals[index] as Value, ctx);
  }
  return result;
}

/** `coll` with `val` under `key`, as `assoc` does. */
export function associate(ctx: Context, coll: Value, key: Value, val: Value): Value {
  ctx.charge(KEY_COST);
  if (coll === null) return mapSet(EMPTY_MAP, key, val, ctx);
  if (isMap(coll)) {
    checkCount(ctx, coll.count + 1);
    return mapSet(coll, key, val, ctx);
  }
  if (!isVector(coll)) throw wrongType(ctx, 0, 'a map or vector', coll);
  if (!isNumber(key)) throw wrongType(ctx, 1, 'an index', key);
  const index = indexOf(key);
  const count = vectorCount(coll);
  if (index < 0 || index > count) {
    const shown = String(magnitude(key));
    throw fault(ctx, 'runtime_error', `index ${shown} is outside a vector of ${count}.`);
  }
  checkCount(ctx, index + 1);
  return vectorSet(coll, index, val);
}

/** The value at the path that argument `index` is, or undefined. A path ends where nothing is. */
export function getInAt(
  ctx: Context,
  args: readonly Value[],
  index: number,
  from: Value,
): Value | undefined {
  const path = arg(args, index);
  if (!isVector(path)) {
    const items = itemsAt(ctx, args, index);
    ctx.charge(items.length);
    return getIn(ctx, from, items);
  }
  let at: Value | undefined = from;
  const count = vectorCount(path);
  for (let place = 0; place < count; place++) {
    if (at === undefined || at === null) return undefined;
    at = getFrom(ctx, at, vectorAt(path, place));
  }
  return at;
}

/** The value at a path, or undefined. */
export function getIn(ctx: Context, from: Value, path: readonly Value[]): Value | undefined {
  let at: Value | undefined = from;
  for (const key of path) {
    if (at === undefined || at === null) return undefined;
    at = getFrom(ctx, at, key);
  }
  return at;
}

/** `coll` with the value at a path replaced. `path` is not empty. */
export function associateIn(ctx: Context, coll: Value, path: readonly Value[], val: Value): Value {
  const levels: Value[] = [coll];
  for (const key of path.slice(0, -1)) {
    const level = levels[levels.length - 1] ?? null;
    levels.push(level === null ? null : (getFrom(ctx, level, key) ?? null));
  }
  let result = val;
  for (let index = path.length - 1; index >= 0; index--) {
    result = associate(ctx, levels[index] ?? null, path[index] ?? null, result);
  }
  return result;
}
