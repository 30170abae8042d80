/** Workers that stop in order, one after another, while a call runs. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { DEATHS_BEFORE_OPERATOR } from '../../src/core/attempt/attempts.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { actWith, answer, bodiesOf } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage?.close());

it.runIf(RUNS_ALL)(
  '[R2] a call that fifteen workers give back needs no operator',
  async () => {
    // The workflow itself counts the first five, the heartbeats of the activity the others.
    const restarts = 5 + DEATHS_BEFORE_OPERATOR;
    const keys: string[] = [];
    const copy = defineTool({
      name: 'copy',
      description: 'Copies much.',
      effect: 'idempotent',
      execute: async (_, { signal, idempotencyKey }) => {
        keys.push(idempotencyKey);
        if (keys.length <= restarts) await sleep(60_000, undefined, { signal });
        return 'copied';
      },
    });
    const agent = defineAgent({
      name: 'copier',
      mode: 'react',
      model: async ({ iteration }) => (iteration === 1 ? actWith(['copy', 'x']) : answer('done')),
      tools: [copy],
    });
    const toolQueue = `restarts-${randomUUID()}`;
    const { everloop, taskQueue } = await stage.serve([agent], {
      toolQueue,
      roles: ['workflows', 'models'],
    });
    const run = await everloop.start('copier', { task: 'Copy' });
    for (let restart = 1; restart <= restarts; restart++) {
      const tools = await stage.serve([agent], { taskQueue, toolQueue, roles: ['tools'] });
      await eventually('the call', async () => keys.length === restart);
      // What the last ones say comes after a heartbeat.
      if (restart > restarts - 2) await sleep(1_500);
      await tools.stop();
    }
    await stage.serve([agent], { taskQueue, toolQueue, roles: ['tools'] });

    expect(await run.result()).toMatchObject({ status: 'success', value: 'done' });
    expect(new Set(keys).size).toBe(1);
    expect(bodiesOf(await run.events(), 'agent:tool_call:after')).toMatchObject([
      { outcome: 'ok', attempts: 1, losses: restarts },
    ]);
    await stage.replay(run);
  },
  240_000,
);
