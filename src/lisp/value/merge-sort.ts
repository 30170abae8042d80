import { slots } from './slots.ts';

/**
 * A stable merge sort with a fixed sequence of comparisons. Comparisons cost fuel, and those of
 * `Array.sort` may change with the JavaScript engine.
 */
export function mergeSort<T>(items: readonly T[], compare: (a: T, b: T) => number): T[] {
  let from = items.slice();
  let to = slots<T>(items.length);
  for (let width = 1; width < items.length; width *= 2) {
    for (let low = 0; low < items.length; low += 2 * width) {
      const middle = low + width < items.length ? low + width : items.length;
      const high = low + 2 * width < items.length ? low + 2 * width : items.length;
      let left = low;
      let right = middle;
      for (let at = low; at < high; at++) {
        const takeRight =
          left >= middle || (right < high && compare(from[right] as T, from[left] as T) < 0);
        to[at] = (takeRight ? from[right++] : from[left++]) as T;
      }
    }
    [from, to] = [to, from];
  }
  return from;
}
