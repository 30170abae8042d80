import { describe, expect, it, test } from 'vitest';
import type { LimitsInput } from '../../../src/core/contract/input.ts';
import { mergeLimits } from '../../../src/core/limits/limits-input.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { agentTool } from '../../../src/define/tool/agent-tool.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import { act, answer, bodiesOf, START, startRun } from '../../support/runs.ts';

/** A reply whose provider reports nothing. */
const mute = (content: string): { readonly content: string; readonly usage: null } => ({
  content,
  usage: null,
});

/** The same answer after a search, with `limits`. */
const start = (limits: LimitsInput, replies = [mute(act('a')), mute(answer())]) =>
  startRun(replies, { agent: { limits } });

describe('A limit on tokens or cost, and replies without usage [R8]', () => {
  it('counts an estimate by default, apart from the sums, and marks it', async () => {
    const { run } = start({ totalTokens: 100_000 });

    const step = await run.result;

    const calls = bodiesOf(run.events, 'agent:model_call:after');
    expect(calls.map(({ usageKnown, unreported }) => [usageKnown, unreported])).toEqual([
      [false, 'estimate'],
      [false, 'estimate'],
    ]);
    const sum = calls.reduce((total, { estimated }) => total + (estimated?.totalTokens ?? 0), 0);
    expect(sum).toBeGreaterThan(200);
    expect(step.usage).toMatchObject({ totalTokens: 0, estimated: { totalTokens: sum } });
    // The action has 45 bytes, the answer 21.
    expect(calls.map(({ estimated }) => estimated?.outputTokens)).toEqual([
      Math.ceil(act('a').length / 4),
      Math.ceil(answer().length / 4),
    ]);
  });

  it.each<{ limits: LimitsInput; key: string }>([
    { limits: { totalTokens: 100 }, key: 'agent:total_tokens' },
    { limits: { inputTokens: 100 }, key: 'agent:input_tokens' },
    { limits: { outputTokens: 5 }, key: 'agent:output_tokens' },
    {
      limits: { custom: [{ kind: 'exact', key: 'agent:total_tokens:m', max: 100 }] },
      key: 'agent:total_tokens:m',
    },
  ])('ends the run by its estimate: $key', async ({ limits, key }) => {
    const { run, script } = start(limits);

    const step = await run.result;

    expect(step.status).toBe('limit_exceeded');
    expect(bodiesOf(run.events, 'agent:limit_exceeded')).toMatchObject([{ key }]);
    expect(script.requests).toHaveLength(1);
  });

  it('warns once with `warn`, and counts nothing', async () => {
    const { run } = start({ totalTokens: 10, onUnknownUsage: 'warn' });

    const step = await run.result;

    expect(step).toMatchObject({ status: 'success', usage: { totalTokens: 0 } });
    expect(step.usage.estimated).toBeUndefined();
    expect(bodiesOf(run.events, 'agent:warning')).toEqual([
      {
        type: 'agent:warning',
        code: 'unknown_usage',
        message:
          "Model `m` reported no usage, so its calls do not count towards the limit on `agent:total_tokens`. Make its provider report usage, or set `onUnknownUsage: 'estimate'`.",
      },
    ]);
  });

  it('ends the run with `end`, whatever is left', async () => {
    const { run } = start({ costUsd: 5, onUnknownUsage: 'end' });

    const step = await run.result;

    expect(step).toMatchObject({
      status: 'limit_exceeded',
      message:
        'limit not kept: agent:cost_microusd cannot be counted, because model m reported no usage',
    });
  });

  it('is not asked without such a limit, or when usage is known', async () => {
    const free = start({ iterations: 5, costUsd: null, onUnknownUsage: 'end' });
    const known = start({ totalTokens: 100_000, onUnknownUsage: 'end' }, [answer() as never]);

    expect(await free.run.result).toMatchObject({ status: 'success' });
    expect(await known.run.result).toMatchObject({ status: 'success' });
    const [call] = bodiesOf(free.run.events, 'agent:model_call:after');
    expect(call?.unreported).toBeUndefined();
  });

  it('holds for descendants, by what the limit of the ancestor says', async () => {
    const leaf = defineAgent({
      name: 'leaf',
      model: { id: 'silent', model: async () => '<answer>leaf</answer>' },
      mode: 'react',
    });
    const agent = defineAgent({
      name: 'root',
      mode: 'react',
      model: {
        id: 'm',
        model: async () => ({
          content: '<action>\ntool: leaf\nargs: { task: go }\n</action>',
          usage: { inputTokens: 10, outputTokens: 1 },
        }),
      },
      tools: [agentTool({ agent: leaf })],
      limits: { totalTokens: 100_000, onUnknownUsage: 'end' },
    });
    const run = startInMemory({ agent, agents: [leaf], task: 'Go', clock: createFakeClock(START) });

    expect(await run.result).toMatchObject({
      status: 'limit_exceeded',
      message: expect.stringContaining('model silent reported no usage') as string,
    });
  });
});

describe('onUnknownUsage', () => {
  test('is kept with the limits on tokens and cost, and replaced by that of a later source', () => {
    const first = mergeLimits([], { totalTokens: 5, modelCalls: 2, onUnknownUsage: 'end' });
    const limits = first.kind === 'limits' ? first.limits : [];

    expect(limits).toEqual([
      { kind: 'exact', key: 'agent:total_tokens', max: 5, onUnknownUsage: 'end' },
      { kind: 'exact', key: 'agent:model_calls', max: 2 },
    ]);
    expect(mergeLimits(limits, { onUnknownUsage: 'warn' })).toMatchObject({
      limits: [{ onUnknownUsage: 'warn' }, { max: 2 }],
    });
  });

  test.each([
    {
      limits: { onUnknownUsage: 'guess' },
      message:
        "Expected `onUnknownUsage` to be 'estimate', 'warn' or 'end', got \"guess\". Change it.",
    },
    {
      limits: {
        custom: [{ kind: 'exact', key: 'agent:tool_calls', max: 1, onUnknownUsage: 'end' }],
      },
      message:
        'Expected `onUnknownUsage` only on limits on tokens and cost, got it on `agent:tool_calls`. Remove it.',
    },
  ])('is refused: $message', ({ limits, message }) => {
    expect(mergeLimits([], limits as LimitsInput)).toMatchObject({ problems: [{ message }] });
  });
});
