/** Pipelines on a real server: stages as child workflows, people, kills between and within stages. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { Step } from '../../src/core/contract/step.ts';
import { fixtureProcesses } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import type { PressWorker } from '../support/fixtures/serve-press.ts';
import { pressAgent, PRESS_VALUE } from '../support/pipeline-agents.ts';
import { extent } from '../support/extent.ts';
import { openHandoverStage, openStage, type Stage } from '../support/stage.ts';
import { endedRuns, ownSums, treeCounters } from '../support/trees.ts';
import { hasNoGap } from '../support/runs.ts';

let stage: Stage;
const workers = fixtureProcesses<PressWorker>('serve-press');
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => {
  await workers.stop();
  await stage?.close();
});

/** Checks sums, events and replay of a pipeline and of its stages. */
async function checked(everloop: Everloop, run: RunHandle): Promise<Step> {
  const runs = await endedRuns(everloop, run);
  const step = await run.result();
  expect(treeCounters(step.stats)).toEqual(ownSums(runs.map((one) => one.step.stats)));
  for (const one of runs) {
    expect(hasNoGap(await one.run.events())).toBe(true);
    await stage.replay(one.run);
  }
  return step;
}

/** What kills and hand-overs must not change. */
function lastingOf({ status, value, reason, iterations, children, usage }: Step): object {
  return {
    status,
    value,
    reason,
    iterations,
    modelCalls: usage.modelCalls,
    children: children.map(({ agent, status: end }) => `${agent} ${end}`).toSorted(),
  };
}

const LASTING = {
  status: 'success',
  value: PRESS_VALUE,
  reason: 'answered',
  iterations: 4,
  modelCalls: 4,
  children: ['facts success', 'printer success', 'style success', 'writer success'],
};

describe('a pipeline', () => {
  it('runs its stages as child workflows, and waits for people [sub 16]', async () => {
    const { everloop } = await stage.serve([pressAgent()]);
    const run = await everloop.start('press', { task: 'x' });

    const waiting = await run.resultOrPending();
    expect(waiting).toMatchObject({
      kind: 'pending',
      pending: [{ id: 'q1', path: 'press', question: 'Print facts(writer(x))?' }],
    });
    expect(await run.status()).toMatchObject({ state: 'waiting', waitsFor: ['question q1'] });
    await run.answer('q1', 'yes');
    const step = await checked(everloop, run);

    expect(lastingOf(step)).toEqual(LASTING);
    expect(step.children.map(({ childId }) => childId).toSorted()).toEqual(
      ['1.spawn-1', '2.spawn-1', '2.spawn-2', '4.spawn-1'].map((call) => `${run.id}/${call}`),
    );
  });

  it('is canceled with the stages that run [row 2]', async () => {
    const { everloop } = await stage.serve([pressAgent(60_000)]);
    const run = await everloop.start('press', { task: 'x' });
    await eventually('a stage', async () => (await run.status()).waitsFor.includes('agent writer'));

    await run.cancel('enough');
    const step = await checked(everloop, run);

    expect([step.status, step.message]).toEqual(['canceled', 'enough']);
    expect(step.children.map(({ agent, reason }) => [agent, reason])).toEqual([
      ['writer', 'parent_canceled'],
    ]);
  });
});

describe('a pipeline whose worker is killed [sub 16]', () => {
  const moments = [
    { name: 'within a stage', agent: 'writer', type: 'agent:model_call:before', count: 1 },
    { name: 'between two stages', agent: 'press', type: 'agent:data:change', count: 1 },
    { name: 'while it asks', agent: 'press', type: 'agent:question:asked', count: 1 },
    { name: 'within a parallel stage', agent: 'facts', type: 'agent:model_call:before', count: 1 },
    { name: 'between parallel ends', agent: 'press', type: 'agent:child:complete', count: 2 },
    { name: 'after the answer', agent: 'press', type: 'agent:question:answered', count: 1 },
  ];
  // Each takes a worker of its own twice.
  it.each(moments.slice(0, extent(moments.length, 1)))(
    '$name goes on',
    { timeout: 240_000 },
    async ({ name: _name, ...killAt }) => {
      const { address, namespace, folder: archiveDir } = stage;
      const taskQueue = `press-${randomUUID()}`;
      const work: PressWorker = { address, namespace, taskQueue, archiveDir };
      const victim = await workers.start({ ...work, killAt });
      const everloop = stage.everloopOf(taskQueue);
      const run = await everloop.start('press', { task: 'x' });
      const isLate = killAt.type === 'agent:question:answered';
      if (isLate) {
        await run.resultOrPending();
        await run.answer('q1', 'yes').catch(() => undefined);
      }

      expect(await victim.ended).toBe('SIGKILL');
      await workers.start(work);
      if (!isLate) {
        expect((await run.resultOrPending()).kind).toBe('pending');
        await run.answer('q1', 'yes');
      }
      const step = await checked(everloop, run);

      expect(lastingOf(step)).toEqual(LASTING);
    },
  );
});

describe('a pipeline that hands over', () => {
  let other: Stage;
  beforeAll(async () => {
    // One stage has more events than that.
    other = await openHandoverStage(20);
  });
  afterAll(() => other?.close());

  it('goes on with the stage that is next, and keeps its question [row 6]', async () => {
    const { everloop } = await other.serve([pressAgent()]);
    const run = await everloop.start('press', { task: 'x' });
    expect((await run.resultOrPending()).kind).toBe('pending');
    const before = (await run.status()).link;
    await run.answer('q1', 'yes');

    const step = await run.result();

    expect(lastingOf(step)).toEqual(LASTING);
    expect(before).toBeGreaterThan(1);
    expect(hasNoGap(await run.events())).toBe(true);
    await other.replay(run);
  });
});
