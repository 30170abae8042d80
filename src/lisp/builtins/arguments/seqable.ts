/**
 * Walking whatever has elements.
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

/** The elements of a value, or undefined when it has none of its kind. Read-only; not charged. */
export function elementsOf(c: Context, value: Value): readonly Value[] | undefined {
  if (value === null) return [];
  if (isVector(value)) return vectorItems(value);
  if (isMap(value)) return entriesOf(value);
  if (isSet(value)) return treeKeys(value);
  if (typeof value !== 'string') return undefined;
  c.charge(1 + (value.length >>> 4));
  const found = characters(value);
  checkCount(c, found.length);
  return found;
}

/** The elements of argument `index`; fails when it has none. */
export function itemsAt(c: Context, args: readonly Value[], index: number): readonly Value[] {
  const items = elementsOf(c, arg(args, index));
  if (items === undefined) throw wrongType(c, index, 'something with elements', arg(args, index));
  return items;
}

/** The elements for positional functions, which refuse maps and sets. */
export function orderedAt(c: Context, args: readonly Value[], index: number): readonly Value[] {
  const value = arg(args, index);
  if (isMap(value) || isSet(value)) {
    const advice = 'take `(keys m)`, `(vals m)` or `(entries m)`';
    const fault = wrongType(c, index, 'something with an order', value);
    throw new Fault(
      fault.reason,
      `${fault.message} Maps and sets have no first element: ${advice}.`,
    );
  }
  return itemsAt(c, args, index);
}

/** The elements of a value, for special forms and effects named `form`. */
export function itemsOfSeqable(c: Context, value: Value, form: string): readonly Value[] {
  const items = elementsOf(c, value);
  if (items !== undefined) return items;
  throw new Fault(
    'type_error',
    `\`${form}\` expects something with elements, got ${describeValue(value)}.`,
  );
}
