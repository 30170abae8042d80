/**
 * Moments and forks that no client of Everloop asks for, on a real server: a worker, which has the keys
 * of all tenants, hands no run of one to another.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { WorkflowFailedError } from '@temporalio/client';
import { AGENT_WORKFLOW, MOMENT_WORKFLOW } from '../../src/core/contract/messages.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { worker } from '../support/tree-agents.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => stage?.close());

/** How a workflow of a stranger ends. */
async function endOf(type: string, workflowId: string, args: object[], queue: string) {
  const handle = await stage.client.workflow.start(type, { workflowId, taskQueue: queue, args });
  return handle.result().catch((error: unknown) => {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const { cause } = error;
    return `failed: ${cause?.message}: ${(cause?.cause as Error | undefined)?.message}`;
  });
}

it('a moment is seen below its run only, and a fork keeps what its id begins with', async () => {
  const { everloop } = await stage.serve([worker(0)]);
  const one = await everloop.start('worker', { task: 'Secret', tenant: 'acme', id: randomUUID() });
  await one.result();
  const { taskQueue } = await stage.client.workflow.getHandle(one.id).describe();
  const source = { workflowId: one.id };
  const look = { source, at: 'start' };
  const start = {
    v: 1,
    agent: 'worker',
    task: { text: '' },
    fork: { source, at: 'start', effects: 'run' },
  };

  const other = `globex:${randomUUID()}`;
  expect(await endOf(MOMENT_WORKFLOW, other, [look], taskQueue)).toContain('an id below it');
  expect(await endOf(AGENT_WORKFLOW, `${other}-fork`, [start], taskQueue)).toContain(
    'to begin with `acme:`',
  );
  expect(await one.at('start')).toMatchObject({ run: one.id });
  const fork = await everloop.fork({ run: one.id, at: 'start' }, { effects: 'run' });
  expect(await fork.result()).toMatchObject({ status: 'success' });
}, 60_000);
