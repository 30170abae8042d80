/** A loop of a user's own as a workflow: what it gets without any code for it, over many links too. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { counter, slidingWindow } from '../../src/define/agent/define-compaction.ts';
import { defineValidator } from '../../src/define/tool/define-validator.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { LimitsInput } from '../../src/core/contract/input.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { TEST_LOOPS } from '../support/bundles.ts';
import { comparableStep } from '../support/airline.ts';
import { extentOf } from '../support/extent.ts';
import { review } from '../support/fixtures/loops/review.ts';
import { eventually } from '../support/eventually.ts';
import { bodiesOf, hasNoGap, searchTool } from '../support/runs.ts';
import { openHandoverStage, openStage, type Served, type Stage } from '../support/stage.ts';

/** An agent whose judge likes the draft of round `rounds`; its scratchpad is cut now and then. */
function reviewer(rounds: number): AgentDefinition {
  return defineAgent({
    name: 'reviewer',
    mode: 'react',
    model: { id: 'm', model: async ({ iteration }) => `draft ${iteration}` },
    tools: [searchTool()],
    validators: [
      defineValidator({
        name: 'last',
        validate: (text) => ({ accepted: String(text) === `hits for draft ${rounds}` }),
      }),
    ],
    compaction: { triggers: [counter('agent:iterations', 4)], strategies: [slidingWindow(2)] },
  });
}

const agent = reviewer(10);

/** A worker on the server of the run, and one on a server that wants hand-overs early. */
interface Place {
  readonly name: 'one link' | 'many links';
  readonly stage: Stage;
  readonly served: Served;
}

const places: Place[] = [];
beforeAll(async () => {
  for (const name of ['one link', 'many links'] as const) {
    const stage = await (name === 'one link'
      ? openStage(inject('temporal'))
      : openHandoverStage(25));
    const served = await stage.serve([agent], { workflowsPath: TEST_LOOPS });
    places.push({ name, stage, served });
  }
});
afterAll(async () => {
  for (const { stage } of places) await stage.close();
});

interface Row {
  readonly name: string;
  readonly limits: LimitsInput;
  readonly ending: readonly [status: string, reason: string, iterations: number];
}

describe('an own loop as a workflow [row 6] [row 7]', () => {
  it.each(
    extentOf<Row>([
      { name: 'that ends by itself', limits: {}, ending: ['success', 'answered', 10] },
      {
        name: 'at a limit on its own key',
        limits: { custom: [{ kind: 'exact', key: 'review:rounds', max: 6 }] },
        ending: ['limit_exceeded', 'review:rounds', 7],
      },
      {
        name: 'at a limit on calls',
        limits: { toolCalls: 5 },
        ending: ['limit_exceeded', 'agent:tool_calls', 6],
      },
    ]),
  )('$name: as in memory, on one link and on many', async ({ limits, ending }) => {
    const expected = await startInMemory({ agent, task: 'Go', limits, next: review }).result;
    expect([expected.status, expected.reason, expected.iterations]).toEqual(ending);

    const runs = await Promise.all(
      places.map(({ served }) => served.everloop.start('reviewer', { task: 'Go', limits })),
    );

    for (const [index, run] of runs.entries()) {
      const { name, stage } = places[index] as Place;
      expect(comparableStep(await run.result()), name).toEqual(comparableStep(expected));
      const events = await run.events();
      expect(hasNoGap(events)).toBe(true);
      expect(bodiesOf(events, 'agent:execution:before')).toHaveLength(1);
      expect(bodiesOf(events, 'agent:execution:after')).toHaveLength(1);
      expect(bodiesOf(events, 'agent:compaction').map(({ epoch }) => epoch)).toEqual(
        ending[2] > 8 ? [2, 3] : [2],
      );
      const links = bodiesOf(events, 'agent:execution:handover').length;
      expect(links > 0, `${name}, ${links} hand-overs`).toBe(name === 'many links');
      await stage.replay(run, { workflowsPath: TEST_LOOPS });
    }
  });

  it('gives readers what the loop emits while it runs', async () => {
    const { served } = places[0] as Place;
    const subscription = served.chunks.subscribe({});
    const topics: string[] = [];
    const reading = (async () => {
      for await (const item of subscription) {
        if (item.kind === 'topic') topics.push(`${item.topic} ${item.delta}`);
      }
    })();

    const run = await served.everloop.start('reviewer', { task: 'Go', limits: { iterations: 3 } });
    await run.result();
    await eventually('three rounds', () => topics.length === 3);
    subscription.unsubscribe();
    await reading;

    expect(topics).toEqual([1, 2, 3].map((round) => `review:round {"round":${round}}`));
  });
});
