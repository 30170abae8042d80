/** The contract of `Host`, kept by the host over Temporal, in the real sandbox. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { HANDOVER_CASE, HANDOVER_SHOWS, HOST_CASES, type HostCase } from '../cases/host.cases.ts';
import { TEST_LOOPS } from '../support/bundles.ts';
import { extentOf, REPEATS_ALL, RUNS_ALL } from '../support/extent.ts';
import { hostCaseWorld, type HostCaseWorld } from '../support/host-case-agents.ts';
import { openHandoverStage, openStage, type Served, type Stage } from '../support/stage.ts';
import type { Step } from '../../src/core/contract/step.ts';

let stage: Stage;
let handoverStage: Stage;

/** Lanes whose case has ended; starting a worker takes longer than a case. */
const free: Lane[] = [];

beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  handoverStage = await openHandoverStage(30);
  // The first one bundles the workflows of the cases, which takes minutes beside other tests.
  free.push(await openLane(stage));
}, 300_000);
afterAll(async () => {
  await stage?.close();
  await handoverStage?.close();
});

/** A worker that serves one case at a time. */
interface Lane {
  readonly everloop: Served['everloop'];
  readonly reset: HostCaseWorld['reset'];
}

async function openLane(on: Stage): Promise<Lane> {
  const { agents, models, reset } = hostCaseWorld((address) =>
    on.client.workflow.getHandle(address).terminate(),
  );
  const { everloop } = await on.serve(agents, { models, workflowsPath: TEST_LOOPS });
  return { everloop, reset };
}

async function stepOf(on: Stage, { everloop }: Lane, task: string): Promise<Step> {
  const run = await everloop.start('cases', { task });
  const step = await run.result();
  await on.replay(run, { workflowsPath: TEST_LOOPS });
  return step;
}

describe.concurrent('the host over Temporal', () => {
  const check = async ({ name, shows }: HostCase): Promise<void> => {
    const lane = free.pop() ?? (await openLane(stage));
    const { value, reason, message } = await stepOf(stage, lane, name);

    expect({ value, reason, message }).toEqual({ value: shows, reason: 'answered' });
    lane.reset();
    free.push(lane);
  };
  const isSlow = (one: HostCase): boolean => one.isSlow === true;

  // First, so that the others run while it waits.
  it.runIf(REPEATS_ALL).each(HOST_CASES.filter(isSlow))('$name', { timeout: 240_000 }, check);

  const others = HOST_CASES.filter((one) => !isSlow(one));
  it.each(RUNS_ALL ? others : extentOf(others, 3))('$name', check);

  it(HANDOVER_CASE, async () => {
    const { value } = await stepOf(handoverStage, await openLane(handoverStage), HANDOVER_CASE);

    expect(value).toEqual(HANDOVER_SHOWS);
  });
});
