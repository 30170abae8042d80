/**
 * Arrays of a known length. The constructor is kept in a constant, since each read of a global is
 * slow inside the workflow sandbox.
 */
const ArrayOf: ArrayConstructor = Array;

/**
 * An array of `length` places; the first is null and the others are empty.
 *
 * V8 may store an array of only numbers as doubles and then allocates each number that is read. An
 * array that has held null is never stored like that.
 */
export function slots<T>(length: number): T[] {
  const made = ArrayOf<T | null>(length);
  if (length > 0) made[0] = null;
  return made as T[];
}
