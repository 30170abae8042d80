/**
 * The reference scenarios on a cluster: a worker, and apart from it a node of the cluster, is killed at
 * some events of each. What comes of the runs is compared with undisturbed ones.
 */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { MATRIX_SCENARIOS, type MatrixScenario } from '../matrix/scenarios.ts';
import { playJob, playUndisturbed, type JobOutcome } from '../matrix/job.ts';
import { jobsOf } from '../matrix/matrix.ts';
import { POINTS, type Victim } from '../matrix/moments.ts';
import { isRight, rowOf } from '../matrix/results.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { killNode, NAMESPACES, pidOf, startNode } from './cluster.ts';

/** Kills of each scenario and victim. */
const KILLS = 2;

const cluster = inject('cluster');
let stages: Readonly<Record<keyof typeof NAMESPACES, Stage>>;
beforeAll(async () => {
  const { address } = inject('temporal');
  stages = {
    stock: await openStage({ address, namespace: NAMESPACES.stock }),
    handover: await openStage({ address, namespace: NAMESPACES.handover }),
  };
});
afterAll(async () => {
  for (const stage of Object.values(stages)) await stage.close();
});

async function play(
  scenario: MatrixScenario,
  index: number,
  victim: Victim,
): Promise<readonly JobOutcome[]> {
  const stage = scenario.handsOver === true ? stages.handover : stages.stock;
  const undisturbed = await playUndisturbed({ stage }, scenario);
  const points = POINTS.filter((_, place) => place === index % POINTS.length);
  const row = { scenario, victim, points, atMost: KILLS, isProtected: index % 3 === 1 };
  const node = cluster.nodes[index % cluster.nodes.length];
  if (node === undefined) throw new Error('Expected nodes.');
  const outcomes: JobOutcome[] = [];
  for (const job of jobsOf(row, undisturbed.moments)) {
    const server = {
      pid: await pidOf(cluster, node),
      restart: async () => {
        // It may have noticed nothing yet.
        await killNode(cluster, node);
        return startNode(cluster, node);
      },
    };
    outcomes.push(await playJob({ stage, server }, job, undisturbed));
  }
  return outcomes;
}

const CASES = MATRIX_SCENARIOS.map((scenario, index) => ({ name: scenario.name, scenario, index }));

async function survives(scenario: MatrixScenario, index: number, victim: Victim): Promise<void> {
  const row = rowOf(await play(scenario, index, victim));

  expect(row).toMatchObject({ lost: [], unequal: [], twice: { idempotent: 0, once: 0 } });
  expect(row.kills).toBeGreaterThan(0);
  expect(isRight(row)).toBe(true);
}

describe('a kill at an event', () => {
  // They mostly wait, for heartbeats and for tasks that time out.
  it.concurrent.each(CASES)('of a worker loses no run of $name', async ({ scenario, index }) => {
    await survives(scenario, index, 'worker');
  });

  it.each(CASES)('of a node loses no run of $name', async ({ scenario, index }) => {
    await survives(scenario, index, 'server');
  });
});
