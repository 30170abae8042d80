/** Programs that compute for long, on a real server: others are heard meanwhile. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { AGENT_WORKFLOW } from '../../src/core/contract/messages.ts';
import { EMPTY_STATS, valueOf } from '../../src/core/contract/stats.ts';
import { startInput } from '../../src/core/start/start-input.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { fixtureProcesses } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import type { ProgramsWorker } from '../support/fixtures/serve-programs.ts';
import { programAgent } from '../support/program-agents.ts';
import { withHiddenValue } from '../support/hidden-values.ts';
import { LONG_PROGRAM } from '../support/recordings.ts';
import { bodiesOf } from '../support/runs.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';

const workflowsPath = fileURLToPath(
  new URL('../support/fixtures/workflows/programs-loop.ts', import.meta.url),
);

let stage: Stage;
let served: Served;
const workers = fixtureProcesses<ProgramsWorker>('serve-programs');
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  served = await stage.serve([programAgent()], { workflowsPath });
});
afterAll(async () => {
  await workers.stop();
  await stage?.close();
});

/** Starts a run whose tasks time out early: the service delivers messages when a task is completed. */
async function start(
  count: number,
  { everloop, taskQueue }: Pick<Served, 'everloop' | 'taskQueue'> = served,
): Promise<RunHandle> {
  const programs = Array.from({ length: count }, () => LONG_PROGRAM);
  const context = withHiddenValue({ programs });
  const { workflowId } = await stage.client.workflow.start(AGENT_WORKFLOW, {
    workflowId: `long-${randomUUID()}`,
    taskQueue,
    workflowTaskTimeout: '4s',
    args: [startInput('programmer', { task: 'Go', context })],
  });
  return everloop.attach(workflowId);
}

async function stepsOf(run: RunHandle): Promise<number> {
  const stats = (await run.stats()) ?? EMPTY_STATS;
  return valueOf(stats, 'agent:program_steps');
}

it('[L3] a run that computes five million units is asked and canceled meanwhile, and replays', async () => {
  const run = await start(1_000);
  await eventually('five million units', async () => (await stepsOf(run)) > 5_000_000, 150_000);
  expect((await run.status()).state).toBe('running');
  // A closed run is computed again for each query.
  const begun = bodiesOf(await run.events(), 'agent:program:before');
  expect(begun.length).toBeLessThan(1_000);

  await run.cancel('enough');

  expect(await run.result()).toMatchObject({ status: 'canceled', message: 'enough' });
  await stage.replay(run, { workflowsPath });
}, 300_000);

it('[L3] a slice is one event of history, and no timer', async () => {
  const run = await start(1);

  expect(await run.result()).toMatchObject({ status: 'success', value: 37_500 });
  const { events } = await stage.client.workflow.getHandle(run.id).fetchHistory();
  const markers = (events ?? []).filter((event) => event.markerRecordedEventAttributes);
  const timers = (events ?? []).filter((event) => event.timerStartedEventAttributes);
  const slices = (await stepsOf(run)) / 250_000;
  // One is for the agent that was loaded. What is abandoned once ends a slice, too.
  expect(markers.length - 1).toBeGreaterThanOrEqual(Math.floor(slices) - 3);
  expect(markers.length - 1).toBeLessThanOrEqual(2 * slices);
  expect(timers).toEqual([]);
  await stage.replay(run, { workflowsPath });
});

it.runIf(RUNS_ALL)(
  '[L3] no link of a run computes for longer than a task may take, nor after a kill',
  async () => {
    const { address, namespace } = stage;
    const taskQueue = `long-${randomUUID()}`;
    const work = { address, namespace, taskQueue, archiveDir: stage.folder };
    const victim = await workers.start(work);
    const run = await start(30, { everloop: stage.everloopOf(taskQueue, stage.folder), taskQueue });
    await eventually('eight million units', async () => (await stepsOf(run)) > 8_000_000, 60_000);

    await victim.kill('SIGKILL');
    await workers.start(work);

    expect(await run.result()).toMatchObject({ status: 'success', value: 37_500 });
    const links = [0];
    for (const event of await run.events()) {
      if (event.type === 'agent:program:after') links.push((links.pop() ?? 0) + event.steps);
      if (event.type === 'agent:execution:handover') links.push(0);
    }
    expect(links.length).toBeGreaterThan(4);
    // What is due before a program waits for its end.
    for (const steps of links) expect(steps).toBeLessThanOrEqual(5_000_000 + 2_000_000);
    await stage.replay(run, { workflowsPath });
  },
  120_000,
);
