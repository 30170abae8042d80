/**
 * Thrown by a tool on purpose: the model reads the message, and the call is not retried. Recognise
 * it with {@link isToolError}, since `instanceof` fails across realms and copies of the package.
 *
 * @example
 * throw new ToolError('no such city, try its English name');
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/** Whether `error` is a {@link ToolError}, of this or another copy of the package. */
export function isToolError(error: unknown): error is ToolError {
  return error instanceof Error && error.name === 'ToolError';
}
