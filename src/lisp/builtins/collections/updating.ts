/**
 * Builtins that change parts of collections with a function.
 */
import { checkCount, type Context } from '../../value/context.ts';
import { treeKeys, treeVals } from '../../value/tree-walk.ts';
import { EMPTY_MAP, mapOf, mapSet, treeGet } from '../../value/tree.ts';
import {
  isMap,
  isVector,
  type TreeMap,
  type Value,
  type Steps,
  type BuiltinWork,
} from '../../value/value.ts';
import { vectorItems, vectorOf } from '../../value/vector.ts';
import { associate, associateIn, getIn } from './entries.ts';
import { arg, expectMap, wrongType } from '../arguments/expect.ts';
import { getFrom } from '../arguments/lookup.ts';
import { itemsAt } from '../arguments/seqable.ts';
import { finish, steps, walk, want } from '../arguments/stepping.ts';

/** `update`. */
const update: BuiltinWork = steps(
  [2],
  (ctx, args, s) => {
    const [coll = null, key = null, fn = null] = args;
    s.acc = coll;
    s.extra = key;
    const old = coll === null ? null : (getFrom(ctx, coll, key) ?? null);
    want(s, fn, args.length === 3 ? [old] : [old, ...args.slice(3)]);
  },
  (ctx, s, result) => finish(s, associate(ctx, s.acc, s.extra as Value, result)),
);

/** `update-in`. An empty path means the key nil. */
const updateIn: BuiltinWork = steps(
  [2],
  (ctx, args, s) => {
    const [coll = null, , fn = null, ...more] = args;
    const path = itemsAt(ctx, args, 1);
    ctx.charge(path.length);
    s.items = path.length === 0 ? [null] : path;
    s.acc = coll;
    want(s, fn, [getIn(ctx, coll, s.items) ?? null, ...more]);
  },
  (ctx, s, result) => finish(s, associateIn(ctx, s.acc, s.items, result)),
);

const mergeWith: BuiltinWork = steps(
  [0],
  (ctx, args, s) => {
    s.fn = arg(args, 0);
    s.acc = EMPTY_MAP;
    const flat: Value[] = [];
    for (let index = 1; index < args.length; index++) {
      if (arg(args, index) === null) continue;
      const map = expectMap(ctx, args, index);
      const vals = treeVals(map);
      for (const [place, key] of treeKeys(map).entries()) flat.push(key, vals[place] as Value);
    }
    ctx.charge(flat.length);
    ctx.charge(flat.length);
    s.items = flat;
    mergeNext(ctx, s);
  },
  (ctx, s, result) => {
    s.acc = mapSet(s.acc as TreeMap, s.items[s.at] as Value, result, ctx);
    s.at += 2;
    mergeNext(ctx, s);
  },
);

function mergeNext(ctx: Context, s: Steps): void {
  for (; s.at < s.items.length; s.at += 2) {
    const merged = s.acc as TreeMap;
    const key = s.items[s.at] as Value;
    const val = s.items[s.at + 1] as Value;
    const old = treeGet(merged, key, ctx);
    if (old !== undefined) {
      s.args = [old, val];
      return;
    }
    checkCount(ctx, merged.count + 1);
    s.acc = mapSet(merged, key, val, ctx);
  }
  finish(s, s.acc);
}

function updateAll(which: 'keys' | 'vals'): BuiltinWork {
  return walk({
    calls: [1],
    begin(ctx, args, s) {
      const coll = arg(args, 0);
      s.fn = arg(args, 1);
      if (coll === null) s.extra = [];
      else if (isMap(coll)) {
        s.extra = [...(which === 'keys' ? treeVals(coll) : treeKeys(coll))];
        s.items = which === 'keys' ? treeKeys(coll) : treeVals(coll);
      } else if (isVector(coll)) {
        const items = vectorItems(coll);
        if (which === 'vals') s.phase = 1;
        s.extra = [...items];
        s.items = which === 'vals' ? items : items.map((_, index) => index);
      } else throw wrongType(ctx, 0, 'a map or vector', coll);
    },
    take: (_c, s, result) => void s.out.push(result),
    end(ctx, s) {
      if (s.phase === 1) return vectorOf(s.out);
      const others = s.extra as Value[];
      return which === 'keys' ? mapOf(s.out, others, ctx) : mapOf(others, s.out, ctx);
    },
  });
}

/** The work of these builtins. */
export const UPDATING_WORK: { readonly [name: string]: BuiltinWork } = Object.freeze({
  update,
  'update-in': updateIn,
  'merge-with': mergeWith,
  'update-vals': updateAll('vals'),
  'update-keys': updateAll('keys'),
});
