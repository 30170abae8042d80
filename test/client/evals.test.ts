import type { Client } from '@temporalio/client';
import { expect, it } from 'vitest';
import { evalPlan } from '../../src/client/evals.ts';

it('more moments than an eval may have are refused before the service is asked about each', async () => {
  const moments = Array.from({ length: 10_000 }, (_, run) => ({ run: `run-${run}` }));
  const nobody = {} as Client;

  await expect(
    evalPlan(nobody, { moments, variants: [{ name: 'a' }] }, undefined),
  ).rejects.toMatchObject({
    code: 'invalid_input',
    message: 'Expected at most 200 tries, got 10000 moments. Take several evals.',
  });
});
