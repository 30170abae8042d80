/** The wait that a server asks for belongs to the request that it has turned away. */
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { readFailure } from '../../src/mcp/connection/failures.ts';
import { noteRetryAfter, withRetryAfter } from '../../src/mcp/connection/retry-after.ts';

it('is that of one request, whatever else is on the connection', async () => {
  const failing = async (waitMs: number | undefined): Promise<unknown> =>
    withRetryAfter(async () => {
      if (waitMs !== undefined) noteRetryAfter(waitMs);
      await setTimeout(1);
      throw new Error('HTTP 503');
    }).catch((error: unknown) => error);
  const errors = await Promise.all([failing(7_000), failing(undefined), failing(2_000)]);

  expect(errors.map((error) => readFailure(error).waitMs)).toEqual([7_000, undefined, 2_000]);
});
