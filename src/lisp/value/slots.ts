/**
 * Arrays of a known length.
 *
 * The constructor is kept here since a global is slow to reach inside the workflow sandbox: the
 * object of a context's globals asks its host for each name.
 */
const ArrayOf: ArrayConstructor = Array;

/**
 * An array of `length` places, the first nil and the others not there yet.
 *
 * An array that has only numbers in it may be kept as one of doubles, and each number that is read
 * from it is then made anew. One that has held nil is not.
 */
export function slots<T>(length: number): T[] {
  const made = ArrayOf<T | null>(length);
  if (length > 0) made[0] = null;
  return made as T[];
}
