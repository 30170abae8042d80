/**
 * The sum of two numbers, exact up to 2^53-1 and never beyond, on either side of 0: numbers beyond
 * are inexact, and other runs of a tree would refuse them.
 */
export function exactSum(left: number, right: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(left + right, Number.MAX_SAFE_INTEGER));
}
