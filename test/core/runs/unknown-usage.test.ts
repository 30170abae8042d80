import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { ModelReply } from '../../../src/core/contract/model.ts';
import { EMPTY_STATS } from '../../../src/core/contract/stats.ts';
import { priceUsage } from '../../../src/core/model/cost.ts';
import { noUsage } from '../../../src/core/model/usage.ts';
import { tally } from '../../../src/core/stats/tally.ts';
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

/** What a report may have in the place of a number. */
const wild = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.string(),
  fc.constantFrom(-500, -1e15, Number.NaN, Infinity, -Infinity, 1e308, '1e308', '-5', true, [5]),
);

/** A report of usage with anything in it. */
const wildUsage = fc.oneof(
  fc.record({ inputTokens: wild, outputTokens: wild, costMicroUsd: wild }, { requiredKeys: [] }),
  fc.record({ prompt_tokens: wild, completion_tokens: wild }),
  fc.record({ input_tokens: wild, output_tokens: wild, cache_read_input_tokens: wild }),
  fc.record({ promptTokenCount: wild, candidatesTokenCount: wild, thoughtsTokenCount: wild }),
);

describe('usage that cannot be [R8]', () => {
  it.each([
    { inputTokens: 50, outputTokens: -500 },
    { inputTokens: Number.NaN, outputTokens: 5 },
    { inputTokens: 1e308, outputTokens: 5 },
    { inputTokens: 'many', outputTokens: 5 },
    { inputTokens: -1, outputTokens: 5, costMicroUsd: -1e15 },
  ])('is warned of, estimated, and ends the run by its limit: %o', async (usage) => {
    const reply = { content: act('a'), usage: usage as never };
    const { run, script } = start({ totalTokens: 100 }, [reply as never]);

    const step = await run.result;

    expect(step.status).toBe('limit_exceeded');
    expect(script.requests).toHaveLength(1);
    expect(bodiesOf(run.events, 'agent:warning')).toMatchObject([
      {
        code: 'impossible_usage',
        message: expect.stringMatching(
          /^Expected the usage of a call of model `m` to have counts from 0 up, got `\w+` /,
        ),
      },
    ]);
  });

  it('lets no cost below 0 pay for calls', async () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0, costMicroUsd: -1e15 };
    const agent = {
      model: {
        id: 'm',
        model: async () => ({ content: act('a'), usage }),
        price: { input: 5, output: 5 },
      },
      limits: { costUsd: 1 },
    };
    const { run } = startRun([], { agent });

    expect(await run.result).toMatchObject({
      status: 'limit_exceeded',
      usage: { costMicroUsd: 5_000_000, modelCalls: 1 },
    });
  });

  it('is read as whole numbers from 0 up, or as none, whatever is reported', () => {
    fc.assert(
      fc.property(wildUsage, (report) => {
        const { usage, known } = priceUsage(report, { input: 1, output: 1 });
        const counts = Object.values(usage);
        expect(counts.every((count) => Number.isSafeInteger(count) && count >= 0)).toBe(true);
        expect(counts.every((count) => count <= 1e12)).toBe(true);
        if (!known) expect(usage).toEqual(noUsage);
      }),
      { numRuns: 1_000 },
    );
  });

  it('lets no sum fall or leave the numbers, and the limit ends the run, whatever is reported', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(wildUsage, { minLength: 1, maxLength: 4 }), async (reports) => {
        let asked = 0;
        const model = async (): Promise<ModelReply> => {
          const usage = reports[asked % reports.length] as never;
          asked += 1;
          return { content: act(`${asked}`), usage };
        };
        const { run } = startRun([], {
          agent: {
            model: { id: 'm', model, price: { input: 1, output: 1 } },
            limits: { totalTokens: 500, costUsd: 1, iterations: 8 },
          },
        });

        const step = await run.result;

        let stats = EMPTY_STATS;
        for (const event of run.events) {
          const { counters } = tally(stats, event);
          const wrong = Object.entries(counters).filter(
            ([key, value]) => !Number.isSafeInteger(value) || value < (stats.counters[key] ?? 0),
          );
          expect(wrong).toEqual([]);
          stats = tally(stats, event);
        }
        expect(step.status).toBe('limit_exceeded');
      }),
      { numRuns: 10 },
    );
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
