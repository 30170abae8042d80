/**
 * Sequence functions that call no function of the program.
 */
import { checkCount, type Context } from '../../value/context.ts';
import { add, divide, type Num } from '../../value/numbers.ts';
import { compareKeys } from '../../value/order.ts';
import { newKeyIndex, numberOf } from '../../value/key-index.ts';
import { mapOf } from '../../value/tree.ts';
import {
  isMap,
  isNumber,
  isVector,
  type Value,
  type Vector,
  type Work,
} from '../../value/value.ts';
import {
  EMPTY_VECTOR,
  vectorAt,
  vectorCount,
  vectorDrop,
  vectorItems,
  vectorOf,
} from '../../value/vector.ts';
import { arg, expectCount, fault, wrongType } from '../arguments/expect.ts';
import { flexibleGet, foundOr, KEY_COST } from '../arguments/lookup.ts';
import { itemsAt, orderedAt } from '../arguments/seqable.ts';
import { plain } from '../arguments/stepping.ts';

/** Argument `index` as a vector, for functions of position. Takes constant time for vectors. */
function orderedVector(ctx: Context, args: readonly Value[], index: number): Vector {
  const value = arg(args, index);
  return isVector(value) ? value : vectorOf(orderedAt(ctx, args, index));
}

function at(ctx: Context, args: readonly Value[], index: number): Value {
  const items = orderedVector(ctx, args, 0);
  ctx.charge(1);
  return index < vectorCount(items) ? vectorAt(items, index) : null;
}

function orNull(v: Vector): Value {
  return vectorCount(v) === 0 ? null : v;
}

function after(ctx: Context, args: readonly Value[], count: number): Vector {
  ctx.charge(1);
  return vectorDrop(orderedVector(ctx, args, 0), count);
}

/** The first element of argument 0, as the arguments of another function of position. */
function firstOf(ctx: Context, args: readonly Value[]): readonly Value[] {
  return [at(ctx, args, 0)];
}

function slice(ctx: Context, items: readonly Value[], from: number, to: number): Value {
  const start = Math.max(0, from);
  const end = Math.max(start, Math.min(items.length, to));
  ctx.charge(end - start);
  return vectorOf(items.slice(start, end));
}

function drop(ctx: Context, args: readonly Value[], coll: number, count: number): Vector {
  const value = arg(args, coll);
  if (isVector(value)) {
    ctx.charge(1);
    return vectorDrop(value, Math.max(0, count));
  }
  const items = itemsAt(ctx, args, coll);
  ctx.charge(items.length);
  return vectorOf(items.slice(Math.max(0, count)));
}

/** `take`. It copies, so it pays for each element. */
function take(ctx: Context, args: readonly Value[]): Value {
  const count = expectCount(ctx, args, 0);
  return slice(ctx, itemsAt(ctx, args, 1), 0, count);
}

function positive(ctx: Context, args: readonly Value[], index: number): number {
  const count = expectCount(ctx, args, index);
  if (count > 0) return count;
  throw fault(ctx, 'runtime_error', `argument ${index + 1} must be at least 1, got ${count}.`);
}

function partition(ctx: Context, args: readonly Value[]): Value {
  const size = expectCount(ctx, args, 0);
  const last = args.length - 1;
  const items = itemsAt(ctx, args, last);
  const step = args.length > 2 ? expectCount(ctx, args, 1) : size;
  const pad = args.length > 3 ? itemsAt(ctx, args, 2) : null;
  if (size < 0) return EMPTY_VECTOR;
  if (size === 0 || step <= 0) {
    throw fault(ctx, 'runtime_error', 'the size and the step of the parts must be at least 1.');
  }
  const parts: Value[] = [];
  for (let from = 0; from < items.length; from += step) {
    const part = items.slice(from, from + size);
    ctx.charge(part.length + 1);
    if (part.length === size) parts.push(vectorOf(part));
    else {
      if (pad !== null) parts.push(vectorOf([...part, ...pad.slice(0, size - part.length)]));
      break;
    }
  }
  return vectorOf(parts);
}

function partitionAll(ctx: Context, args: readonly Value[]): Value {
  const size = positive(ctx, args, 0);
  const step = args.length > 2 ? positive(ctx, args, 1) : size;
  const items = itemsAt(ctx, args, args.length - 1);
  const parts: Value[] = [];
  for (let from = 0; from < items.length; from += step) {
    const part = items.slice(from, from + size);
    ctx.charge(part.length + 1);
    parts.push(vectorOf(part));
  }
  return vectorOf(parts);
}

function distinct(ctx: Context, args: readonly Value[]): Value {
  const index = newKeyIndex();
  for (const item of orderedAt(ctx, args, 0)) {
    ctx.charge(KEY_COST);
    numberOf(index, item, ctx);
  }
  return vectorOf(index.keys);
}

function dedupe(ctx: Context, args: readonly Value[]): Value {
  const items = itemsAt(ctx, args, 0);
  ctx.charge(items.length);
  return vectorOf(
    items.filter(
      (item, index) => index === 0 || compareKeys(items[index - 1] as Value, item, ctx) !== 0,
    ),
  );
}

function frequencies(ctx: Context, args: readonly Value[]): Value {
  const index = newKeyIndex();
  const counts: number[] = [];
  for (const item of itemsAt(ctx, args, 0)) {
    ctx.charge(KEY_COST);
    const number = numberOf(index, item, ctx);
    counts[number] = (counts[number] ?? 0) + 1;
  }
  return mapOf(index.keys, counts, ctx);
}

/** `flatten`, with an explicit stack. */
function flatten(ctx: Context, args: readonly Value[]): Value {
  const [value = null] = args;
  if (!isVector(value)) return EMPTY_VECTOR;
  const flat: Value[] = [];
  const open: { items: readonly Value[]; next: number }[] = [
    { items: vectorItems(value), next: 0 },
  ];
  for (let top = open[open.length - 1]; top !== undefined; top = open[open.length - 1]) {
    if (top.next >= top.items.length) {
      open.pop();
      continue;
    }
    ctx.charge(1);
    const item = top.items[top.next] as Value;
    top.next += 1;
    if (isVector(item)) open.push({ items: vectorItems(item), next: 0 });
    else {
      checkCount(ctx, flat.length + 1);
      flat.push(item);
    }
  }
  return vectorOf(flat);
}

function interleave(ctx: Context, args: readonly Value[]): Value {
  const all = args.map((_, index) => orderedAt(ctx, args, index));
  const count = all.length === 0 ? 0 : Math.min(...all.map((items) => items.length));
  checkCount(ctx, count * all.length);
  ctx.charge(count * all.length);
  const mixed: Value[] = [];
  for (let index = 0; index < count; index++)
    for (const items of all) mixed.push(items[index] as Value);
  return vectorOf(mixed);
}

function zip(ctx: Context, args: readonly Value[]): Value {
  const all = args.map((_, index) => itemsAt(ctx, args, index));
  const count = Math.min(...all.map((items) => items.length));
  ctx.charge(count * (all.length + 1));
  const rows: Value[] = [];
  for (let index = 0; index < count; index++)
    rows.push(vectorOf(all.map((items) => items[index] as Value)));
  return vectorOf(rows);
}

/** The sum and the count of the numbers in `items`; nil is skipped. */
export function sumOf(ctx: Context, items: readonly Value[]): { total: Num; count: number } {
  let total: Num = 0;
  let count = 0;
  for (const item of items) {
    ctx.charge(1);
    if (item === null) continue;
    if (!isNumber(item)) throw wrongType(ctx, 0, 'numbers', item);
    total = add(ctx, total, item);
    count += 1;
  }
  return { total, count };
}

function replaceElements(ctx: Context, args: readonly Value[]): Value {
  const [by = null] = args;
  const items = itemsAt(ctx, args, 1);
  ctx.charge(items.length * KEY_COST);
  return vectorOf(
    items.map((item) => {
      if (by === null) return item;
      if (isMap(by)) return foundOr(flexibleGet(ctx, by, item), item);
      if (!isVector(by)) throw wrongType(ctx, 0, 'a map or vector', by);
      const known = typeof item === 'number' && item >= 0 && item < vectorCount(by);
      return known ? vectorAt(by, item) : item;
    }),
  );
}

/** The work of these builtins; `replace` of three arguments is in `patterns.ts`. */
export const SEQUENCE_WORK: { readonly [name: string]: Work } = Object.freeze({
  first: plain((ctx, args) => at(ctx, args, 0)),
  second: plain((ctx, args) => at(ctx, args, 1)),
  last: plain((ctx, args) => {
    const items = orderedVector(ctx, args, 0);
    ctx.charge(1);
    return vectorCount(items) === 0 ? null : vectorAt(items, vectorCount(items) - 1);
  }),
  rest: plain((ctx, args) => after(ctx, args, 1)),
  next: plain((ctx, args) => orNull(after(ctx, args, 1))),
  butlast: plain((ctx, args) => {
    const items = orderedAt(ctx, args, 0);
    return items.length <= 1 ? null : slice(ctx, items, 0, items.length - 1);
  }),
  ffirst: plain((ctx, args) => at(ctx, firstOf(ctx, args), 0)),
  nfirst: plain((ctx, args) => orNull(after(ctx, firstOf(ctx, args), 1))),
  fnext: plain((ctx, args) => at(ctx, args, 1)),
  nnext: plain((ctx, args) => orNull(after(ctx, args, 2))),
  take: plain(take),
  drop: plain((ctx, args) => drop(ctx, args, 1, expectCount(ctx, args, 0))),
  'take-last': plain((ctx, args) => {
    const items = itemsAt(ctx, args, 1);
    const count = Math.max(0, Math.min(items.length, expectCount(ctx, args, 0)));
    return count === 0 ? null : slice(ctx, items, items.length - count, items.length);
  }),
  'drop-last': plain((ctx, args) => {
    const count = args.length > 1 ? Math.max(0, expectCount(ctx, args, 0)) : 1;
    const items = itemsAt(ctx, args, args.length - 1);
    return slice(ctx, items, 0, items.length - count);
  }),
  'take-nth': plain((ctx, args) => {
    const step = positive(ctx, args, 0);
    const items = itemsAt(ctx, args, 1);
    ctx.charge(items.length);
    return vectorOf(items.filter((_, index) => index % step === 0));
  }),
  nthrest: plain((ctx, args) => drop(ctx, args, 0, expectCount(ctx, args, 1))),
  nthnext: plain((ctx, args) => orNull(drop(ctx, args, 0, expectCount(ctx, args, 1)))),
  'split-at': plain((ctx, args) => {
    const count = Math.max(0, expectCount(ctx, args, 0));
    const items = itemsAt(ctx, args, 1);
    return vectorOf([slice(ctx, items, 0, count), slice(ctx, items, count, items.length)]);
  }),
  partition: plain(partition),
  'partition-all': plain(partitionAll),
  distinct: plain(distinct),
  dedupe: plain(dedupe),
  frequencies: plain(frequencies),
  reverse: plain((ctx, args) => {
    const items = orderedAt(ctx, args, 0);
    ctx.charge(items.length);
    return vectorOf(items.toReversed());
  }),
  flatten: plain(flatten),
  interpose: plain((ctx, args) => {
    const items = orderedAt(ctx, args, 1);
    checkCount(ctx, items.length * 2);
    ctx.charge(items.length * 2);
    const mixed: Value[] = [];
    for (const [index, item] of items.entries()) {
      if (index > 0) mixed.push(arg(args, 0));
      mixed.push(item);
    }
    return vectorOf(mixed);
  }),
  interleave: plain(interleave),
  zip: plain(zip),
  doall: plain((ctx, args) => {
    itemsAt(ctx, args, 0);
    return arg(args, 0);
  }),
  dorun: plain((ctx, args) => {
    itemsAt(ctx, args, 0);
    return null;
  }),
  sum: plain((ctx, args) => sumOf(ctx, itemsAt(ctx, args, 0)).total),
  avg: plain((ctx, args) => {
    const { total, count } = sumOf(ctx, itemsAt(ctx, args, 0));
    return count === 0 ? null : divide(total, count);
  }),
  'replace-elements~': plain(replaceElements),
  reduced: plain((_c, args) => ({ kind: 'reduced', value: arg(args, 0) })),
  'reduced?': plain((_c, args) => {
    const [value = null] = args;
    return typeof value === 'object' && value !== null && value.kind === 'reduced';
  }),
  unreduced: plain((_c, args) => {
    const [value = null] = args;
    return typeof value === 'object' && value !== null && value.kind === 'reduced'
      ? value.value
      : value;
  }),
});
