/** Tenants on a real server: ids, lists, keys of fairness, turns and budgets. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
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
      cause: { type: 'invalid_input', message: expect.stringContaining(`begin with \`${tenant}:\``) },
    });
  });
});
