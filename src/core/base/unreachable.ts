/** Ends an exhaustive `switch`: a missing case does not compile, unexpected data throws. */
export function unreachable(value: never): never {
  throw new Error(`Expected every case to be handled, got ${JSON.stringify(value)}.`);
}
