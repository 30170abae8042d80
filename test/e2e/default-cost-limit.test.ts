/** The default limit on cost, on a server: what a client sees of it, and how it is lifted. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { LimitsInput } from '../../src/core/contract/input.ts';
import { gate } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage?.close());

const DEFAULT = { kind: 'exact', key: 'agent:cost_microusd', max: 1_000_000, byDefault: true };

it.each<{ readonly change: LimitsInput; readonly now: readonly object[] }>([
  { change: { costUsd: null }, now: [] },
  { change: { costUsd: 5 }, now: [{ kind: 'exact', key: DEFAULT.key, max: 5_000_000 }] },
])('a live run says its default limit on cost, until it is changed: $change', async (row) => {
  const open = gate();
  const agent = defineAgent({
    name: 'reader',
    mode: 'chat',
    model: {
      id: 'priced',
      price: { input: 1, output: 1 },
      model: async () => {
        await open.opened;
        return { content: 'read', usage: { inputTokens: 2_000_000, outputTokens: 1 } };
      },
    },
  });
  const { everloop } = await stage.serve([agent]);
  const run = await everloop.start('reader', { task: 'Read.' });
  await expect.poll(async () => (await run.status()).waitsFor).toEqual(['model priced']);

  expect((await run.status()).defaultLimits).toEqual([DEFAULT]);
  const { limits } = await run.adjust(row.change);
  expect(limits.filter(({ key }) => key === DEFAULT.key)).toEqual(row.now);
  expect((await run.status()).defaultLimits).toBeUndefined();
  open.open();
  const step = await run.result();

  expect(step).toMatchObject({ status: 'success' });
  expect(step.exceededLimit).toBeUndefined();
  const [first] = await run.events();
  expect(first).toMatchObject({ type: 'agent:execution:before', defaultLimits: [DEFAULT] });
});
