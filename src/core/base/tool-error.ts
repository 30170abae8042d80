/**
 * What a tool throws on purpose: the model reads its message, and the call is not tried again.
 * Recognise it with {@link isToolError}: `instanceof` fails across realms and copies.
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
