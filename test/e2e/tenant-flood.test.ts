/** The ledger of a tenant with thousands of runs, on a real server: it hands over, and goes on. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { ledgerIdOf, TENANT_MESSAGES } from '../../src/core/tenant/tenant-messages.ts';
import { leaseIdOf } from '../../src/core/tenant/ledger.ts';
import { DAY_KEYS } from '../../src/core/tenant/settings.ts';
import { eventually } from '../support/eventually.ts';
import { REPEATS_ALL } from '../support/extent.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { worker } from '../support/tree-agents.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => stage?.close());

const RUNS = 4_500;

it.runIf(REPEATS_ALL)(
  'hands over thousands of runs that wait for a budget, and serves the next one',
  async () => {
    const tenant = `t-${randomUUID().slice(0, 8)}`;
    const { everloop } = await stage.serve([worker(0)]);
    const perDay = { modelCalls: 3, totalTokens: 1_000_000 };
    await everloop.tenants.set(tenant, { perDay });
    const ledger = stage.client.workflow.getHandle(ledgerIdOf(tenant));
    const first = (await ledger.describe()).runId;
    // All three calls of the day are granted, so that those who need one wait.
    const ids = DAY_KEYS.map((key) => leaseIdOf(tenant, key));
    const lacks = Object.fromEntries(ids.map((id) => [id, 2]));
    const totals = Object.fromEntries(DAY_KEYS.map((key) => [key, 123_456_789]));
    const request = (run: number): Promise<void> =>
      ledger.signal(TENANT_MESSAGES.request, {
        v: 1,
        kind: 'lease-request',
        childId: `${tenant}:${randomUUID()}-${run}`,
        number: 1,
        totals,
        wants: ids,
        missing: lacks,
      });
    for (let run = 0; run < RUNS; run += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, index) => request(run + index)));
    }

    await eventually(
      'the hand-over',
      async () => (await ledger.describe()).runId !== first,
      60_000,
    );
    const view = await everloop.tenants.show(tenant);
    expect(view?.short).toBeGreaterThan(RUNS - 500);
    // Nobody hears the answers, so these runs are given up, and a real one gets its turn.
    await everloop.tenants.set(tenant, { perDay: null });
    const run = await everloop.start('worker', { task: 'Go', tenant });
    expect(await run.result()).toMatchObject({ status: 'success' });
    await eventually('the end of all others', async () => {
      const after = await everloop.tenants.show(tenant);
      return after?.short === 0 && after.runs === 0;
    });
  },
  300_000,
);
