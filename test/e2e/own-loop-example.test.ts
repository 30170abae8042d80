/** A loop of a user's own on a real server: what it gets without any code for it. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { counter, slidingWindow } from '../../src/define/agent/define-compaction.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import type { LimitsInput } from '../../src/core/contract/input.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { bodiesOf, hasNoGap, ownEventsOf } from '../support/runs.ts';
import { openHandoverStage, type Stage } from '../support/stage.ts';

const ROUNDS = 30;
const WORKFLOWS = fileURLToPath(new URL('../../examples/own-loop/workflow.ts', import.meta.url));

let stage: Stage;
beforeAll(async () => {
  stage = await openHandoverStage(60);
});
afterAll(() => stage?.close());

it.runIf(RUNS_ALL)(
  '[row 6] [row 7] hands over, is compacted, counted, limited and replayed like any other',
  async () => {
    const shown: number[] = [];
    const model: ModelFunction = async ({ iteration, messages }) => {
      shown.push(messages.length);
      return { content: `draft ${iteration}`, usage: { inputTokens: 100, outputTokens: 10 } };
    };
    const critic: ModelFunction = async ({ iteration }) => ({
      content: iteration < ROUNDS ? 'Again.' : 'OK',
      usage: { inputTokens: 10, outputTokens: 1 },
    });
    const agent = defineAgent({
      name: 'editor',
      mode: 'chat',
      model: { id: 'writer', model },
      limits: { iterations: 100 },
      compaction: { triggers: [counter('agent:iterations', 5)], strategies: [slidingWindow(2)] },
    });
    const { everloop } = await stage.serve([agent], {
      models: [{ id: 'critic', model: critic }],
      workflowsPath: WORKFLOWS,
    });
    const start = async (limits: LimitsInput) =>
      everloop.start('editor', { task: 'Write.', limits });

    const run = await start({});
    const step = await run.result();
    const events = await run.events();

    expect(step).toMatchObject({
      status: 'success',
      value: `draft ${ROUNDS}`,
      iterations: ROUNDS,
      usage: { modelCalls: 2 * ROUNDS, totalTokens: 121 * ROUNDS },
    });
    expect(step.stats.counters).toMatchObject({
      'editor:rounds': ROUNDS,
      '$self:editor:rounds': ROUNDS,
      'agent:model_calls:writer': ROUNDS,
      'agent:model_calls:critic': ROUNDS,
    });
    expect(hasNoGap(events)).toBe(true);
    expect(bodiesOf(events, 'agent:execution:handover').length).toBeGreaterThanOrEqual(3);
    expect(bodiesOf(events, 'agent:compaction')).toHaveLength(5);
    expect(ownEventsOf(events)).toHaveLength(ROUNDS);
    // Task, and at most the two entries that the window keeps and the five behind them.
    expect(Math.max(...shown)).toBeLessThanOrEqual(1 + 2 * 7);
    expect(await run.transcript()).toHaveLength(ROUNDS);
    await stage.replay(run, { workflowsPath: WORKFLOWS });

    const bounded = await start({ custom: [{ kind: 'exact', key: 'editor:rounds', max: 4 }] });
    expect(await bounded.result()).toMatchObject({
      status: 'limit_exceeded',
      reason: 'editor:rounds',
      iterations: 5,
    });
  },
  120_000,
);
