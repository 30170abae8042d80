/**
 * The sum of two counts, exact up to 2^53-1 and never above: numbers beyond are inexact, and other
 * runs of a tree would refuse them.
 */
export function exactSum(left: number, right: number): number {
  return Math.min(left + right, Number.MAX_SAFE_INTEGER);
}
