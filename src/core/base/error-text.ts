/** Messages that stand for an error of several without one of its own. */
const MAX_INNER = 3;

/**
 * The message of a thrown `Error`; any other thrown value as text. An error without a message is its
 * name, with the first messages of the errors in it: a refused connection is such an error.
 */
export function errorText(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  if (thrown.message !== '') return thrown.message;
  const inner =
    thrown instanceof AggregateError && Array.isArray(thrown.errors)
      ? thrown.errors.slice(0, MAX_INNER)
      : [];
  const messages = inner.flatMap((error) => (error instanceof Error ? [error.message] : []));
  return messages.length === 0 ? thrown.name : `${thrown.name}: ${messages.join('; ')}`;
}
