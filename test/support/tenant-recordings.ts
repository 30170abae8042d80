/** The recorded run of a tenant. */
import type { RunHandle } from '../../src/client/run-handle.ts';
import { eventually } from './eventually.ts';
import type { Stage } from './stage.ts';
import { worker } from './tree-agents.ts';

/** A run that gets its turn, waits for a budget until there is more of it, and ends. */
export async function playTenant(stage: Stage): Promise<RunHandle> {
  // A ledger stays on the task queue on which it began.
  const tenant = `recorded-${Date.now()}`;
  const { everloop, stop } = await stage.serve([worker(1)]);
  await everloop.tenants.set(tenant, { concurrency: 2, perDay: { modelCalls: 1 } });
  const run = await everloop.start('worker', { task: 'Go', tenant, id: 'run' });
  await eventually('the wait for a budget', async () => {
    const { waitsFor } = await run.status();
    return waitsFor.includes(`budget of tenant ${tenant}`);
  });
  await everloop.tenants.set(tenant, { perDay: { modelCalls: 100 } });
  await run.result();
  await eventually('the end in the ledger', async () => {
    return (await everloop.tenants.show(tenant))?.runs === 0;
  });
  await stop();
  return run;
}
