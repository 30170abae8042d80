/** Ends an exhaustive `switch`: does not compile while a case is missing, throws when data lied. */
export function unreachable(value: never): never {
  throw new Error(`Expected every case to be handled, got ${JSON.stringify(value)}.`);
}
