/** How an operator takes a run back after a mistake: by a reset of the service. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { createDeployment } from '../../src/versioning/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { answer, bodiesOf, hasNoGap } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage?.close());

/** Value of the service for messages that a reset leaves out. */
const EXCLUDE_UPDATES = 2;

/** Resets a run to just before it schedules the last activity of this name. */
async function resetBefore(
  run: RunHandle,
  activity: string,
  resetReapplyExcludeTypes: number[] = [],
): Promise<void> {
  const { events } = await stage.client.workflow.getHandle(run.id).fetchHistory();
  const scheduled = (events ?? []).flatMap(
    ({ activityTaskScheduledEventAttributes: attributes }) =>
      attributes?.activityType?.name === activity ? [attributes] : [],
  );
  await stage.client.workflowService.resetWorkflowExecution({
    namespace: stage.namespace,
    workflowExecution: { workflowId: run.id },
    reason: 'test',
    requestId: randomUUID(),
    workflowTaskFinishEventId: scheduled.at(-1)?.workflowTaskCompletedEventId ?? null,
    resetReapplyExcludeTypes,
  });
}

/** An agent that pays by a tool which is broken or not. */
function payer(isBroken: () => boolean, onPay: (idempotencyKey: string) => void): AgentDefinition {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    parameters: z.object({ amount: z.number() }),
    execute: ({ amount }, { idempotencyKey }) => {
      onPay(idempotencyKey);
      return isBroken() ? 'no such account' : `paid ${amount}`;
    },
  });
  return defineAgent({
    name: 'payer',
    mode: 'react',
    model: {
      id: 'm',
      model: async ({ iteration, messages }) =>
        iteration === 1
          ? '<action>\ntool: pay\nargs:\n  amount: 5\n</action>'
          : answer(JSON.stringify(messages).includes('paid 5') ? 'paid' : 'not paid'),
    },
    tools: [pay],
  });
}

describe('a run that ended by a mistake', () => {
  it('goes on from before it, with the same idempotency keys', async () => {
    let isBroken = true;
    const keys: string[] = [];
    const agent = payer(
      () => isBroken,
      (key) => keys.push(key),
    );
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('payer', { task: 'Pay' });
    expect((await run.result()).value).toBe('not paid');
    expect(hasNoGap(await run.events())).toBe(true);

    isBroken = false;
    await resetBefore(run, 'callTool');

    expect((await run.result()).value).toBe('paid');
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
    const events = await run.events();
    expect(hasNoGap(events)).toBe(true);
    expect(bodiesOf(events, 'agent:execution:after')).toHaveLength(1);
    const transcript = JSON.stringify(await run.transcript());
    expect(transcript).toContain('paid 5');
    expect(transcript).not.toContain('no such account');
    await stage.replay(run);
  });

  it.each([
    { excluded: [], value: 'blue' },
    { excluded: [EXCLUDE_UPDATES], value: 'red' },
  ])('gets its answers again unless excluded: $value', async ({ excluded, value }) => {
    const agent = defineAgent({
      name: 'decorator',
      mode: 'react',
      model: {
        id: 'm',
        model: async ({ iteration, messages }) =>
          iteration === 1
            ? '<action>\ntool: ask_user\nargs:\n  question: Which?\n</action>'
            : answer(JSON.stringify(messages).includes('blue') ? 'blue' : 'red'),
      },
      askUser: true,
    });
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('decorator', { task: 'Paint' });
    await eventually('the question', async () => (await run.pending()).length > 0);
    await run.answer('q1', 'blue');
    expect((await run.result()).value).toBe('blue');

    await resetBefore(run, 'callModel', excluded);

    if (excluded.length > 0) {
      await eventually('the question again', async () => (await run.pending()).length > 0);
      await run.answer('q1', 'red');
    }
    expect((await run.result()).value).toBe(value);
    expect(hasNoGap(await run.events())).toBe(true);
  });

  it.runIf(RUNS_ALL)('is taken to the version with the repair', async () => {
    const version = { name: `fleet-${randomUUID()}`, build: 'v1' };
    const deployment = createDeployment({ client: stage.client, name: version.name });
    const broken = await stage.serve(
      [
        payer(
          () => true,
          () => undefined,
        ),
      ],
      { version },
    );
    await deployment.promote('v1');
    const { everloop, taskQueue } = broken;
    const run = await everloop.start('payer', { task: 'Pay' });
    expect((await run.result()).value).toBe('not paid');
    await broken.stop();
    const repaired = payer(
      () => false,
      () => undefined,
    );
    await stage.serve([repaired], { taskQueue, version: { ...version, build: 'v2' } });
    await deployment.promote('v2');

    await resetBefore(run, 'callTool');
    expect(await deployment.rescue(run.id)).toMatchObject({ from: 'v1', to: 'v2' });

    expect((await run.result()).value).toBe('paid');
  });
});
