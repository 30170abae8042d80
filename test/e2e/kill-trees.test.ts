/**
 * Sums of a tree under kills: its worker is killed with SIGKILL at moments that follow from a seed, its
 * messages get lost, doubled and out of order.
 */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { Step } from '../../src/core/contract/step.ts';
import { isUsageError } from '../../src/core/base/usage-error.ts';
import { fixtureProcesses } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import type { TreeWorker } from '../support/fixtures/serve-trees.ts';
import { extent, KILL_SEED, RUNS_ALL } from '../support/extent.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { asker, threeLevels, worker } from '../support/tree-agents.ts';
import { endedRuns, OF_ATTEMPTS, ownSums, treeCounters } from '../support/trees.ts';

const LOSSY = fileURLToPath(
  new URL('../support/fixtures/workflows/lossy-agent.ts', import.meta.url),
);
const SIZE = { width: 2, iterations: 4, toolMs: 250 } as const;

let stage: Stage;
const workers = fixtureProcesses<TreeWorker>('serve-trees');
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => {
  await workers.stop();
  await stage?.close();
});

/** The Steps of all runs of a tree, the root's first. */
async function stepsOf(everloop: Everloop, run: RunHandle): Promise<readonly Step[]> {
  return (await endedRuns(everloop, run)).map(({ step }) => step);
}

/** Whether a run has begun `iteration`; one that is not there yet has not. */
async function isIn(everloop: Everloop, id: string, iteration: number): Promise<boolean> {
  try {
    return (await everloop.attach(id).status()).iteration >= iteration;
  } catch (error) {
    if (isUsageError(error)) return false;
    throw error;
  }
}

/** What of a Step a kill must not change: not ids, times, and tries of calls. */
function lastingOf({ status, value, reason, iterations, stats }: Step): object {
  const counters = Object.fromEntries(
    Object.entries(stats.counters).filter(([key]) => !OF_ATTEMPTS.test(key)),
  );
  return { status, value, reason, iterations, counters };
}

describe('a tree whose worker is killed', () => {
  // Of which leaf, and in which iteration of it: the seed says where to begin, then each in turn.
  const moments = Array.from({ length: extent(12, 1) }, (_, index) => {
    const place = KILL_SEED + index * 5;
    const leaf = ['1.1/1.1', '1.1/1.2', '1.2/1.1', '1.2/1.2'][place % 4] ?? '1.1/1.1';
    return { leaf, iteration: 1 + (place % SIZE.iterations) };
  });

  it.each(moments)(
    'when leaf $leaf is in iteration $iteration ends as if it had not been [row 56]',
    { timeout: 240_000 },
    async ({ leaf, iteration }) => {
      const { address, namespace, folder } = stage;
      const taskQueue = `trees-${randomUUID()}`;
      const work: TreeWorker = { address, namespace, taskQueue, archiveDir: folder, ...SIZE };
      const victim = await workers.start(work);
      const everloop = stage.everloopOf(taskQueue);
      const run = await everloop.start('top', { task: 'Go' });

      await eventually('the moment', () => isIn(everloop, `${run.id}/${leaf}`, iteration), 60_000);
      await victim.kill('SIGKILL');
      await workers.start(work);
      const steps = await stepsOf(everloop, run);

      const [root] = steps;
      if (root === undefined) throw new Error('Expected a root.');
      expect(steps).toHaveLength(7);
      expect(treeCounters(root.stats)).toEqual(ownSums(steps.map(({ stats }) => stats)));
      const calm = await stage.serve([threeLevels(SIZE.width, SIZE.iterations, 0)]);
      const undisturbed = await calm.everloop.start('top', { task: 'Go' });
      expect(lastingOf(root)).toEqual(lastingOf(await undisturbed.result()));
      await calm.stop();
      await stage.replay(run);
    },
  );
});

describe('a tree whose messages get lost, doubled and out of order', () => {
  it.runIf(RUNS_ALL)(
    'has exact sums, and its limits hold [row 56] [row 57]',
    { timeout: 180_000 },
    async () => {
      const agent = asker(asker(worker(3), 2, 'middle'), 2, 'top');
      const { everloop } = await stage.serve([agent], { workflowsPath: LOSSY });
      const rows = [{ limits: {} }, { limits: { modelCalls: 17, totalTokens: 5_000 } }] as const;
      const runs = await Promise.all(
        rows.map(({ limits }) => everloop.start('top', { task: 'Go', limits })),
      );

      const trees = await Promise.all(runs.map((run) => stepsOf(everloop, run)));

      for (const [index, steps] of trees.entries()) {
        const [root] = steps;
        if (root === undefined) throw new Error('Expected a root.');
        expect(treeCounters(root.stats)).toEqual(ownSums(steps.map(({ stats }) => stats)));
        if (index === 0) expect(root.usage.modelCalls).toBe(2 + 2 * 2 + 4 * 4);
        else {
          expect(root.usage.modelCalls).toBeLessThanOrEqual(17);
          expect(steps.some(({ status }) => status === 'limit_exceeded')).toBe(true);
        }
      }
      await Promise.all(runs.map((run) => stage.replay(run, { workflowsPath: LOSSY })));
    },
  );
});
