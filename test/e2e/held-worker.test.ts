/** A tool that blocks JavaScript holds its worker, which the service then takes for lost. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { RUNS_ALL } from '../support/extent.ts';
import { bodiesOf, hasNoGap } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { startWorkerCommand, type RunningCommand } from '../support/worker-command.ts';

const taskQueue = `held-${randomUUID()}`;
let stage: Stage;
let worker: RunningCommand;

beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  worker = await startWorkerCommand(stage, {
    agents: 'holding-agents.ts',
    taskQueue,
    logLevel: 'WARN',
  });
});
afterAll(async () => {
  await worker?.stop();
  await stage?.close();
});

it.runIf(RUNS_ALL)(
  '[R2] the tool succeeds with a longer heartbeat, and so do the calls beside it',
  async () => {
    const everloop = stage.everloopOf(taskQueue);
    const thinkers = [];
    for (let count = 0; count < 3; count += 1) {
      thinkers.push(await everloop.start('thinker', { task: 'Think.' }));
    }
    const run = await everloop.start('holder', { task: 'Go.' });

    expect(await run.result()).toMatchObject({ status: 'success', value: 'done' });
    const steps = await Promise.all(thinkers.map((thinker) => thinker.result()));
    expect(steps).toEqual(
      thinkers.map(() => expect.objectContaining({ status: 'success', value: 'thought' })),
    );
    const events = await run.events();
    expect(hasNoGap(events)).toBe(true);
    const [call] = bodiesOf(events, 'agent:tool_call:after');
    expect(call).toMatchObject({ outcome: 'ok', attempts: 1, output: 'refunded' });
    // Two losses at most: the first attempt after the worker has told of it waits long enough.
    expect([1, 2]).toContain(call?.losses);

    const history = await stage.client.workflow.getHandle(run.id).fetchHistory();
    const heartbeats = (history.events ?? []).flatMap(
      ({ activityTaskScheduledEventAttributes: of }) =>
        of?.activityType?.name === 'callTool' ? [Number(of.heartbeatTimeout?.seconds)] : [],
    );
    expect([heartbeats[0], heartbeats.at(-1)]).toEqual([4, 15]);
    expect(worker.said()).toMatch(/tool refund held the worker for 1\d s/);
    await stage.replay(run);
  },
  180_000,
);
