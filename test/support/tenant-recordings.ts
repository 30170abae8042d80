/** The recorded run of a tenant, and the workflows that keep its ledger and the rate of an entry. */
import type { RunHandle } from '../../src/client/run-handle.ts';
import { counterIdOf } from '../../src/core/rate/rate.ts';
import { ledgerIdOf } from '../../src/core/tenant/tenant-messages.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { eventually } from './eventually.ts';
import { answer } from './runs.ts';
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

/** A ledger of one run at once: another waits for its turn, one is canceled, and one for a budget. */
export async function playLedger(stage: Stage): Promise<Pick<RunHandle, 'id'>> {
  const tenant = `recorded-${Date.now()}`;
  const { everloop, stop } = await stage.serve([worker(1)]);
  await everloop.tenants.set(tenant, { concurrency: 1, perDay: { modelCalls: 1 } });
  const first = await everloop.start('worker', { task: 'Go', tenant, id: 'first' });
  await eventually('the wait for a budget', async () => {
    return (await everloop.tenants.show(tenant))?.short === 1;
  });
  const second = await everloop.start('worker', { task: 'Go', tenant, id: 'second' });
  const third = await everloop.start('worker', { task: 'Go', tenant, id: 'third' });
  await eventually('the others to wait', async () => {
    return (await everloop.tenants.show(tenant))?.waits === 2;
  });
  await third.cancel();
  await third.result();
  await everloop.tenants.set(tenant, { perDay: { modelCalls: 100 } });
  await first.result();
  await second.result();
  await eventually('the ends in the ledger', async () => {
    return (await everloop.tenants.show(tenant))?.runs === 0;
  });
  await stop();
  return { id: ledgerIdOf(tenant) };
}

/** A counter of requests and tokens that three runs have asked. */
export async function playCounter(stage: Stage): Promise<Pick<RunHandle, 'id'>> {
  const id = `recorded/${Date.now()}`;
  const rate = { requestsPerMinute: 600, tokensPerMinute: 1_000_000 };
  const model = { id, rate, model: async () => answer('paced') };
  const { everloop, stop } = await stage.serve([
    defineAgent({ name: 'paced', mode: 'react', model }),
  ]);
  for (let run = 0; run < 3; run++) await (await everloop.start('paced', { task: 'Go' })).result();
  await stop();
  return { id: counterIdOf(id) };
}
