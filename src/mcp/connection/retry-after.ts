/** The wait that a server asks for, kept for the one request that it turned away. */
import { AsyncLocalStorage } from 'node:async_hooks';

const asked = new AsyncLocalStorage<{ ms?: number }>();

/** Notes the wait for the request within which this is called. */
export function noteRetryAfter(ms: number): void {
  const wait = asked.getStore();
  if (wait !== undefined) wait.ms = ms;
}

/** Makes a request. What it throws has `retryAfterMs`, if the server has asked for a wait. */
export async function withRetryAfter<Result>(request: () => Promise<Result>): Promise<Result> {
  const wait: { ms?: number } = {};
  try {
    return await asked.run(wait, request);
  } catch (error) {
    if (error instanceof Error && wait.ms !== undefined) {
      Object.assign(error, { retryAfterMs: wait.ms });
    }
    throw error;
  }
}
