/** Rates of model entries over worker processes, of which one is killed. */
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { fixtureProcesses } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import type { PacedWorker } from '../support/fixtures/serve-paced.ts';
import { openStage, type Stage } from '../support/stage.ts';

/** Ten in a second. */
const RATE = { requestsPerMinute: 600 };
const RUNS = 60;
/** A request may be late by so much. */
const LATE_S = 2;

let stage: Stage;
const workers = fixtureProcesses<PacedWorker>('serve-paced');
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => {
  await workers.stop();
  await stage?.close();
});

it('are kept by three processes together, when one is killed and the counter is lost', async () => {
  const taskQueue = `rates-${randomUUID()}`;
  const model = `m/${taskQueue}`;
  const file = join(stage.folder, 'requests');
  const { address, namespace, folder: archiveDir } = stage;
  const told = { address, namespace, archiveDir, taskQueue, file, model, rate: RATE };
  writeFileSync(file, '');
  const [victim] = await Promise.all([
    workers.start(told),
    workers.start(told),
    workers.start(told),
  ]);
  const everloop = stage.everloopOf(taskQueue);
  const runs = await Promise.all(
    Array.from({ length: RUNS }, (_, run) => everloop.start('paced', { task: `Go ${run}` })),
  );
  const sent = (): readonly number[] =>
    readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => Number(line.split(' ')[0]));
  await eventually('a third of the requests', async () => sent().length > RUNS / 3);
  await victim?.kill('SIGKILL');
  await stage.client.workflow.getHandle(`~rate:${model}`).terminate('lost');

  const steps = await Promise.all(runs.map((run) => run.result()));
  expect(steps.filter(({ status }) => status === 'success')).toHaveLength(RUNS);
  const times = sent().toSorted((a, b) => a - b);
  for (const seconds of [1, 3, 5]) {
    const most = Math.ceil((seconds + LATE_S) * (RATE.requestsPerMinute / 60));
    for (const from of times) {
      const within = times.filter((at) => at >= from && at < from + seconds * 1_000);
      expect(within.length).toBeLessThanOrEqual(most);
    }
  }
});

it('of a tenant are kept by three processes together, for all of its runs', async () => {
  const taskQueue = `rates-${randomUUID()}`;
  const tenant = `t-${randomUUID().slice(0, 8)}`;
  const file = join(stage.folder, 'tenant-requests');
  const { address, namespace, folder: archiveDir } = stage;
  const told = { address, namespace, archiveDir, taskQueue, file, model: `m/${taskQueue}` };
  writeFileSync(file, '');
  await Promise.all([workers.start(told), workers.start(told), workers.start(told)]);
  const everloop = stage.everloopOf(taskQueue);
  const rate = { requestsPerMinute: 300 };
  expect(await everloop.tenants.set(tenant, { rate })).toMatchObject({ settings: { rate } });
  const runs = await Promise.all(
    Array.from({ length: 30 }, () => everloop.start('paced', { task: 'Go', tenant })),
  );
  // Without the tenant, nothing holds the request of a run.
  const other = await everloop.start('paced', { task: 'Go' });
  for (const run of [...runs, other]) expect((await run.result()).status).toBe('success');

  const times = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => Number(line.split(' ')[0]));
  expect(times).toHaveLength(31);
  for (const seconds of [1, 3]) {
    const most = Math.ceil((seconds + LATE_S) * (rate.requestsPerMinute / 60)) + 1;
    for (const from of times) {
      const within = times.filter((at) => at >= from && at < from + seconds * 1_000);
      expect(within.length).toBeLessThanOrEqual(most);
    }
  }
  await stage.replay(runs.at(-1) ?? other);
});

it('are seen by a run that waits longer, which is canceled at once', async () => {
  const taskQueue = `rates-${randomUUID()}`;
  const model = `m/${taskQueue}`;
  const file = join(stage.folder, 'slow-requests');
  const { address, namespace, folder: archiveDir } = stage;
  const rate = { requestsPerMinute: 2 };
  await workers.start({ address, namespace, archiveDir, taskQueue, file, model, rate });
  const everloop = stage.everloopOf(taskQueue);
  const first = await everloop.start('paced', { task: 'Go' });
  await first.result();
  const second = await everloop.start('paced', { task: 'Go' });
  await eventually('the wait', async () => {
    const { waitsFor } = await second.status();
    return waitsFor.some((text) => text.startsWith(`model ${model} (waits for its rate until `));
  });

  await second.cancel();
  expect(await second.result()).toMatchObject({ status: 'canceled', usage: { totalTokens: 0 } });
  await stage.replay(second);
});
