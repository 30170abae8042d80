/** The deadline of functions that an agent or a model entry has for its requests. */
import { attempt } from './attempt.ts';

/** How long one function may take for a request, in ms: long enough for a query, not for a hang. */
const FUNCTION_TIMEOUT_MS = 30_000;

const NEVER = new AbortController().signal;

/**
 * What `work` gives; throws what it throws, and after {@link FUNCTION_TIMEOUT_MS} an error that names
 * it, which fails the attempt. `name` follows "Expected": `` `prepare` of agent clerk ``.
 */
export async function withinTime<Result>(
  name: string,
  work: () => Result | Promise<Result>,
): Promise<Result> {
  const ended = await attempt(work, { signal: NEVER, timeoutMs: FUNCTION_TIMEOUT_MS });
  if (ended.kind === 'returned') return ended.value as Result;
  if (ended.kind === 'threw') throw ended.error;
  const seconds = FUNCTION_TIMEOUT_MS / 1_000;
  throw new Error(
    `Expected ${name} to end within ${seconds} s, and it did not. Give what it waits for a shorter deadline.`,
  );
}
