/**
 * `reduce`, `reduce-kv` and other folds.
 */
import type { Context } from '../../value/context.ts';
import { treeKeys, treeVals } from '../../value/tree-walk.ts';
import {
  isMap,
  isVector,
  type Reduced,
  type Value,
  type Steps,
  type BuiltinWork,
} from '../../value/value.ts';
import { vectorOf } from '../../value/vector.ts';
import { arg, wrongType } from '../arguments/expect.ts';
import { hasNext, walkFrom } from '../arguments/seqable.ts';
import { finish, plain, steps, walk, want } from '../arguments/stepping.ts';

function isReduced(value: Value): value is Reduced {
  return typeof value === 'object' && value !== null && value.kind === 'reduced';
}

function reduceNext(ctx: Context, s: Steps): void {
  if (!hasNext(s)) {
    finish(s, s.acc);
    return;
  }
  ctx.charge(1);
  s.args = [s.acc, s.items[s.at] as Value];
  s.at += 1;
}

/**
 * Sets the first value of the fold. False when there is none: the function is called to make it.
 */
function beginFolding(ctx: Context, args: readonly Value[], s: Steps): boolean {
  s.fn = arg(args, 0);
  walkFrom(ctx, args, args.length - 1, s);
  if (args.length === 3) {
    s.acc = arg(args, 1);
    return true;
  }
  if (s.items.length === 0) {
    s.phase = 1;
    want(s, s.fn, []);
    return false;
  }
  s.acc = s.items[0] as Value;
  s.at = 1;
  return true;
}

const reduce: BuiltinWork = steps(
  [0],
  (ctx, args, s) => {
    if (!beginFolding(ctx, args, s)) return;
    reduceNext(ctx, s);
  },
  (ctx, s, result) => {
    if (s.phase === 1) finish(s, result);
    else if (isReduced(result)) finish(s, result.value);
    else {
      s.acc = result;
      reduceNext(ctx, s);
    }
  },
);

const reductions: BuiltinWork = steps(
  [0],
  (ctx, args, s) => {
    if (!beginFolding(ctx, args, s)) return;
    s.out.push(s.acc);
    reductionsNext(ctx, s);
  },
  (ctx, s, result) => {
    if (s.phase === 1) {
      finish(s, vectorOf([result]));
      return;
    }
    if (isReduced(result)) {
      s.out.push(result.value);
      finish(s, vectorOf(s.out));
      return;
    }
    s.acc = result;
    s.out.push(result);
    reductionsNext(ctx, s);
  },
);

function reductionsNext(ctx: Context, s: Steps): void {
  reduceNext(ctx, s);
  if (s.done) s.result = vectorOf(s.out);
}

const reduceKv: BuiltinWork = walk({
  begin(ctx, args, s) {
    s.fn = arg(args, 0);
    s.acc = arg(args, 1);
    const coll = arg(args, 2);
    if (coll === null) return;
    if (isMap(coll)) {
      ctx.charge(coll.count >>> 2);
      s.items = treeVals(coll);
      s.extra = [...treeKeys(coll)];
    } else if (isVector(coll)) walkFrom(ctx, args, 2, s);
    else throw wrongType(ctx, 2, 'a map or vector', coll);
  },
  args(_c, s) {
    const key = Array.isArray(s.extra) ? (s.extra[s.at] as Value) : s.at;
    return [s.acc, key, s.items[s.at] as Value];
  },
  take(_c, s, result) {
    if (isReduced(result)) {
      s.result = result.value;
      return true;
    }
    s.acc = result;
    return false;
  },
  end: (_c, s) => s.acc,
});

/** The work of these builtins. */
export const REDUCING_WORK: { readonly [name: string]: BuiltinWork } = Object.freeze({
  reduce,
  reductions,
  'reduce-kv': reduceKv,
  reduced: plain((_c, args) => ({ kind: 'reduced', value: arg(args, 0) })),
  'reduced?': plain((_c, args) => isReduced(arg(args, 0))),
  unreduced: plain((_c, args) => {
    const value = arg(args, 0);
    return isReduced(value) ? value.value : value;
  }),
});
