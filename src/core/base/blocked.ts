/** Thrown by {@link blocked}. */
class BlockedError extends Error {
  override readonly name = 'BlockedError';
}

/**
 * Ends the run at once, as `error` with the reason `blocked` and this message: for middleware that
 * refuses a request or a reply. It is no failure of the model, so nothing is tried again and no
 * fallback is asked. Throws, whatever the caller does with it.
 *
 * @example
 * const guard: ModelMiddleware = async (request, next) => {
 *   if (JSON.stringify(request.messages).includes('password')) blocked('It asks for a password.');
 *   return next(request);
 * };
 */
export function blocked(reason: string): never {
  throw new BlockedError(reason);
}

/** Whether {@link blocked} threw `error`, of this or another copy of the package. */
export function isBlocked(error: unknown): error is Error {
  return error instanceof Error && error.name === 'BlockedError';
}
