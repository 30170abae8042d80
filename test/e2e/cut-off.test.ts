/** A workflow task that the SDK cuts off after five seconds costs its own run time, and no other run. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { fixtureProcesses } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import type { SpinnerWorker } from '../support/fixtures/serve-spinner.ts';
import { openStage, type Stage } from '../support/stage.ts';

const workflowsPath = fileURLToPath(
  new URL('../support/fixtures/workflows/spinning-loop.ts', import.meta.url),
);

let stage: Stage;
const workers = fixtureProcesses<SpinnerWorker>('serve-spinner');

beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => {
  await workers.stop();
  await stage?.close();
});

it('[L3] a run that computes without end ends neither the worker nor the runs beside it', async () => {
  const taskQueue = `cut-off-${randomUUID()}`;
  const { address, namespace, folder } = stage;
  const worker = await workers.start({
    address,
    namespace,
    archiveDir: folder,
    taskQueue,
    workflowsPath,
  });
  const everloop = stage.everloopOf(taskQueue);
  const spinner = await everloop.start('spinner', { task: 'Compute.' });
  const { client } = stage;
  const failures = async (): Promise<number> => {
    const { events } = await client.workflow.getHandle(spinner.id).fetchHistory();
    return (events ?? []).filter((event) => event.workflowTaskFailedEventAttributes).length;
  };
  await eventually('a failed workflow task', async () => (await failures()) > 0);

  const beside = [];
  for (let count = 0; count < 3; count++) {
    beside.push((await (await everloop.start('greeter', { task: 'Hello.' })).result()).status);
  }
  expect(beside).toEqual(['success', 'success', 'success']);

  await spinner.cancel();
  expect((await spinner.result()).status).toBe('canceled');
  expect((await (await everloop.start('greeter', { task: 'Hello.' })).result()).status).toBe(
    'success',
  );
  expect(worker.child.exitCode).toBeNull();
  expect(worker.child.signalCode).toBeNull();
}, 180_000);
