/**
 * Sums of a tree of 40 runs in three levels whose messages get lost, doubled and out of order, while its
 * worker is killed three times, at moments that follow from a seed. Trees take turns: one loses nothing
 * else, of one some runs are terminated from outside, one has limits that bind in its middle.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { LimitsInput } from '../../src/core/contract/input.ts';
import type { Step } from '../../src/core/contract/step.ts';
import type { Stats } from '../../src/core/contract/stats.ts';
import { fixtureProcesses } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import type { TreeWorker } from '../support/fixtures/serve-trees.ts';
import { randomNumbers, type KillMoment } from '../support/kill-moments.ts';
import { extent, KILL_SEED, REPEATS_ALL } from '../support/extent.ts';
import { bodiesOf } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { fortyRuns } from '../support/tree-agents.ts';
import { endedRuns, OF_ATTEMPTS, ownSums, treeCounters } from '../support/trees.ts';

const LOSSY = fileURLToPath(
  new URL('../support/fixtures/workflows/lossy-agent.ts', import.meta.url),
);
const RUNS = 40;
const TOOL_MS = 150;
const KILLS_OF_A_TREE = 3;
/** Leaves that may be in a model call when a limit is crossed. */
const LEAVES = 36;
const CALL_TOKENS = 100;

/** Of 40 runs: 112 model calls, 11,200 tokens. */
const BINDING = { modelCalls: 90, totalTokens: 8_000 } as const;

const VARIANTS = ['is only killed', 'loses runs', 'has binding limits'] as const;

let stage: Stage;
let undisturbed: object;
const workers = fixtureProcesses<TreeWorker>('serve-trees');
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => {
  await workers.stop();
  await stage?.close();
});

/** Small enough that each process of a tree gets so far: all runs together have 39 ends and 112 calls. */
const MOMENTS: readonly (readonly [on: KillMoment['on'], upTo: number])[] = [
  ['event agent:model_call:after', 20],
  ['event agent:tool_call:before', 15],
  ['event agent:child:complete', 6],
  ['event agent:tool_call:after', 12],
];

function momentOf(random: () => number): KillMoment {
  const [on, upTo] = MOMENTS[Math.floor(random() * MOMENTS.length)] ??
    MOMENTS[0] ?? ['chunk end', 1];
  const nth = 1 + Math.floor(random() * upTo);
  return { on, nth, delayMs: random() < 0.5 ? 0 : 1 + Math.floor(random() * 60) };
}

/** What a kill must not change: not ids, times, and tries of calls. */
function lastingOf({ status, value, reason, iterations, stats, children }: Step): object {
  const counters = Object.entries(stats.counters).filter(([key]) => !OF_ATTEMPTS.test(key));
  const ends = children.map(({ agent, status: end }) => `${agent} ${end}`);
  return { status, value, reason, iterations, ends, counters: Object.fromEntries(counters) };
}

interface Share extends Stats {
  readonly isCharged?: boolean;
}

/** The own shares of all runs that told their end, and what was charged for those that did not. */
async function sharesOf(everloop: Everloop, root: RunHandle): Promise<readonly Share[]> {
  const shares = (await endedRuns(everloop, root)).map(async ({ run, step }) => {
    const ends = bodiesOf(await run.events(), 'agent:child:complete');
    const charged = ends.filter((end) => end.charged === true);
    return [
      step.stats,
      ...charged.map(({ totals }) => ({ counters: ownOf(totals), gauges: {}, isCharged: true })),
    ];
  });
  return (await Promise.all(shares)).flat();
}

function ownOf(totals: { readonly [key: string]: number }): { readonly [key: string]: number } {
  return Object.fromEntries(Object.entries(totals).map(([key, value]) => [`$self:${key}`, value]));
}

/** Terminates the run at `calls` once it is there; whether it still lived then. */
async function endOne(run: RunHandle, calls: string): Promise<boolean> {
  const handle = stage.client.workflow.getHandle(`${run.id}/${calls}`);
  const isThere = (): Promise<boolean> =>
    handle.describe().then(
      () => true,
      () => false,
    );
  await eventually(`a run at ${calls}`, isThere, 60_000);
  return handle.terminate('by a test').then(
    () => true,
    () => false,
  );
}

/**
 * Terminates a leaf of each of two branches, and in some trees the third branch whole; that one too when
 * both leaves had ended, as it lives longest. Tells how many lived.
 */
async function endSome(run: RunHandle, random: () => number): Promise<number> {
  const leaf = (branch: number): string => `1.${branch}/1.${1 + Math.floor(random() * 12)}`;
  const leaves = [leaf(1), leaf(2)];
  const isBranchToo = random() < 0.5;
  let ended = 0;
  for (const calls of leaves) if (await endOne(run, calls)) ended += 1;
  if ((isBranchToo || ended === 0) && (await endOne(run, '1.3'))) ended += 1;
  return ended;
}

interface KilledTree {
  readonly run: RunHandle;
  readonly everloop: Everloop;
  readonly kills: number;
}

/** Runs a tree to its end over workers that kill themselves, and a last one that does not. */
async function killedTree(
  random: () => number,
  limits: LimitsInput,
  disturb: (run: RunHandle) => Promise<void>,
): Promise<KilledTree> {
  const { address, namespace, folder } = stage;
  const place = {
    address,
    namespace,
    taskQueue: `sums-${randomUUID()}`,
    archiveDir: await mkdtemp(join(folder, 'sums-')),
    width: 0,
    iterations: 0,
    toolMs: TOOL_MS,
    isForty: true,
    workflowsPath: LOSSY,
  };
  const everloop = stage.everloopOf(place.taskQueue, place.archiveDir);
  const run = await everloop.start('top', { task: 'Go', limits });
  const result = run.result();
  let kills = 0;
  for (let kill = 0; kill < KILLS_OF_A_TREE; kill++) {
    const victim = await workers.start({ ...place, killAt: momentOf(random) });
    const first = kill === 0 ? disturb(run) : Promise.resolve();
    const ended = await Promise.race([victim.ended, result.then(() => null)]);
    if (ended === 'SIGKILL') kills += 1;
    else await victim.kill('SIGKILL');
    // What is to die needs somebody who starts it.
    if (kill === KILLS_OF_A_TREE - 1) await workers.start(place);
    void first.catch(() => undefined);
  }
  await result;
  return { run, everloop, kills };
}

describe.runIf(REPEATS_ALL)('a tree of 40 runs that is killed three times', () => {
  const rows = Array.from({ length: extent(12, 1) }, (_, index) => ({
    seed: KILL_SEED + index,
    variant: VARIANTS[index % VARIANTS.length] ?? VARIANTS[0],
  }));
  // What everybody else is compared with: the same agents on a worker that nothing happens to.
  beforeAll(async () => {
    const { everloop, stop } = await stage.serve([fortyRuns(0)]);
    undisturbed = lastingOf(await (await everloop.start('top', { task: 'Go' })).result());
    await stop();
  }, 180_000);

  it.each(rows)(
    'sums exactly, seed $seed: $variant [row 56] [row 57]',
    { timeout: 400_000 },
    async ({ seed, variant }) => {
      const random = randomNumbers(seed);
      const limits = variant === 'has binding limits' ? BINDING : { totalTokens: 1_000_000 };
      let ended = 0;
      const disturb = async (run: RunHandle): Promise<void> => {
        if (variant === 'loses runs') ended = await endSome(run, random);
      };

      const { run, everloop, kills } = await killedTree(random, limits, disturb);
      const step = await run.result();

      expect(kills).toBeGreaterThan(0);
      const shares = await sharesOf(everloop, run);
      expect(treeCounters(step.stats)).toEqual(ownSums(shares));
      expect(ended > 0).toBe(variant === 'loses runs');
      expect(shares.filter(({ isCharged }) => isCharged === true)).toHaveLength(ended);
      if (variant === 'is only killed') {
        expect(shares).toHaveLength(RUNS);
        expect(lastingOf(step)).toEqual(undisturbed);
      }
      if (variant === 'has binding limits') {
        expect(step.usage.modelCalls).toBeLessThanOrEqual(BINDING.modelCalls);
        expect(step.usage.totalTokens).toBeLessThanOrEqual(
          BINDING.totalTokens + LEAVES * CALL_TOKENS,
        );
      }
      await stage.replay(run, { workflowsPath: LOSSY });
    },
  );
});
