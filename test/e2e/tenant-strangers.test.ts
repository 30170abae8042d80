/** Messages to the ledger of a tenant that no run has sent, on a real server: they hold no run. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { ledgerIdOf, TENANT_MESSAGES } from '../../src/core/tenant/tenant-messages.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { worker } from '../support/tree-agents.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => stage?.close());

const REQUEST = { v: 1, kind: 'lease-request', number: 1, totals: {}, wants: [] };

it('ids of runs that the service takes no signal for', async () => {
  const tenant = `t-${randomUUID().slice(0, 8)}`;
  const { everloop } = await stage.serve([worker(0)]);
  await everloop.tenants.set(tenant, { perDay: { modelCalls: 100 } });
  const ledger = stage.client.workflow.getHandle(ledgerIdOf(tenant));
  const ids = ['', 'i'.repeat(5_000), '漢'.repeat(900), 'x\uD800', '__proto__', 'a\u0000b'];
  for (const id of ids) {
    await ledger.signal(TENANT_MESSAGES.join, { v: 1, run: id });
    await ledger.signal(TENANT_MESSAGES.request, { ...REQUEST, childId: id });
  }
  const run = await everloop.start('worker', { task: 'Go', tenant });

  expect(await run.result()).toMatchObject({ status: 'success' });
  const { events } = await ledger.fetchHistory();
  expect(events?.filter((event) => event.workflowTaskFailedEventAttributes)).toEqual([]);
}, 60_000);
