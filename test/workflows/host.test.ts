/** The contract of `Host`, kept by the host over Temporal, in the real sandbox. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { HANDOVER_CASE, HANDOVER_SHOWS, HOST_CASES, type HostCase } from '../cases/host.cases.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { hostCaseWorld } from '../support/host-case-agents.ts';
import { openHandoverStage, openStage, type Stage } from '../support/stage.ts';
import type { Step } from '../../src/core/contract/step.ts';

const workflowsPath = fileURLToPath(
  new URL('../support/fixtures/workflows/host-cases.ts', import.meta.url),
);

let stage: Stage;
let handoverStage: Stage;

beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  handoverStage = await openHandoverStage(30);
});
afterAll(async () => {
  await stage?.close();
  await handoverStage?.close();
});

async function stepOf(on: Stage, task: string): Promise<Step> {
  const { agents, models } = hostCaseWorld((address) =>
    on.client.workflow.getHandle(address).terminate(),
  );
  const served = await on.serve(agents, { models, workflowsPath });
  try {
    const run = await served.everloop.start('cases', { task });
    const step = await run.result();
    await on.replay(run, { workflowsPath });
    return step;
  } finally {
    await served.stop();
  }
}

describe.concurrent('the host over Temporal', () => {
  const check = async ({ name, shows }: HostCase): Promise<void> => {
    const { value, reason, message } = await stepOf(stage, name);

    expect({ value, reason, message }).toEqual({ value: shows, reason: 'answered' });
  };
  const isSlow = (one: HostCase): boolean => one.isSlow === true;

  it.each(HOST_CASES.filter((one) => !isSlow(one)))('$name', check);

  it.runIf(RUNS_ALL).each(HOST_CASES.filter(isSlow))('$name', { timeout: 240_000 }, check);

  it(HANDOVER_CASE, async () => {
    const { value } = await stepOf(handoverStage, HANDOVER_CASE);

    expect(value).toEqual(HANDOVER_SHOWS);
  });
});
