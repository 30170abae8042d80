/**
 * Ends an exhaustive `switch`: a missing case does not compile, and data outside its type throws.
 */
export function unreachable(value: never): never {
  throw new Error(`Expected every case to be handled, got ${JSON.stringify(value)}.`);
}
