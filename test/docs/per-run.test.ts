/** docs/per-run.md: its code is that of examples which run here. */
import { expect, test } from 'vitest';
import { filed, patient, perCustomer, perPlan, settled } from '../../examples/docs/per-run.ts';
import type { ModelEntry } from '../../src/define/model/model-entry.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { eventually } from '../support/eventually.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';

test('docs/per-run.md quotes its example', () => {
  expect(blocksOf('per-run').size).toBeGreaterThan(0);
  expect(blocksOf('per-run')).toEqual(regionsOf('per-run'));
});

test('settings of the start replace those of the agent', async () => {
  const script = scriptedModel(['sorted']);
  const { clerk, start } = settled(script.model);

  const { task = '', settings = {} } = start;
  await startInMemory({ agent: clerk, task, settings }).result;

  expect(script.requests[0]?.settings).toEqual({
    temperature: 0,
    maxOutputTokens: 2_000,
    reasoning: 'low',
    providerOptions: { openai: { user: 'shop' } },
  });
});

test('a customer has a model with a key of its own, others the common one', async () => {
  const { modelFor } = perCustomer(new Map([['acme', 'key']]));
  const info = { run: 'r', runId: 'r', agent: 'a', agentPath: 'a', iteration: 1 };
  const given = (tenant: string): ReturnType<NonNullable<ModelEntry['modelFor']>> =>
    modelFor?.({ ...info, tenant });

  expect(given('acme')).toMatchObject({ modelId: 'gpt-5' });
  expect(given('other')).toBeUndefined();
});

test('tools depend on the plan, and the first request looks something up', async () => {
  const look = { toolCalls: [{ name: 'look_up', args: { order: 'A1' } }] };
  const script = scriptedModel([look, 'It cost $30.']);
  const agent = perPlan(script.model);

  await startInMemory({ agent, task: 'A1?', context: { plan: 'free' }, by: 'Ada' }).result;

  expect(script.requests[0]).toMatchObject({
    toolChoice: { tool: 'look_up' },
    settings: { temperature: 0 },
    notOffered: ['refund'],
  });
  expect(JSON.stringify(script.requests[0]?.messages[0])).toContain('You help Ada.');
});

test('what a tool files is the answer, once it fits', async () => {
  const fileWith = (rows: readonly string[]): object => ({
    toolCalls: [{ name: 'file', args: { title: 'May', rows } }],
  });
  const script = scriptedModel([fileWith([]), fileWith(['a'])]);

  const step = await startInMemory({ agent: filed(script.model), task: 'Report.' }).result;

  expect(step.value).toEqual({ title: 'May', rows: ['a'] });
  expect(JSON.stringify(script.requests[1]?.messages)).toContain('0 rows were filed.');
});

test('a run waits for its operator', async () => {
  const refused = Object.assign(new Error('no credit'), { statusCode: 402 });
  const run = startInMemory({ agent: patient(scriptedModel([refused, 'on']).model), task: 'x' });

  await eventually('a question', () => run.pending().length === 1);
  run.answer('q1', 'Try again');

  expect((await run.result).value).toBe('on');
});
