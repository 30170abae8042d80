/**
 * The size of a large value that changes by parts, such as the state of a run. Each part is measured
 * once, so a value that shares most of its parts with one before costs only what is new.
 *
 * I1  A part never changes after it was measured: a change makes a new object.
 */
import { byteSize, type Json } from './json.ts';

/** Levels whose parts are measured one by one: a hand-over, its state and its lists. */
const LEVELS = 3;

const sizes = new WeakMap<object, number>();

/** The size of `value` as compact JSON, in UTF-8 bytes: the same number as `byteSize`. */
export function sharedByteSize(value: Json): number {
  return sizeOf(value, LEVELS);
}

function sizeOf(value: Json | undefined, levels: number): number {
  if (typeof value !== 'object' || value === null) return byteSize(value ?? null);
  const known = sizes.get(value);
  if (known !== undefined) return known;
  const size = levels === 0 ? byteSize(value) : sizeOfParts(value, levels - 1);
  sizes.set(value, size);
  return size;
}

function sizeOfParts(
  value: Exclude<Json, string | number | boolean | null>,
  levels: number,
): number {
  const parts = Array.isArray(value)
    ? value.map((item: Json) => sizeOf(item, levels))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => byteSize(key) + ':'.length + sizeOf(item, levels));
  const commas = Math.max(0, parts.length - 1);
  return parts.reduce((sum, size) => sum + size, '{}'.length + commas);
}
