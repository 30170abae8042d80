/** What the service does with an attempt of a call that has lost five workers. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';

const workflowsPath = fileURLToPath(
  new URL('../support/fixtures/workflows/late-attempt.ts', import.meta.url),
);

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage?.close());

it('[R1] an attempt of a provider that reaches its deadline is not repeated by the service', async () => {
  const taskQueue = `late-${randomUUID()}`;
  const { connection, namespace, client } = stage;
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowsPath,
    activities: { late: () => sleep(2_000) },
  });
  const late = (atDeadline: string): Promise<unknown> =>
    client.workflow.execute('late', {
      taskQueue,
      workflowId: `${taskQueue}-${atDeadline}`,
      args: [atDeadline],
    });

  await worker.runUntil(async () => {
    expect(await late('failure')).toBe('START_TO_CLOSE');
    // Repeated until the time of the whole activity is over.
    expect(await late('loss')).toBe('SCHEDULE_TO_CLOSE');
  });
});
