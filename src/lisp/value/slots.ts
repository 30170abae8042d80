/**
 * Arrays of a known length.
 *
 * The constructor is kept here since a global is slow to reach inside the workflow sandbox: the
 * object of a context's globals asks its host for each name.
 */
const ArrayOf: ArrayConstructor = Array;

/** An array of `length` places that nothing was put into yet. */
export function slots<T>(length: number): T[] {
  return ArrayOf<T>(length);
}
