/** The concurrency of a model entry over worker processes, of which one is killed. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { RateCounter } from '../../src/core/rate/counter.ts';
import { LEASE_MS, MARGIN_MS } from '../../src/core/rate/permits.ts';
import { fixtureProcesses } from '../support/child-process.ts';
import { openCountingProvider, type CountingProvider } from '../support/counting-provider.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import type { LimitedWorker } from '../support/fixtures/serve-limited.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
const providers: CountingProvider[] = [];
const workers = fixtureProcesses<LimitedWorker>('serve-limited');
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => {
  await workers.stop();
  await Promise.all(providers.map((provider) => provider.close()));
  await stage?.close();
});

/** A provider whose requests take `ms`, and what a worker of it is told. */
async function limited(
  rate: LimitedWorker['rate'],
  ms: number,
): Promise<{ readonly provider: CountingProvider; readonly told: LimitedWorker }> {
  const taskQueue = `permits-${randomUUID()}`;
  const provider = await openCountingProvider(ms);
  providers.push(provider);
  const { address, namespace, folder: archiveDir } = stage;
  const place = { address, namespace, archiveDir, taskQueue };
  return { provider, told: { ...place, provider: provider.url, model: `m/${taskQueue}`, rate } };
}

async function stateOf(model: string): Promise<RateCounter> {
  return stage.client.workflow.getHandle(`~rate:${model}`).query<RateCounter>('rate-view');
}

// They wait most of the time, so they run at once.
describe.runIf(RUNS_ALL)('requests of three processes', { concurrent: true }, () => {
  it('are as many at once as the limit, never more, also when one is killed', async () => {
    const limit = 6;
    const ms = 2_000;
    const { provider, told } = await limited({ concurrency: limit }, ms);
    const [victim] = await Promise.all([
      workers.start(told),
      workers.start(told),
      workers.start(told),
    ]);
    const everloop = stage.everloopOf(told.taskQueue);
    const start = (count: number): Promise<RunHandle[]> =>
      Promise.all(Array.from({ length: count }, () => everloop.start('limited', { task: 'Go' })));
    const areAllUsed = (since: number) => async (): Promise<boolean> =>
      provider.mostSince(since) === limit;
    // Work for longer than the lease, with the permits of two workers.
    const runs = await start(90);
    await eventually('the use of all permits', areAllUsed(0));
    await victim?.kill('SIGKILL');
    const backAt = Date.now() + LEASE_MS + MARGIN_MS;
    await sleep(LEASE_MS + MARGIN_MS);
    runs.push(...(await start(20)));
    await eventually('the use of all permits by the others', areAllUsed(backAt), 60_000);
    const steps = await Promise.all(runs.map((run) => run.result()));

    expect(steps.filter(({ status }) => status === 'success')).toHaveLength(110);
    expect(provider.most).toBe(limit);
    await eventually('the end of all leases', async () => {
      return Object.keys((await stateOf(told.model)).permits?.workers ?? {}).length === 0;
    });
  }, 300_000);

  it('are never more at once when the counter is lost', async () => {
    const limit = 3;
    const { provider, told } = await limited({ concurrency: limit }, 1_000);
    await Promise.all([workers.start(told), workers.start(told)]);
    const everloop = stage.everloopOf(told.taskQueue);
    const runs = await Promise.all(
      Array.from({ length: 40 }, () => everloop.start('limited', { task: 'Go' })),
    );
    await eventually('some work', async () => provider.answered > 6);
    await stage.client.workflow.getHandle(`~rate:${told.model}`).terminate('lost');
    // It comes when the permits of the lost counter are in use, of which it knows none.
    await workers.start(told);
    for (const run of runs) expect((await run.result()).status).toBe('success');

    expect(provider.most).toBe(limit);
    const counter = stage.client.workflow.getHandle(`~rate:${told.model}`);
    expect((await counter.describe()).status.name).toBe('RUNNING');
    expect((await stateOf(told.model)).permits?.unknownUntil).toBeGreaterThan(0);
  }, 120_000);
});

it('works with a rate, shows its wait, and lets a run that waits be canceled', async () => {
  const rate = { concurrency: 1, requestsPerMinute: 600 };
  const { provider, told } = await limited(rate, 600_000);
  await workers.start(told);
  const everloop = stage.everloopOf(told.taskQueue);
  const first = await everloop.start('limited', { task: 'Go' });
  await eventually('the first request', async () => provider.most === 1);
  const second = await everloop.start('limited', { task: 'Go' });
  await eventually('the wait', async () => {
    const { waitsFor } = await second.status();
    return waitsFor.some((text) =>
      text.startsWith(`model ${told.model} (waits for a permit, asks again at `),
    );
  });
  await second.cancel();
  expect(await second.result()).toMatchObject({ status: 'canceled', usage: { totalTokens: 0 } });
  provider.finish();
  expect((await first.result()).status).toBe('success');

  expect(provider).toMatchObject({ answered: 1, most: 1 });
  const { permits, requestsAt } = await stateOf(told.model);
  expect(permits?.unknownUntil).toBe(0);
  expect(requestsAt).toBeGreaterThan(0);
  await stage.replay(second);
});
