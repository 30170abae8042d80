/** Tenants on a real server: ids, lists, keys of fairness, turns and budgets. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { defineSearchAttributeKey } from '@temporalio/common';
import { evalResult } from '../../src/client/evals.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { payer } from '../support/fork-agents.ts';
import { peopleAgents } from '../support/people-agents.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { asker, worker } from '../support/tree-agents.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => stage?.close());

/** A tenant of one test. */
function newTenant(): string {
  return `t-${randomUUID().slice(0, 8)}`;
}

describe('a run of a tenant', () => {
  it('begins with it, and so do its children, in ids, lists and fairness keys', async () => {
    const tenant = newTenant();
    const { everloop } = await stage.serve([asker(worker(1), 1, 'boss')]);
    const run = await everloop.start('boss', { task: 'Go', tenant, id: 'order-7' });
    const step = await run.result();

    expect(run.id).toBe(`${tenant}:order-7`);
    expect(step.status).toBe('success');
    const listed = await eventually('both in the list', async () => {
      const runs = await everloop.list({ tenant });
      return runs.length === 2 && runs;
    });
    expect(listed.every(({ id }) => id.startsWith(`${tenant}:order-7`))).toBe(true);
    const query = `EverloopTenant = '${tenant}'`;
    await eventually('both by the attribute', async () => {
      return (await stage.client.workflow.count(query)).count === 2;
    });
    for (const { id } of listed) {
      const info = await stage.client.workflow.getHandle(id).describe();
      expect(info.priority?.fairnessKey).toBe(tenant);
    }
    await stage.replay(run);
  });

  it('is refused under an id of another tenant, by clients and by workers', async () => {
    const tenant = newTenant();
    const { everloop, taskQueue } = await stage.serve([worker(0)]);
    const id = `${newTenant()}:order`;

    await expect(everloop.start('worker', { task: 'Go', tenant, id })).rejects.toThrow(
      `Expected the id of a run of tenant \`${tenant}\` to have no \`:\`, or to begin with \`${tenant}:\`, got "${id}". Choose another id.`,
    );
    const forged = await stage.client.workflow.start('agent', {
      workflowId: id,
      taskQueue,
      args: [{ v: 1, agent: 'worker', tenant, task: { text: 'Go' } }],
    });
    await expect(forged.result()).rejects.toMatchObject({
      cause: {
        type: 'invalid_input',
        message: expect.stringContaining(`begin with \`${tenant}:\``),
      },
    });
  });
});

/** What the service knows of a run: its fairness key, and whether the attribute finds it. */
async function sharedBy(tenant: string, id: string): Promise<unknown> {
  const { priority, typedSearchAttributes } = await stage.client.workflow.getHandle(id).describe();
  const attribute = defineSearchAttributeKey('EverloopTenant', 'KEYWORD');
  return [id.startsWith(`${tenant}:`), priority?.fairnessKey, typedSearchAttributes.get(attribute)];
}

describe('what begins runs of a tenant', () => {
  it('is a schedule, whose id and runs begin with it', async () => {
    const tenant = newTenant();
    const { everloop } = await stage.serve([worker(0)]);
    const options = { agent: 'worker', task: 'Go', cron: '0 0 1 1 *', tenant };
    const foreign = `${newTenant()}:nightly`;
    await expect(everloop.schedules.create(foreign, options)).rejects.toThrow(
      `Expected the id of a schedule of tenant \`${tenant}\` to have no \`:\`, or to begin with \`${tenant}:\`, got "${foreign}". Choose another id.`,
    );
    const schedule = await everloop.schedules.create('nightly', options);
    expect(schedule.id).toBe(`${tenant}:nightly`);
    await expect(schedule.update({ tenant } as object)).rejects.toThrow('got `tenant`');
    await schedule.update({ task: 'Go on' });
    await everloop.tenants.set(tenant, { concurrency: 1, perDay: { modelCalls: 10 } });
    const run = await schedule.trigger();
    expect(run?.id).toMatch(new RegExp(`^${tenant}:nightly-\\d{4}-`));
    expect(await run?.result()).toMatchObject({ status: 'success' });
    expect(await sharedBy(tenant, run?.id ?? '')).toEqual([true, tenant, tenant]);
    await eventually('its spending in the ledger', async () => {
      return (await everloop.tenants.show(tenant))?.budgets[0]?.used === 1;
    });
    await schedule.delete();
    if (run !== null) await stage.replay(run);
  });

  it('is a fork, or an eval of recorded runs, which is of one tenant', async () => {
    const tenant = newTenant();
    const { everloop } = await stage.serve([worker(0)]);
    const run = await everloop.start('worker', { task: 'Go', tenant });
    await run.result();
    const fork = await everloop.fork({ run: run.id, at: { iteration: 1 } });
    expect(await fork.result()).toMatchObject({ status: 'success' });
    expect(await sharedBy(tenant, fork.id)).toEqual([true, tenant, tenant]);

    const moments = [{ run: run.id, at: { iteration: 1 } }];
    const variants = [{ name: 'as it was' }];
    const evaluated = await everloop.evaluate({ moments, variants });
    const { rows } = evalResult(await evaluated.result());
    expect(rows).toMatchObject([{ status: 'success', passed: true }]);
    for (const id of [evaluated.id, rows[0]?.run ?? '']) {
      expect(await sharedBy(tenant, id)).toEqual([true, tenant, tenant]);
    }
    const other = await everloop.start('worker', { task: 'Go' });
    await other.result();
    await expect(
      everloop.evaluate({ moments: [...moments, { run: other.id }], variants }),
    ).rejects.toThrow(
      `Expected moments of runs of tenant \`${tenant}\`, got run \`${other.id}\` of no tenant. Evaluate the runs of each tenant apart.`,
    );
  });
});

describe('the budgets of a day', () => {
  it('count what a fork has spent itself, also if its statistics go on from its source', async () => {
    const tenant = newTenant();
    const { everloop } = await stage.serve([payer()]);
    await everloop.tenants.set(tenant, { concurrency: 1, perDay: { modelCalls: 7 } });
    const used = (calls: number) =>
      eventually(`${calls} calls in the ledger`, async () => {
        return (await everloop.tenants.show(tenant))?.budgets[0]?.used === calls;
      });
    const run = await everloop.start('payer', { task: 'Go', tenant });
    expect((await run.result()).usage.modelCalls).toBe(4);
    await used(4);
    // Three calls are left of the day, and the fork of it needs two: its turn has one, so it asks.
    const fork = await everloop.fork(
      { run: run.id, at: { iteration: 3 } },
      { stats: 'keep', effects: 'reuse' },
    );
    const step = await fork.result();
    expect(step).toMatchObject({ status: 'success', usage: { modelCalls: 4 } });
    await used(6);
    const again = await everloop.fork(
      { run: fork.id, at: { iteration: 4 } },
      { stats: 'keep', effects: 'reuse' },
    );
    expect(await again.result()).toMatchObject({ status: 'success', usage: { modelCalls: 4 } });
    await used(7);
    for (const one of [fork, again]) await stage.replay(one);
  });
});

describe('the turns of a tenant', () => {
  it('are so many at once, waits are seen and canceled, and a lost ledger only delays', async () => {
    const tenant = newTenant();
    const { everloop } = await stage.serve(peopleAgents());
    await everloop.tenants.set(tenant, { concurrency: 1 });
    const first = await everloop.start('asker', { task: 'Ask me', tenant, id: 'first' });
    await eventually('the first to ask', async () => (await first.pending()).length === 1);
    const second = await everloop.start('asker', { task: 'Ask me', tenant, id: 'second' });
    const third = await everloop.start('asker', { task: 'Ask me', tenant, id: 'third' });
    await eventually('the others to wait', async () => {
      const view = await everloop.tenants.show(tenant);
      return view?.waits === 2 && view.runs === 1;
    });

    expect((await second.status()).waitsFor).toEqual([`turn of tenant ${tenant}`]);
    await third.cancel();
    expect(await third.result()).toMatchObject({ status: 'canceled' });
    expect(await everloop.tenants.show(tenant)).toMatchObject({ runs: 1, waits: 1 });

    // The ledger is lost with its queue; its settings are not.
    await stage.client.workflow.getHandle(`~tenant:${tenant}`).terminate('lost');
    await first.answer((await first.pending())[0]?.id ?? '', 'blue');
    expect((await first.result()).status).toBe('success');
    const fourth = await everloop.start('asker', { task: 'Ask me', tenant, id: 'fourth' });
    await eventually('the fourth to ask', async () => (await fourth.pending()).length === 1);
    await eventually('the ledger in the list', async () => {
      const listed = await everloop.tenants.list();
      return listed.some((one) => one.tenant === tenant && one.settings.concurrency === 1);
    });
    await fourth.cancel();
    await fourth.result();
    await second.cancel();
    await second.result();
    await stage.replay(first);
    await stage.replay(third);
  });
});

it.runIf(RUNS_ALL)(
  'gives more turns at once than the service sends signals',
  async () => {
    const tenant = newTenant();
    const { everloop } = await stage.serve([worker(0)]);
    await everloop.tenants.set(tenant, { perDay: { modelCalls: 0 } });
    const ledger = stage.client.workflow.getHandle(`~tenant:${tenant}`);
    const runs = Array.from({ length: 2_500 }, (_, index) => `${tenant}:gone-${index}`);
    for (let from = 0; from < runs.length; from += 100) {
      const some = runs.slice(from, from + 100);
      await Promise.all(some.map((run) => ledger.signal('tenant-join', { v: 1, run })));
    }
    await eventually('all to wait', async () => {
      return (await everloop.tenants.show(tenant))?.waits === runs.length;
    });

    // None of them is there, so each gives its turn back at once.
    await everloop.tenants.set(tenant, { perDay: null });
    await eventually('all to have had their turn', async () => {
      const view = await everloop.tenants.show(tenant);
      return view?.waits === 0 && view.runs === 0;
    });
  },
  120_000,
);

describe('the budget of a day', () => {
  it('holds a run until there is more of it, over a kill of nothing but time', async () => {
    const tenant = newTenant();
    const { everloop } = await stage.serve([worker(3)]);
    await everloop.tenants.set(tenant, { perDay: { modelCalls: 2 }, timeZone: 'Europe/Vienna' });
    const run = await everloop.start('worker', { task: 'Go', tenant });
    await eventually('the run to wait', async () => {
      const { waitsFor } = await run.status();
      return waitsFor.includes(`budget of tenant ${tenant}`);
    });

    // The run says so before the ledger has its request.
    await eventually('the request in the ledger', async () => {
      const view = await everloop.tenants.show(tenant);
      return view?.short === 1 && view.runs === 1;
    });
    await everloop.tenants.set(tenant, { perDay: { modelCalls: 20 } });
    expect(await run.result()).toMatchObject({ status: 'success' });
    await eventually('the end in the ledger', async () => {
      const view = await everloop.tenants.show(tenant);
      return view?.runs === 0 && view.budgets[0]?.used === 4;
    });
    await stage.replay(run);
  });
});
