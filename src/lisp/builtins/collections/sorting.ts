/**
 * Sorting: a stable merge sort. With a comparator of the program it is a state machine, since
 * `Array.sort` cannot be suspended and does not fix the number of comparisons.
 */
import type { Context } from '../../value/context.ts';
import { mergeSort } from '../../value/merge-sort.ts';
import { compareNatural, magnitude } from '../../value/order.ts';
import {
  isKeyword,
  isNumber,
  type Value,
  type Vector,
  type Builtin,
  type Steps,
  type BuiltinWork,
} from '../../value/value.ts';
import { vectorAt, vectorOf } from '../../value/vector.ts';
import { arg, wrongResult } from '../arguments/expect.ts';
import { itemsAt } from '../arguments/seqable.ts';
import { finish, steps, want } from '../arguments/stepping.ts';
import { keyFunction } from './walking.ts';

/** The smaller of two counts. Reads of globals such as `Math` are slow inside the sandbox. */
function smaller(a: number, b: number): number {
  return a < b ? a : b;
}

/** The cost of sorting `count` elements. */
function sortCost(count: number): number {
  return count * Math.ceil(Math.log2(count + 1));
}

/** The direction of a comparator that needs no call, such as `<`; null for another one. */
function direction(value: Value | undefined): 1 | -1 | null {
  if (value === undefined || value === null) return 1;
  if (!isKeyword(value)) return null;
  if (value.name === 'asc') return 1;
  return value.name === 'desc' ? -1 : null;
}

/*
 * The state of a merge: `items` is merged into `out` in runs of length `extra[0]`. `extra` also has
 * the start of the current run and the positions in its left and right half. In phase 2 elements
 * are pairs of key and item.
 */
function startMerge(ctx: Context, s: Steps, items: readonly Value[]): void {
  s.items = items;
  s.out = [];
  s.extra = [1, 0, 0, smaller(1, items.length)];
  nextComparison(ctx, s);
}

function keyOf(s: Steps, element: Value): Value {
  return s.phase === 2 ? vectorAt(element as Vector, 0) : element;
}

function itemOf(s: Steps, element: Value): Value {
  return s.phase === 2 ? vectorAt(element as Vector, 1) : element;
}

function nextComparison(_c: Context, s: Steps): void {
  const place = s.extra as number[];
  for (;;) {
    const [width = 1, low = 0, left = 0, right = 0] = place;
    const size = s.items.length;
    if (width >= size) {
      finish(s, vectorOf(s.items.map((element) => itemOf(s, element))));
      return;
    }
    if (low >= size) {
      s.items = s.out;
      s.out = [];
      place[0] = width * 2;
      place[1] = 0;
      place[2] = 0;
      place[3] = smaller(width * 2, size);
      continue;
    }
    const middle = smaller(low + width, size);
    const high = smaller(low + 2 * width, size);
    if (left < middle && right < high) {
      s.args = [keyOf(s, s.items[right] as Value), keyOf(s, s.items[left] as Value)];
      return;
    }
    for (let at = left; at < middle; at++) s.out.push(s.items[at] as Value);
    for (let at = right; at < high; at++) s.out.push(s.items[at] as Value);
    place[1] = high;
    place[2] = high;
    place[3] = smaller(high + width, size);
  }
}

function isLess(ctx: Context, result: Value): boolean {
  if (typeof result === 'boolean') return result;
  if (isNumber(result)) return magnitude(result) < 0;
  throw wrongResult(ctx, 'a number or a boolean', result);
}

function takeComparison(ctx: Context, s: Steps, result: Value): void {
  const place = s.extra as number[];
  const side = isLess(ctx, result) ? 3 : 2;
  const at = place[side] ?? 0;
  s.out.push(s.items[at] as Value);
  place[side] = at + 1;
  nextComparison(ctx, s);
}

const sort: BuiltinWork = steps(
  [0],
  (ctx, args, s) => {
    const items = itemsAt(ctx, args, args.length - 1);
    const comparator = args.length > 1 ? arg(args, 0) : null;
    ctx.charge(sortCost(items.length));
    const way = direction(comparator);
    if (way !== null) {
      if (items.length === 1) compareNatural(items[0] as Value, items[0] as Value, ctx);
      finish(s, vectorOf(mergeSort(items, (a, b) => way * compareNatural(a, b, ctx))));
      return;
    }
    s.fn = comparator;
    startMerge(ctx, s, items);
  },
  takeComparison,
);

/** `sort-by`: first calls the key function for every item. */
function sortBy(byPath: Builtin): BuiltinWork {
  const finishKeys = (ctx: Context, s: Steps): void => {
    const way = direction(s.acc);
    const pairs = s.items.map((item, index) => vectorOf([s.out[index] as Value, item]));
    if (way === null) {
      s.phase = 2;
      s.fn = s.acc;
      startMerge(ctx, s, pairs);
      return;
    }
    const sorted = mergeSort(
      pairs,
      (a, b) => way * compareNatural(vectorAt(a, 0), vectorAt(b, 0), ctx),
    );
    finish(s, vectorOf(sorted.map((pair) => vectorAt(pair, 1))));
  };
  return steps(
    [0, 1],
    (ctx, args, s) => {
      s.fn = keyFunction(ctx, byPath, arg(args, 0));
      s.items = itemsAt(ctx, args, args.length - 1);
      s.acc = args.length > 2 ? arg(args, 1) : null;
      ctx.charge(sortCost(s.items.length));
      if (s.items.length === 0) finish(s, vectorOf([]));
      else want(s, s.fn, [s.items[0] as Value]);
    },
    (ctx, s, result) => {
      if (s.phase === 2) {
        takeComparison(ctx, s, result);
        return;
      }
      s.out.push(result);
      ctx.charge(1);
      s.at += 1;
      if (s.at < s.items.length) s.args = [s.items[s.at] as Value];
      else finishKeys(ctx, s);
    },
  );
}

/** The work of these builtins. */
export function sortingWork(byPath: Builtin): { readonly [name: string]: BuiltinWork } {
  return { sort, 'sort-by': sortBy(byPath) };
}
