/** What the tool of a server throws when its request has not left. */

const notSentMark = Symbol.for('everloop.mcp.notSent');

/**
 * Thrown when the request did not leave this worker: it had no connection, or the server had no room.
 * The call has had no effect, so it may be tried again whatever its effect is.
 */
export class NotSentError extends Error {
  override readonly name = 'NotSentError';
  /** In words, what another worker may reach. Absent: another one would fare no better. */
  readonly what: string | undefined;

  constructor(message: string, what?: string) {
    super(message);
    this.what = what;
    Object.defineProperty(this, notSentMark, { value: true });
  }
}

/** Whether `error` is a `NotSentError`, of this or another copy of the package. */
export function isNotSent(error: unknown): error is NotSentError {
  return error instanceof Error && notSentMark in error;
}
