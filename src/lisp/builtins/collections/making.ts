/**
 * Making collections.
 */
import { slots } from '../../value/slots.ts';
import { checkCount, type Context } from '../../value/context.ts';
import { add } from '../../value/numbers.ts';
import { magnitude } from '../../value/order.ts';
import { mapOf, setOf } from '../../value/tree.ts';
import {
  isSet,
  isVector,
  type TreeMap,
  type Value,
  type Vector,
  type BuiltinWork,
} from '../../value/value.ts';
import { EMPTY_VECTOR, vectorItems, vectorOf } from '../../value/vector.ts';
import { arg, expectCount, expectNumber, fault } from '../arguments/expect.ts';
import { KEY_COST } from '../arguments/lookup.ts';
import { allOf, firstOf, itemsAt, sizeOf, sourceAt } from '../arguments/seqable.ts';
import { plain } from '../arguments/stepping.ts';

function pairsFrom(ctx: Context, args: readonly Value[]): TreeMap {
  if (args.length % 2 !== 0) {
    throw fault(
      ctx,
      'arity_error',
      `pairs of key and value are needed, got ${args.length} arguments.`,
    );
  }
  ctx.charge(args.length);
  const keys = args.filter((_, index) => index % 2 === 0);
  return mapOf(
    keys,
    args.filter((_, index) => index % 2 === 1),
    ctx,
  );
}

/** The numbers of `range`. */
function rangeOf(ctx: Context, args: readonly Value[]): Vector {
  const numbers = args.map((_, index) => expectNumber(ctx, args, index));
  const [first = 0, second, third = 1] = numbers;
  const start = second === undefined ? 0 : first;
  const end = second ?? first;
  const step = magnitude(third);
  if (Number(step) === 0)
    throw fault(ctx, 'runtime_error', 'the step is 0, the range would never end.');
  const span = Number(magnitude(end)) - Number(magnitude(start));
  const size = Math.max(0, Math.ceil(span / Number(step)));
  if (Number.isNaN(size)) return EMPTY_VECTOR;
  checkCount(ctx, size);
  ctx.charge(size);
  const items: Value[] = [];
  if (typeof start === 'number' && typeof third === 'number') {
    for (let index = 0; index < size; index++) items.push(start + index * third);
    return vectorOf(items);
  }
  // Sums of floats are inexact, so the end is compared and no count is computed.
  let at = start;
  while (
    items.length <= size &&
    (step > 0 ? magnitude(at) < magnitude(end) : magnitude(at) > magnitude(end))
  ) {
    items.push(at);
    at = add(ctx, at, third);
  }
  return vectorOf(items);
}

/** At most `n` numbers from `start` by `step`, which may be zero, up to `end`. */
function takeRange(ctx: Context, args: readonly Value[]): Value {
  const count = Math.max(0, expectCount(ctx, args, 0));
  const step = expectNumber(ctx, args, 3);
  if (Number(magnitude(step)) !== 0) {
    const items = vectorItems(rangeOf(ctx, args.slice(1)));
    return vectorOf(items.slice(0, count));
  }
  const start = expectNumber(ctx, args, 1);
  if (!(magnitude(start) < magnitude(expectNumber(ctx, args, 2)))) return EMPTY_VECTOR;
  checkCount(ctx, count);
  ctx.charge(count);
  return vectorOf(slots<Value>(count).fill(start));
}

function combinations(ctx: Context, args: readonly Value[]): Value {
  const source = sourceAt(ctx, args, 0);
  const length = sizeOf(source);
  const size = expectCount(ctx, args, 1);
  if (size < 0 || size > length) return EMPTY_VECTOR;
  // As many ways to choose as to leave out; the smaller number does not overflow in between.
  const factors = size < length - size ? size : length - size;
  let total = 1;
  for (let index = 0; index < factors; index++) total = (total * (length - index)) / (index + 1);
  checkCount(ctx, Math.round(total));
  ctx.charge(Math.round(total) * (size + 1));
  const items = size === 0 ? [] : allOf(source);
  const found: Value[] = [];
  const chosen = Array.from({ length: size }, (_, index) => index);
  for (;;) {
    found.push(vectorOf(chosen.map((index) => items[index] as Value)));
    let at = size - 1;
    while (at >= 0 && chosen[at] === length - size + at) at -= 1;
    if (at < 0) return vectorOf(found);
    chosen[at] = (chosen[at] ?? 0) + 1;
    for (let next = at + 1; next < size; next++) chosen[next] = (chosen[next - 1] ?? 0) + 1;
  }
}

function repeat(ctx: Context, args: readonly Value[]): Value {
  const count = Math.max(0, expectCount(ctx, args, 0));
  checkCount(ctx, count);
  ctx.charge(count);
  return vectorOf(slots<Value>(count).fill(arg(args, 1)));
}

const vector: BuiltinWork = plain((ctx, args) => {
  ctx.charge(args.length);
  return vectorOf(args);
});
const setFrom: BuiltinWork = plain((ctx, args) => {
  ctx.charge(args.length);
  return setOf(args, ctx);
});
const mapFrom: BuiltinWork = plain(pairsFrom);

/** The work of these builtins. */
export const MAKING_WORK: { readonly [name: string]: BuiltinWork } = Object.freeze({
  vector,
  list: vector,
  vec: plain((ctx, args) => {
    const [value = null] = args;
    if (isVector(value)) return value;
    const items = itemsAt(ctx, args, 0);
    ctx.charge(items.length);
    return vectorOf(items);
  }),
  set: plain((ctx, args) => {
    const [value = null] = args;
    if (isSet(value)) return value;
    const items = itemsAt(ctx, args, 0);
    ctx.charge(items.length * KEY_COST);
    return setOf(items, ctx);
  }),
  'hash-set': setFrom,
  'sorted-set': setFrom,
  'hash-map': mapFrom,
  'array-map': mapFrom,
  'sorted-map': mapFrom,
  zipmap: plain((ctx, args) => {
    const keys = sourceAt(ctx, args, 0);
    const vals = sourceAt(ctx, args, 1);
    const count = Math.min(sizeOf(keys), sizeOf(vals));
    ctx.charge(count * KEY_COST);
    return mapOf(firstOf(keys, count), firstOf(vals, count), ctx);
  }),
  range: plain(rangeOf),
  'take-range~': plain(takeRange),
  repeat: plain(repeat),
  combinations: plain(combinations),
});
