/**
 * Sequence functions that call a function of the program for each element.
 */
import { slots } from '../../value/slots.ts';
import { checkCount, type Context } from '../../value/context.ts';
import { newKeyIndex, numberOf } from '../../value/key-index.ts';
import { mapOf, setOf, treeHas } from '../../value/tree.ts';
import {
  isKeyword,
  isSet,
  isVector,
  truthy,
  type Value,
  type Vector,
  type Builtin,
  type Steps,
  type BuiltinWork,
} from '../../value/value.ts';
import {
  vectorAt,
  vectorCount,
  vectorDrop,
  vectorItems,
  vectorOf,
  vectorPush,
} from '../../value/vector.ts';
import { compareNatural } from '../../value/order.ts';
import { divide } from '../../value/numbers.ts';
import { arg, expectCount, wrongType, wrongResult } from '../arguments/expect.ts';
import { KEY_COST } from '../arguments/lookup.ts';
import {
  elementsOf,
  firstOf,
  itemsAt,
  smallestOf,
  sourceAt,
  takeAll,
  walkFrom,
} from '../arguments/seqable.ts';
import { sumOf } from './sequences.ts';
import { finish, steps, walk, type Walk } from '../arguments/stepping.ts';

/** Begins a walk of argument 1 with the function in argument 0. */
function begin(ctx: Context, args: readonly Value[], s: Steps): void {
  s.fn = arg(args, 0);
  s.items = itemsAt(ctx, args, 1);
}

/** The function that a key argument stands for: text looks up a key, a vector of names a path. */
export function keyFunction(ctx: Context, byPath: Builtin, value: Value): Value {
  const path = typeof value === 'string' ? vectorOf([value]) : value;
  if (!isVector(path)) return value;
  const count = vectorCount(path);
  for (let place = 0; place < count; place++) {
    ctx.charge(1);
    const name = vectorAt(path, place);
    if (!isKeyword(name) && typeof name !== 'string') return value;
  }
  return { kind: 'combinator', name: 'partial', of: [byPath, path] };
}

/** As {@link begin}, of a walk that may end before the last element. */
function beginEarly(ctx: Context, args: readonly Value[], s: Steps): void {
  s.fn = arg(args, 0);
  walkFrom(ctx, args, 1, s);
}

function keep(s: Steps, value: Value): void {
  s.out.push(value);
}

const all = (_c: Context, s: Steps): Value => vectorOf(s.out);

/** A walk that keeps every result. */
const gathered: Pick<Walk, 'take' | 'end'> = {
  take: (_c, s, result) => keep(s, result),
  end: all,
};

/** A walk that keeps every result but nil. */
const present: Pick<Walk, 'take' | 'end'> = {
  take(_c, s, result) {
    if (result !== null) keep(s, result);
  },
  end: all,
};

const withIndex: Walk['args'] = (_c, s) => [s.at, s.items[s.at] as Value];

function map(): BuiltinWork {
  return walk({
    begin(ctx, args, s) {
      s.fn = arg(args, 0);
      if (args.length === 2) {
        s.items = itemsAt(ctx, args, 1);
        return;
      }
      // With several collections, an item is the vector of the arguments of one call.
      const sources = args.slice(1).map((_, index) => sourceAt(ctx, args, index + 1));
      const count = smallestOf(sources);
      ctx.charge(count * sources.length);
      const colls = sources.map((source) => firstOf(source, count));
      s.phase = 1;
      s.items = Array.from({ length: count }, (_, index) =>
        vectorOf(colls.map((items) => items[index] as Value)),
      );
    },
    args(_c, s) {
      const item = s.items[s.at] as Value;
      return s.phase === 1 ? [...vectorItems(item as Vector)] : [item];
    },
    ...gathered,
  });
}

function join(ctx: Context, s: Steps, result: Value): void {
  const items = elementsOf(ctx, result);
  if (items === undefined) throw wrongResult(ctx, 'something with elements', result);
  checkCount(ctx, s.out.length + items.length);
  ctx.charge(items.length);
  for (const item of items) s.out.push(item);
}

function mapcat(): BuiltinWork {
  const mapped = map();
  if (mapped.kind !== 'steps') return mapped;
  const { stepper } = mapped;
  return steps(
    [0],
    (ctx, args, s) => {
      const inner = stepper.start(ctx, args);
      Object.assign(s, inner);
    },
    (ctx, s, result) => {
      join(ctx, s, result);
      s.at += 1;
      if (s.at >= s.items.length) {
        finish(s, vectorOf(s.out));
        return;
      }
      ctx.charge(1);
      const item = s.items[s.at] as Value;
      s.args = s.phase === 1 ? [...vectorItems(item as Vector)] : [item];
    },
  );
}

function filter(wanted: boolean): BuiltinWork {
  return walk({
    begin,
    take(_c, s, result, item) {
      if (truthy(result) === wanted) keep(s, item);
    },
    end: all,
  });
}

/** Ends at the first result for which `decide` gives an answer. */
function search(decide: (result: Value) => Value | undefined, otherwise: Value): BuiltinWork {
  return walk({
    begin: beginEarly,
    take(_c, s, result) {
      const answer = decide(result);
      if (answer === undefined) return false;
      s.result = answer;
      return true;
    },
    end: () => otherwise,
  });
}

function partitionBy(): BuiltinWork {
  return walk({
    begin,
    take(ctx, s, result, item) {
      const changed = s.at === 1 || !treeHas(setOf([s.acc], ctx), result, ctx);
      s.acc = result;
      const last = s.out[s.out.length - 1];
      if (changed || last === undefined) keep(s, vectorOf([item]));
      else s.out[s.out.length - 1] = vectorPush(last as Vector, item);
    },
    end: all,
  });
}

function prefix(split: 'take' | 'drop' | 'both'): BuiltinWork {
  const result = (ctx: Context, s: Steps, upTo: number): Value => {
    const before = (): Value => vectorOf(s.items.slice(0, upTo));
    const after = (): Value => {
      if (isVector(s.acc)) return vectorDrop(s.acc, upTo);
      takeAll(s);
      ctx.charge(s.items.length - upTo);
      return vectorOf(s.items.slice(upTo));
    };
    if (split === 'take') return before();
    return split === 'drop' ? after() : vectorOf([before(), after()]);
  };
  return walk({
    begin(ctx, args, s) {
      beginEarly(ctx, args, s);
      if (split !== 'take') s.acc = arg(args, 1);
    },
    take(ctx, s, passes) {
      if (truthy(passes)) return false;
      s.result = result(ctx, s, s.at - 1);
      return true;
    },
    end: (ctx, s) => result(ctx, s, s.items.length),
  });
}

type Begin = (ctx: Context, args: readonly Value[], s: Steps) => void;

/** Gathers the keys and groups at the end, since the state of a walk has to be data. */
function groupBy(byKey: Begin): BuiltinWork {
  return walk({
    begin: byKey,
    take: keepKey,
    end(ctx, s) {
      const index = newKeyIndex();
      const groups: Value[][] = [];
      for (const [place, key] of s.out.entries()) {
        const number = numberOf(index, key, ctx);
        const group = groups[number];
        if (group === undefined) groups.push([s.items[place] as Value]);
        else group.push(s.items[place] as Value);
      }
      return mapOf(index.keys, groups.map(vectorOf), ctx);
    },
  });
}

function distinctBy(byKey: Begin): BuiltinWork {
  return walk({
    begin: byKey,
    take: keepKey,
    end(ctx, s) {
      const index = newKeyIndex();
      return vectorOf(
        s.items.filter((_, place) => {
          const before = index.keys.length;
          return numberOf(index, s.out[place] as Value, ctx) === before;
        }),
      );
    },
  });
}

function keepKey(ctx: Context, s: Steps, key: Value): void {
  ctx.charge(KEY_COST);
  keep(s, key);
}

function extremeBy(byPath: Builtin, wanted: -1 | 1): BuiltinWork {
  return walk({
    begin(ctx, args, s) {
      s.fn = keyFunction(ctx, byPath, arg(args, 0));
      s.items = args.length === 2 ? itemsAt(ctx, args, 1) : args.slice(1);
    },
    take(ctx, s, result, item) {
      if (result === null) return;
      if (s.phase === 0 || compareNatural(result, s.extra as Value, ctx) === wanted) {
        s.phase = 1;
        s.acc = item;
        s.extra = result;
      }
    },
    end: (_c, s) => s.acc,
  });
}

/** The builtins that take a key function; `byPath` is the hidden builtin for paths. */
export function walkingWork(byPath: Builtin): { readonly [name: string]: BuiltinWork } {
  const byKey: Begin = (ctx, args, s) => {
    s.fn = keyFunction(ctx, byPath, arg(args, 0));
    s.items = itemsAt(ctx, args, 1);
  };
  return {
    'group-by': groupBy(byKey),
    'distinct-by': distinctBy(byKey),
    'sum-by': walk({ ...gathered, begin: byKey, end: (ctx, s) => sumOf(ctx, s.out).total }),
    'avg-by': walk({
      ...gathered,
      begin: byKey,
      end(ctx, s) {
        const { total, count } = sumOf(ctx, s.out);
        return count === 0 ? null : divide(total, count);
      },
    }),
    'min-by': extremeBy(byPath, -1),
    'max-by': extremeBy(byPath, 1),
  };
}

/** The work of these builtins. */
export const WALKING_WORK: { readonly [name: string]: BuiltinWork } = Object.freeze({
  map: map(),
  mapv: map(),
  mapcat: mapcat(),
  'map-indexed': walk({ begin, args: withIndex, ...gathered }),
  'keep-indexed': walk({ begin, args: withIndex, ...present }),
  filter: filter(true),
  filterv: filter(true),
  remove: filter(false),
  keep: walk({ begin, ...present }),
  'take-while': prefix('take'),
  'drop-while': prefix('drop'),
  'split-with': prefix('both'),
  'partition-by': partitionBy(),
  some: search((result) => (truthy(result) ? result : undefined), null),
  'every?': search((result) => (truthy(result) ? undefined : false), true),
  'not-every?': search((result) => (truthy(result) ? undefined : true), false),
  'not-any?': search((result) => (truthy(result) ? false : undefined), true),
  'run!': walk({ begin, take: () => false, end: () => null }),
  repeatedly: walk({
    calls: [1],
    begin(ctx, args, s) {
      const count = Math.max(0, expectCount(ctx, args, 0));
      checkCount(ctx, count);
      s.fn = arg(args, 1);
      s.items = slots<Value>(count).fill(null);
    },
    args: () => [],
    ...gathered,
  }),
  'set/select': walk({
    begin(ctx, args, s) {
      const coll = arg(args, 1);
      if (coll !== null && !isSet(coll)) throw wrongType(ctx, 1, 'a set', coll);
      begin(ctx, args, s);
    },
    take(_c, s, result, item) {
      if (truthy(result)) keep(s, item);
    },
    end: (ctx, s) => setOf(s.out, ctx),
  }),
});
