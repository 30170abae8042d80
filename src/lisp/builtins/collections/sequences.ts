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
  type BuiltinWork,
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
import {
  allOf,
  firstOf,
  itemsAt,
  orderedAt,
  orderedSourceAt,
  partOf,
  sizeOf,
  smallestOf,
  sourceAt,
  type Source,
} from '../arguments/seqable.ts';
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
function innerArgs(ctx: Context, args: readonly Value[]): readonly Value[] {
  return [at(ctx, args, 0)];
}

function slice(ctx: Context, source: Source, from: number, to: number): Value {
  const start = Math.min(sizeOf(source), Math.max(0, from));
  const end = Math.max(start, Math.min(sizeOf(source), to));
  ctx.charge(end - start);
  if (start === end) return EMPTY_VECTOR;
  return vectorOf(start === 0 ? firstOf(source, end) : partOf(ctx, source, start, end));
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
  return slice(ctx, sourceAt(ctx, args, 1), 0, count);
}

function positive(ctx: Context, args: readonly Value[], index: number): number {
  const count = expectCount(ctx, args, index);
  if (count > 0) return count;
  throw fault(ctx, 'runtime_error', `argument ${index + 1} must be at least 1, got ${count}.`);
}

/**
 * Argument `index` for parts out of its middle: a tree is copied, and paid, once for all of them.
 */
function walkedAt(ctx: Context, args: readonly Value[], index: number): Source {
  const source = sourceAt(ctx, args, index);
  if (Array.isArray(source) || isVector(arg(args, index))) return source;
  ctx.charge(sizeOf(source));
  return allOf(source);
}

function partition(ctx: Context, args: readonly Value[]): Value {
  const size = expectCount(ctx, args, 0);
  const last = args.length - 1;
  const items = walkedAt(ctx, args, last);
  const count = sizeOf(items);
  const step = args.length > 2 ? expectCount(ctx, args, 1) : size;
  const pad = args.length > 3 ? sourceAt(ctx, args, 2) : null;
  if (size < 0) return EMPTY_VECTOR;
  if (size === 0 || step <= 0) {
    throw fault(ctx, 'runtime_error', 'the size and the step of the parts must be at least 1.');
  }
  const parts: Value[] = [];
  for (let from = 0; from < count; from += step) {
    const end = Math.min(count, from + size);
    ctx.charge(end - from + 1);
    const part = partOf(ctx, items, from, end);
    if (part.length === size) parts.push(vectorOf(part));
    else {
      if (pad !== null) {
        const more = firstOf(pad, size - part.length);
        ctx.charge(more.length);
        parts.push(vectorOf([...part, ...more]));
      }
      break;
    }
  }
  return vectorOf(parts);
}

function partitionAll(ctx: Context, args: readonly Value[]): Value {
  const size = positive(ctx, args, 0);
  const step = args.length > 2 ? positive(ctx, args, 1) : size;
  const items = walkedAt(ctx, args, args.length - 1);
  const count = sizeOf(items);
  const parts: Value[] = [];
  for (let from = 0; from < count; from += step) {
    const end = Math.min(count, from + size);
    ctx.charge(end - from + 1);
    parts.push(vectorOf(partOf(ctx, items, from, end)));
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
  const sources = args.map((_, index) => orderedSourceAt(ctx, args, index));
  const count = sources.length === 0 ? 0 : smallestOf(sources);
  checkCount(ctx, count * sources.length);
  ctx.charge(count * sources.length);
  const all = sources.map((source) => firstOf(source, count));
  const mixed: Value[] = [];
  for (let index = 0; index < count; index++)
    for (const items of all) mixed.push(items[index] as Value);
  return vectorOf(mixed);
}

function zip(ctx: Context, args: readonly Value[]): Value {
  const sources = args.map((_, index) => sourceAt(ctx, args, index));
  const count = smallestOf(sources);
  ctx.charge(count * (sources.length + 1));
  const all = sources.map((source) => firstOf(source, count));
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
export const SEQUENCE_WORK: { readonly [name: string]: BuiltinWork } = Object.freeze({
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
    const items = orderedSourceAt(ctx, args, 0);
    const last = sizeOf(items) - 1;
    return last <= 0 ? null : slice(ctx, items, 0, last);
  }),
  ffirst: plain((ctx, args) => at(ctx, innerArgs(ctx, args), 0)),
  nfirst: plain((ctx, args) => orNull(after(ctx, innerArgs(ctx, args), 1))),
  fnext: plain((ctx, args) => at(ctx, args, 1)),
  nnext: plain((ctx, args) => orNull(after(ctx, args, 2))),
  take: plain(take),
  drop: plain((ctx, args) => drop(ctx, args, 1, expectCount(ctx, args, 0))),
  'take-last': plain((ctx, args) => {
    const items = sourceAt(ctx, args, 1);
    const size = sizeOf(items);
    const count = Math.max(0, Math.min(size, expectCount(ctx, args, 0)));
    return count === 0 ? null : slice(ctx, items, size - count, size);
  }),
  'drop-last': plain((ctx, args) => {
    const count = args.length > 1 ? Math.max(0, expectCount(ctx, args, 0)) : 1;
    const items = sourceAt(ctx, args, args.length - 1);
    return slice(ctx, items, 0, sizeOf(items) - count);
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
    const items = sourceAt(ctx, args, 1);
    return vectorOf([slice(ctx, items, 0, count), slice(ctx, items, count, sizeOf(items))]);
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
    sourceAt(ctx, args, 0);
    return arg(args, 0);
  }),
  dorun: plain((ctx, args) => {
    sourceAt(ctx, args, 0);
    return null;
  }),
  sum: plain((ctx, args) => sumOf(ctx, itemsAt(ctx, args, 0)).total),
  avg: plain((ctx, args) => {
    const { total, count } = sumOf(ctx, itemsAt(ctx, args, 0));
    return count === 0 ? null : divide(total, count);
  }),
  'replace-elements~': plain(replaceElements),
});
