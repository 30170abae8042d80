/**
 * Elements of values: of nil, text, vectors, maps and sets.
 */
import { slots } from '../../value/slots.ts';
import { checkCount, type Context } from '../../value/context.ts';
import { Fault } from '../../base/problem.ts';
import { characters } from '../../value/characters.ts';
import { treeKeys, treeVals } from '../../value/tree-walk.ts';
import {
  isMap,
  isSet,
  isVector,
  type Steps,
  type TreeMap,
  type TreeSet,
  type Value,
  type Vector,
} from '../../value/value.ts';
import { vectorCount, vectorItems, vectorOf, vectorSlice } from '../../value/vector.ts';
import { arg, wrongType, wrongValue } from './expect.ts';

/** The entries of a map, the first `most`, as vectors of key and value. */
export function entriesOf(map: TreeMap, most: number = map.count): Value[] {
  const keys = treeKeys(map, most);
  const vals = treeVals(map, most);
  const entries = slots<Value>(keys.length);
  for (let index = 0; index < keys.length; index++) {
    entries[index] = vectorOf([keys[index] as Value, vals[index] as Value]);
  }
  return entries;
}

/** Elements that were not copied yet. Those of text and nil are an array. */
export type Source = Vector | TreeMap | TreeSet | readonly Value[];

/** What the elements of a value are taken from, or undefined when it has none of its kind. */
function sourceOf(ctx: Context, value: Value): Source | undefined {
  if (value === null) return [];
  if (isVector(value) || isMap(value) || isSet(value)) return value;
  if (typeof value !== 'string') return undefined;
  ctx.charge(1 + (value.length >>> 4));
  const found = characters(value);
  ctx.charge(found.length >>> 1);
  checkCount(ctx, found.length);
  return found;
}

function isList(source: Source): source is readonly Value[] {
  return Array.isArray(source);
}

/** How many elements there are. Constant. */
export function sizeOf(source: Source): number {
  if (isList(source)) return source.length;
  return source.kind === 'vector' ? vectorCount(source) : source.count;
}

/** The first `most` elements as an array, which is read-only. Linear in them; not charged. */
export function firstOf(source: Source, most: number): readonly Value[] {
  if (isList(source)) return most >= source.length ? source : source.slice(0, most);
  if (source.kind === 'vector') {
    return most >= vectorCount(source) ? vectorItems(source) : vectorSlice(source, 0, most);
  }
  return source.kind === 'map' ? entriesOf(source, most) : treeKeys(source, most);
}

/** All elements as an array, which is read-only. Linear; not charged. */
export function allOf(source: Source): readonly Value[] {
  return firstOf(source, sizeOf(source));
}

/**
 * The elements from `from` to below `to`, both within the source. Charges only for the way to them.
 */
export function partOf(ctx: Context, source: Source, from: number, to: number): readonly Value[] {
  if (isList(source)) return source.slice(from, to);
  if (source.kind === 'vector') return vectorSlice(source, from, to);
  // A tree does not know where its middle is: all before has to be walked.
  ctx.charge(from);
  return firstOf(source, to).slice(from);
}

/** The size of the smallest source; endless without one. */
export function smallestOf(sources: readonly Source[]): number {
  let least = Infinity;
  for (const source of sources) {
    const size = sizeOf(source);
    if (size < least) least = size;
  }
  return least;
}

/** The elements of a value, or undefined when it has none of its kind. Read-only; not charged. */
export function elementsOf(ctx: Context, value: Value): readonly Value[] | undefined {
  const source = sourceOf(ctx, value);
  return source === undefined ? undefined : allOf(source);
}

/** What the elements of argument `index` are taken from; fails when it has none. */
export function sourceAt(ctx: Context, args: readonly Value[], index: number): Source {
  const source = sourceOf(ctx, arg(args, index));
  if (source === undefined)
    throw wrongType(ctx, index, 'something with elements', arg(args, index));
  return source;
}

/** The elements of argument `index`; fails when it has none. Not charged. */
export function itemsAt(ctx: Context, args: readonly Value[], index: number): readonly Value[] {
  return allOf(sourceAt(ctx, args, index));
}

/** The elements of argument `index` for functions of position, which refuse maps and sets. */
export function orderedAt(ctx: Context, args: readonly Value[], index: number): readonly Value[] {
  return allOf(orderedSourceAt(ctx, args, index));
}

/** As {@link sourceAt}, for positional functions, which refuse maps and sets. */
export function orderedSourceAt(ctx: Context, args: readonly Value[], index: number): Source {
  const value = arg(args, index);
  if (isMap(value) || isSet(value)) {
    const advice = 'take `(keys m)`, `(vals m)` or `(entries m)`';
    const fault = wrongType(ctx, index, 'something with an order', value);
    throw new Fault(
      fault.reason,
      `${fault.message} Maps and sets have no first element: ${advice}.`,
    );
  }
  return sourceAt(ctx, args, index);
}

/** The elements of a value, for the special form or effect `form`. */
export function itemsOfSeqable(ctx: Context, value: Value, form: string): readonly Value[] {
  const items = elementsOf(ctx, value);
  if (items !== undefined) return items;
  throw wrongValue(form, 'something with elements', value);
}

/** Elements that a walk which may end early takes at first. */
const FIRST_TAKEN = 32;

/** By how much it then takes more: the copies of all add up to a third of the last. */
const TAKEN_GROWTH = 4;

/** Lets a stepper walk argument `index` without a copy of all: it may end early. */
export function walkFrom(ctx: Context, args: readonly Value[], index: number, s: Steps): void {
  const source = sourceAt(ctx, args, index);
  s.items = isList(source) ? source : firstOf(source, FIRST_TAKEN);
  s.source = s.items.length < sizeOf(source) ? arg(args, index) : null;
}

/** Whether element `s.at` is there, after more were taken if need be. */
export function hasNext(s: Steps): boolean {
  if (s.at < s.items.length) return true;
  takeMore(s, s.items.length * TAKEN_GROWTH);
  return s.at < s.items.length;
}

/** Takes all elements: a snapshot has them, and not what they come from. */
export function takeAll(s: Steps): void {
  takeMore(s, Infinity);
}

function takeMore(s: Steps, most: number): void {
  const { source } = s;
  if (!isVector(source) && !isMap(source) && !isSet(source)) return;
  s.items = firstOf(source, most);
  if (s.items.length >= sizeOf(source)) s.source = null;
}

/** The arguments of `(apply f a b [c d])`: `a b c d`. */
export function spreadArguments(ctx: Context, args: readonly Value[]): Value[] {
  const last = itemsAt(ctx, args, args.length - 1);
  ctx.charge(last.length);
  checkCount(ctx, args.length + last.length);
  const spread = args.slice(1, -1);
  for (const item of last) spread.push(item);
  return spread;
}
