/** A worker that is killed while a real model writes: the run goes on, and ends with one whole reply. */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { fixtureProcesses } from '../support/child-process.ts';
import type { RealModelWorker } from '../support/fixtures/serve-real-model.ts';
import { LISTED, listed } from '../support/real-model.ts';
import { bodiesOf } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
const workers = fixtureProcesses<RealModelWorker>('serve-real-model');
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => {
  await workers.stop();
  await stage?.close();
});

/** Whether the server is writing a reply, of which there are some tokens. */
async function isWriting(): Promise<boolean> {
  const answer = await fetch(`${inject('realModel')}/slots`);
  const slots = (await answer.json()) as readonly {
    readonly is_processing: boolean;
    readonly next_token?: unknown;
  }[];
  return slots.some((slot) => slot.is_processing && /"n_decoded":[1-9]/.test(JSON.stringify(slot)));
}

test('a worker is killed in mid-reply', async () => {
  const archiveDir = await mkdtemp(join(stage.folder, 'archive-'));
  const taskQueue = `real-${randomUUID()}`;
  const { address, namespace } = stage;
  const work = { address, namespace, archiveDir, taskQueue, modelUrl: inject('realModel') };
  const first = await workers.start(work);
  const run = await stage
    .everloopOf(taskQueue, archiveDir)
    .start('lister', { task: 'Walk through the town. Say where you turn.' });
  await expect.poll(isWriting, { interval: 20 }).toBe(true);
  await first.kill('SIGKILL');
  await workers.start(work);

  const step = await run.result();

  expect(step).toMatchObject({ status: 'success', usage: { modelCalls: 1 } });
  expect(listed.safeParse(step.value).success).toBe(true);
  expect(step.value).toHaveLength(LISTED);
  expect(bodiesOf(await run.events(), 'agent:model_call:after')).toMatchObject([{ losses: 1 }]);
  // The reply that nobody reads any more is not written to its end.
  await expect.poll(isWriting).toBe(false);
  await stage.replay(run);
});
