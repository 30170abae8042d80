/** The contract of `Host`, kept by the host over Temporal, in the real sandbox. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { HANDOVER_CASE, HOST_CASES } from '../cases/host.cases.ts';
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
  const { agents, models } = hostCaseWorld();
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
  it.each(HOST_CASES)('$name', async ({ name, shows }) => {
    const { value, reason, message } = await stepOf(stage, name);

    expect({ value, reason, message }).toEqual({ value: shows, reason: 'answered' });
  });

  it(HANDOVER_CASE, async () => {
    const { value } = await stepOf(handoverStage, HANDOVER_CASE);

    expect(value).toEqual({ outcomes: ['ok'], isLater: true });
  });
});
