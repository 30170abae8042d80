import { toJsonResult } from '../core/base/json-result.ts';
import type { ToolContext } from '../define/definition/definitions.ts';

/** The part of a tool's context that a generator needs. */
type YieldContext = Pick<ToolContext, 'emit' | 'signal'>;

/**
 * What a tool returned. Of an `async function*` it is the value that it returns, else the last that
 * it yields; each yielded value is emitted as `{tool}:progress`. Progress that no event can carry,
 * because it is no JSON or the call has emitted too much, is left out and costs the call nothing.
 */
export async function lastOf(
  tool: string,
  value: unknown,
  context: YieldContext,
): Promise<unknown> {
  const result: unknown = await value;
  if (!isGenerator(result)) return result;
  let last: unknown;
  try {
    for (;;) {
      const next = await result.next();
      if (next.done === true) return next.value ?? last;
      last = next.value;
      if (context.signal.aborted) return last;
      tell(tool, last, context);
    }
  } finally {
    // The code after its last `yield` tidies up. After its end this does nothing.
    await result.return(undefined);
  }
}

function tell(tool: string, value: unknown, { emit }: YieldContext): void {
  const read = toJsonResult(value);
  if (read.kind === 'not_json') return;
  try {
    emit(`${tool}:progress`, read.value ?? null);
  } catch {
    // Too large, or too much: the result still counts.
  }
}

/** Whether `value` is what an `async function*` returns. */
function isGenerator(value: unknown): value is AsyncGenerator {
  const { next, return: end } = Object(value) as Partial<AsyncGenerator>;
  return (
    typeof value === 'object' &&
    value !== null &&
    Symbol.asyncIterator in value &&
    typeof next === 'function' &&
    typeof end === 'function'
  );
}
