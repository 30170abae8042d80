import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { ToolContext } from '../../src/define/definition/definitions.ts';
import { eventually } from '../support/eventually.ts';
import { abortOf, act, answer, bodiesOf, gate, searchTool } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage.close());

/** An agent whose first reply makes `calls` in one batch. */
function buyer(
  calls: readonly string[],
  execute: (query: string, context: ToolContext) => unknown,
): ReturnType<typeof defineAgent> {
  return defineAgent({
    name: 'buyer',
    tools: [searchTool(execute)],
    model: {
      id: 'script/m',
      price: { input: 0, output: 0 },
      model: async ({ iteration }) => (iteration === 1 ? act(...calls) : answer()),
    },
  });
}

const ORDERS = [
  ['slow', 'spend'],
  ['spend', 'slow'],
] as const;

const SPENDING = [
  {
    name: 'a count',
    limits: { custom: [{ kind: 'exact', key: 'shop:spent', max: 3 } as const] },
    spend: ({ count }: ToolContext) => count('shop:spent', 5),
  },
  {
    name: 'a reported cost',
    limits: { costUsd: 0.000003 },
    spend: ({ reportModelCall }: ToolContext) => reportModelCall('m', { costMicroUsd: 5 }),
  },
];

describe('a batch on a server', () => {
  it.each(ORDERS.flatMap((calls) => SPENDING.map((row) => ({ ...row, calls }))))(
    '[R7] $calls: the call that crosses a limit by $name aborts the other',
    async ({ calls, limits, spend }) => {
      // Nothing but an abort ends the slow one.
      const agent = buyer(calls, async (query, context) => {
        if (query === 'spend') spend(context);
        else await abortOf(context.signal);
        return query;
      });
      const { everloop, stop } = await stage.serve([agent]);

      const run = await everloop.start('buyer', { task: 'Buy', limits });
      const step = await run.result();

      expect(step.status).toBe('limit_exceeded');
      const ends = bodiesOf(await run.events(), 'agent:tool_call:after');
      expect(ends.map(({ args }) => args)).toEqual([{ query: 'spend' }, { query: 'slow' }]);
      await stage.replay(run);
      await stop();
    },
  );

  it.each(ORDERS)('[R7] [%s, %s]: the status shows each call as it ends', async (...calls) => {
    const opened = gate();
    const agent = buyer(calls, async (query) => {
      if (query === 'slow') await opened.opened;
      return query;
    });
    const { everloop, stop } = await stage.serve([agent]);
    const run = await everloop.start('buyer', { task: 'Buy' });

    await eventually('the end of the first call', async () => {
      const { usage } = await run.status();
      return usage?.toolCalls === 1;
    });
    opened.open();

    expect((await run.result()).usage.toolCalls).toBe(2);
    await stop();
  });
});
