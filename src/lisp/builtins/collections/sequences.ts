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
function orderedVector(c: Context, args: readonly Value[], index: number): Vector {
  const value = arg(args, index);
  return isVector(value) ? value : vectorOf(orderedAt(c, args, index));
}

function at(c: Context, args: readonly Value[], index: number): Value {
  const items = orderedVector(c, args, 0);
  c.charge(1);
  return index < vectorCount(items) ? vectorAt(items, index) : null;
}

function orNull(v: Vector): Value {
  return vectorCount(v) === 0 ? null : v;
}

function after(c: Context, args: readonly Value[], count: number): Vector {
  c.charge(1);
  return vectorDrop(orderedVector(c, args, 0), count);
}

/** The first element of argument 0, as the arguments of another function of position. */
function firstOf(c: Context, args: readonly Value[]): readonly Value[] {
  return [at(c, args, 0)];
}

function slice(c: Context, items: readonly Value[], from: number, to: number): Value {
  const start = Math.max(0, from);
  const end = Math.max(start, Math.min(items.length, to));
  c.charge(end - start);
  return vectorOf(items.slice(start, end));
}

function drop(c: Context, args: readonly Value[], coll: number, count: number): Vector {
  const value = arg(args, coll);
  if (isVector(value)) {
    c.charge(1);
    return vectorDrop(value, Math.max(0, count));
  }
  const items = itemsAt(c, args, coll);
  c.charge(items.length);
  return vectorOf(items.slice(Math.max(0, count)));
}

/** `take`. It copies, so it pays for each element. */
function take(c: Context, args: readonly Value[]): Value {
  const count = expectCount(c, args, 0);
  return slice(c, itemsAt(c, args, 1), 0, count);
}

function positive(c: Context, args: readonly Value[], index: number): number {
  const count = expectCount(c, args, index);
  if (count > 0) return count;
  throw fault(c, 'runtime_error', `argument ${index + 1} must be at least 1, got ${count}.`);
}

function partition(c: Context, args: readonly Value[]): Value {
  const size = expectCount(c, args, 0);
  const last = args.length - 1;
  const items = itemsAt(c, args, last);
  const step = args.length > 2 ? expectCount(c, args, 1) : size;
  const pad = args.length > 3 ? itemsAt(c, args, 2) : null;
  if (size < 0) return EMPTY_VECTOR;
  if (size === 0 || step <= 0) {
    throw fault(c, 'runtime_error', 'the size and the step of the parts must be at least 1.');
  }
  const parts: Value[] = [];
  for (let from = 0; from < items.length; from += step) {
    const part = items.slice(from, from + size);
    c.charge(part.length + 1);
    if (part.length === size) parts.push(vectorOf(part));
    else {
      if (pad !== null) parts.push(vectorOf([...part, ...pad.slice(0, size - part.length)]));
      break;
    }
  }
  return vectorOf(parts);
}

function partitionAll(c: Context, args: readonly Value[]): Value {
  const size = positive(c, args, 0);
  const step = args.length > 2 ? positive(c, args, 1) : size;
  const items = itemsAt(c, args, args.length - 1);
  const parts: Value[] = [];
  for (let from = 0; from < items.length; from += step) {
    const part = items.slice(from, from + size);
    c.charge(part.length + 1);
    parts.push(vectorOf(part));
  }
  return vectorOf(parts);
}

function distinct(c: Context, args: readonly Value[]): Value {
  const index = newKeyIndex();
  for (const item of orderedAt(c, args, 0)) {
    c.charge(KEY_COST);
    numberOf(index, item, c);
  }
  return vectorOf(index.keys);
}

function dedupe(c: Context, args: readonly Value[]): Value {
  const items = itemsAt(c, args, 0);
  c.charge(items.length);
  return vectorOf(
    items.filter(
      (item, index) => index === 0 || compareKeys(items[index - 1] as Value, item, c) !== 0,
    ),
  );
}

function frequencies(c: Context, args: readonly Value[]): Value {
  const index = newKeyIndex();
  const counts: number[] = [];
  for (const item of itemsAt(c, args, 0)) {
    c.charge(KEY_COST);
    const number = numberOf(index, item, c);
    counts[number] = (counts[number] ?? 0) + 1;
  }
  return mapOf(index.keys, counts, c);
}

/** `flatten`, with an explicit stack. */
function flatten(c: Context, args: readonly Value[]): Value {
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
    c.charge(1);
    const item = top.items[top.next] as Value;
    top.next += 1;
    if (isVector(item)) open.push({ items: vectorItems(item), next: 0 });
    else {
      checkCount(c, flat.length + 1);
      flat.push(item);
    }
  }
  return vectorOf(flat);
}

function interleave(c: Context, args: readonly Value[]): Value {
  const all = args.map((_, index) => orderedAt(c, args, index));
  const count = all.length === 0 ? 0 : Math.min(...all.map((items) => items.length));
  checkCount(c, count * all.length);
  c.charge(count * all.length);
  const mixed: Value[] = [];
  for (let index = 0; index < count; index++)
    for (const items of all) mixed.push(items[index] as Value);
  return vectorOf(mixed);
}

function zip(c: Context, args: readonly Value[]): Value {
  const all = args.map((_, index) => itemsAt(c, args, index));
  const count = Math.min(...all.map((items) => items.length));
  c.charge(count * (all.length + 1));
  const rows: Value[] = [];
  for (let index = 0; index < count; index++)
    rows.push(vectorOf(all.map((items) => items[index] as Value)));
  return vectorOf(rows);
}

/** The sum and the count of the numbers in `items`; nil is skipped. */
export function sumOf(c: Context, items: readonly Value[]): { total: Num; count: number } {
  let total: Num = 0;
  let count = 0;
  for (const item of items) {
    c.charge(1);
    if (item === null) continue;
    if (!isNumber(item)) throw wrongType(c, 0, 'numbers', item);
    total = add(c, total, item);
    count += 1;
  }
  return { total, count };
}

function replaceElements(c: Context, args: readonly Value[]): Value {
  const [by = null] = args;
  const items = itemsAt(c, args, 1);
  c.charge(items.length * KEY_COST);
  return vectorOf(
    items.map((item) => {
      if (by === null) return item;
      if (isMap(by)) return foundOr(flexibleGet(c, by, item), item);
      if (!isVector(by)) throw wrongType(c, 0, 'a map or vector', by);
      const known = typeof item === 'number' && item >= 0 && item < vectorCount(by);
      return known ? vectorAt(by, item) : item;
    }),
  );
}

/** The work of these builtins; `replace` of three arguments is in `patterns.ts`. */
export const SEQUENCE_WORK: { readonly [name: string]: Work } = Object.freeze({
  first: plain((c, args) => at(c, args, 0)),
  second: plain((c, args) => at(c, args, 1)),
  last: plain((c, args) => {
    const items = orderedVector(c, args, 0);
    c.charge(1);
    return vectorCount(items) === 0 ? null : vectorAt(items, vectorCount(items) - 1);
  }),
  rest: plain((c, args) => after(c, args, 1)),
  next: plain((c, args) => orNull(after(c, args, 1))),
  butlast: plain((c, args) => {
    const items = orderedAt(c, args, 0);
    return items.length <= 1 ? null : slice(c, items, 0, items.length - 1);
  }),
  ffirst: plain((c, args) => at(c, firstOf(c, args), 0)),
  nfirst: plain((c, args) => orNull(after(c, firstOf(c, args), 1))),
  fnext: plain((c, args) => at(c, args, 1)),
  nnext: plain((c, args) => orNull(after(c, args, 2))),
  take: plain(take),
  drop: plain((c, args) => drop(c, args, 1, expectCount(c, args, 0))),
  'take-last': plain((c, args) => {
    const items = itemsAt(c, args, 1);
    const count = Math.max(0, Math.min(items.length, expectCount(c, args, 0)));
    return count === 0 ? null : slice(c, items, items.length - count, items.length);
  }),
  'drop-last': plain((c, args) => {
    const count = args.length > 1 ? Math.max(0, expectCount(c, args, 0)) : 1;
    const items = itemsAt(c, args, args.length - 1);
    return slice(c, items, 0, items.length - count);
  }),
  'take-nth': plain((c, args) => {
    const step = positive(c, args, 0);
    const items = itemsAt(c, args, 1);
    c.charge(items.length);
    return vectorOf(items.filter((_, index) => index % step === 0));
  }),
  nthrest: plain((c, args) => drop(c, args, 0, expectCount(c, args, 1))),
  nthnext: plain((c, args) => orNull(drop(c, args, 0, expectCount(c, args, 1)))),
  'split-at': plain((c, args) => {
    const count = Math.max(0, expectCount(c, args, 0));
    const items = itemsAt(c, args, 1);
    return vectorOf([slice(c, items, 0, count), slice(c, items, count, items.length)]);
  }),
  partition: plain(partition),
  'partition-all': plain(partitionAll),
  distinct: plain(distinct),
  dedupe: plain(dedupe),
  frequencies: plain(frequencies),
  reverse: plain((c, args) => {
    const items = orderedAt(c, args, 0);
    c.charge(items.length);
    return vectorOf(items.toReversed());
  }),
  flatten: plain(flatten),
  interpose: plain((c, args) => {
    const items = orderedAt(c, args, 1);
    checkCount(c, items.length * 2);
    c.charge(items.length * 2);
    const mixed: Value[] = [];
    for (const [index, item] of items.entries()) {
      if (index > 0) mixed.push(arg(args, 0));
      mixed.push(item);
    }
    return vectorOf(mixed);
  }),
  interleave: plain(interleave),
  zip: plain(zip),
  doall: plain((c, args) => {
    itemsAt(c, args, 0);
    return arg(args, 0);
  }),
  dorun: plain((c, args) => {
    itemsAt(c, args, 0);
    return null;
  }),
  sum: plain((c, args) => sumOf(c, itemsAt(c, args, 0)).total),
  avg: plain((c, args) => {
    const { total, count } = sumOf(c, itemsAt(c, args, 0));
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
