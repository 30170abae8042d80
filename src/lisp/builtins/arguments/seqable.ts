/**
 * Elements of values: of nil, text, vectors, maps and sets.
 */
import { slots } from '../../value/slots.ts';
import type { Context } from '../../value/context.ts';
import { Fault } from '../../base/problem.ts';
import { characters } from '../../value/characters.ts';
import { describeValue } from '../../value/print.ts';
import { treeKeys, treeVals } from '../../value/tree-walk.ts';
import { isMap, isSet, isVector, type TreeMap, type Value } from '../../value/value.ts';
import { vectorItems, vectorOf } from '../../value/vector.ts';
import { checkCount } from '../../value/context.ts';
import { arg, wrongType } from './expect.ts';

/** The entries of a map as vectors of key and value. */
export function entriesOf(map: TreeMap): Value[] {
  const keys = treeKeys(map);
  const vals = treeVals(map);
  const entries = slots<Value>(keys.length);
  for (let index = 0; index < keys.length; index++) {
    entries[index] = vectorOf([keys[index] as Value, vals[index] as Value]);
  }
  return entries;
}

/** The elements of a value, or undefined when its type has none. Read-only; costs no fuel. */
export function elementsOf(ctx: Context, value: Value): readonly Value[] | undefined {
  if (value === null) return [];
  if (isVector(value)) return vectorItems(value);
  if (isMap(value)) return entriesOf(value);
  if (isSet(value)) return treeKeys(value);
  if (typeof value !== 'string') return undefined;
  ctx.charge(1 + (value.length >>> 4));
  const found = characters(value);
  checkCount(ctx, found.length);
  return found;
}

/** The elements of argument `index`; fails when its type has none. */
export function itemsAt(ctx: Context, args: readonly Value[], index: number): readonly Value[] {
  const items = elementsOf(ctx, arg(args, index));
  if (items === undefined) throw wrongType(ctx, index, 'something with elements', arg(args, index));
  return items;
}

/** The elements of argument `index` for functions of position, which refuse maps and sets. */
export function orderedAt(ctx: Context, args: readonly Value[], index: number): readonly Value[] {
  const value = arg(args, index);
  if (isMap(value) || isSet(value)) {
    const advice = 'take `(keys m)`, `(vals m)` or `(entries m)`';
    const fault = wrongType(ctx, index, 'something with an order', value);
    throw new Fault(
      fault.reason,
      `${fault.message} Maps and sets have no first element: ${advice}.`,
    );
  }
  return itemsAt(ctx, args, index);
}

/** The elements of a value, for the special form or effect `form`. */
export function itemsOfSeqable(ctx: Context, value: Value, form: string): readonly Value[] {
  const items = elementsOf(ctx, value);
  if (items !== undefined) return items;
  throw new Fault(
    'type_error',
    `\`${form}\` expects something with elements, got ${describeValue(value)}.`,
  );
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
