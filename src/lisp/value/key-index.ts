/**
 * Numbers distinct keys in the order of their first appearance. Faster than a persistent set, since
 * most keys are integers, text or keywords, which JavaScript maps can compare.
 */
import { FREE_NAME } from './order.ts';
import { EMPTY_MAP, mapSet, treeGet } from './tree.ts';
import type { Meter, TreeMap, Value } from './value.ts';

/** Keys seen so far. */
export interface KeyIndex {
  readonly keys: Value[];
  readonly plain: Map<Value, number>;
  readonly names: Map<string, number>;
  others: TreeMap;
}

/** An index without keys. */
export function newKeyIndex(): KeyIndex {
  return { keys: [], plain: new Map(), names: new Map(), others: EMPTY_MAP };
}

/** The number of `key`. A new key gets the next number. */
export function numberOf(index: KeyIndex, key: Value, meter: Meter): number {
  const next = index.keys.length;
  if (typeof key !== 'object' || key === null) {
    // A lookup reads the whole text.
    if (typeof key === 'string') meter.charge(key.length >>> 4);
    const known = index.plain.get(key);
    if (known !== undefined) return known;
    index.plain.set(key, next);
  } else if (key.kind === 'keyword') {
    if (key.name.length > FREE_NAME) meter.charge(key.name.length >>> 4);
    const known = index.names.get(key.name);
    if (known !== undefined) return known;
    index.names.set(key.name, next);
  } else {
    const known = treeGet(index.others, key, meter);
    if (typeof known === 'number') return known;
    index.others = mapSet(index.others, key, next, meter);
  }
  index.keys.push(key);
  return next;
}
