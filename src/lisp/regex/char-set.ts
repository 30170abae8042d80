/**
 * Sets of code points as sorted, disjoint, inclusive ranges: `[lo, hi, lo, hi, …]`.
 *
 * The compiler works on ranges. The matchers work on a `CharSet`, which has bits for ASCII, since
 * most text is ASCII.
 */

/** Code points as `[lo, hi, lo, hi, …]`, sorted; neighbours have a gap between them. */
export type Ranges = readonly number[];

/** A set for the matchers: bits for ASCII, ranges for other characters. */
export interface CharSet {
  /** Four words of 32 bits: bit `c & 31` of word `c >> 5` is set when `c` is a member. */
  readonly ascii: readonly number[];
  /** The members from 128 on. */
  readonly wide: Ranges;
}

/** The greatest code point. */
export const MAX_CODE_POINT = 0x10ffff;

/** The union of ranges, which may overlap and be in any order. */
export function normalizeRanges(pairs: readonly number[]): Ranges {
  if (isNormal(pairs)) return pairs;
  const sorted: (readonly [number, number])[] = [];
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    sorted.push([pairs[index] ?? 0, pairs[index + 1] ?? 0]);
  }
  sorted.sort((left, right) => left[0] - right[0]);

  const result: number[] = [];
  for (const [lo, hi] of sorted) {
    const last = result.length - 1;
    const lastHi = result[last];
    if (lastHi !== undefined && lo <= lastHi + 1) result[last] = Math.max(lastHi, hi);
    else result.push(lo, hi);
  }
  return result;
}

function isNormal(pairs: readonly number[]): boolean {
  for (let index = 1; index + 1 < pairs.length; index += 2) {
    if ((pairs[index + 1] ?? 0) <= (pairs[index] ?? 0) + 1) return false;
  }
  return true;
}

/** Every code point that is not in `ranges`. */
export function negateRanges(ranges: Ranges): Ranges {
  const result: number[] = [];
  let next = 0;
  for (let index = 0; index + 1 < ranges.length; index += 2) {
    const lo = ranges[index] ?? 0;
    if (lo > next) result.push(next, lo - 1);
    next = (ranges[index + 1] ?? 0) + 1;
  }
  if (next <= MAX_CODE_POINT) result.push(next, MAX_CODE_POINT);
  return result;
}

/** `ranges` and, for every ASCII letter in it, the same letter in the other case. */
export function foldAsciiCase(ranges: Ranges): Ranges {
  const folded = [...ranges];
  for (let upper = 0x41; upper <= 0x5a; upper++) {
    const lower = upper + 32;
    if (rangesHave(ranges, upper)) folded.push(lower, lower);
    if (rangesHave(ranges, lower)) folded.push(upper, upper);
  }
  return normalizeRanges(folded);
}

/** Whether `code` is in `ranges`. Logarithmic. */
function rangesHave(ranges: Ranges, code: number): boolean {
  let low = 0;
  let high = (ranges.length >> 1) - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (code < (ranges[middle * 2] as number)) high = middle - 1;
    else if (code > (ranges[middle * 2 + 1] as number)) low = middle + 1;
    else return true;
  }
  return false;
}

/** Whether `left` and `right` share a code point. Linear in both. */
export function rangesMeet(left: Ranges, right: Ranges): boolean {
  let i = 0;
  let j = 0;
  while (i + 1 < left.length && j + 1 < right.length) {
    if ((left[i + 1] ?? 0) < (right[j] ?? 0)) i += 2;
    else if ((right[j + 1] ?? 0) < (left[i] ?? 0)) j += 2;
    else return true;
  }
  return false;
}

/** Whether every member of `inner` is in `outer`. */
export function rangesWithin(inner: Ranges, outer: Ranges): boolean {
  return !rangesMeet(inner, negateRanges(outer));
}

/** `ranges` as a `CharSet`. */
export function toCharSet(ranges: Ranges): CharSet {
  const ascii = [0, 0, 0, 0];
  const wide: number[] = [];
  for (let index = 0; index + 1 < ranges.length; index += 2) {
    const lo = ranges[index] ?? 0;
    const hi = ranges[index + 1] ?? 0;
    for (let code = lo; code <= hi && code < 128; code++) {
      ascii[code >> 5] = (ascii[code >> 5] ?? 0) | (1 << (code & 31));
    }
    if (hi >= 128) wide.push(Math.max(lo, 128), hi);
  }
  return { ascii, wide };
}

/**
 * The number of UTF-16 units of `text` at `position` that the set matches: 0 for no match or the
 * end, 1, or 2 for a surrogate pair.
 */
export function matchSet(set: CharSet, text: string, position: number): number {
  if (position >= text.length) return 0;
  const unit = text.charCodeAt(position);
  if (unit < 128) return ((set.ascii[unit >> 5] as number) >>> (unit & 31)) & 1;
  if (unit >= 0xd800 && unit < 0xdc00 && position + 1 < text.length) {
    const low = text.charCodeAt(position + 1);
    if (low >= 0xdc00 && low < 0xe000) {
      return rangesHave(set.wide, ((unit - 0xd800) << 10) + (low - 0xdc00) + 0x10000) ? 2 : 0;
    }
  }
  return rangesHave(set.wide, unit) ? 1 : 0;
}
