import { describe, expect, it } from 'vitest';
import { counter, slidingWindow } from '../../../src/define/agent/define-compaction.ts';
import { jsonAnswer, jsonSection } from '../../../src/define/agent/reply-layout.ts';
import { defineValidator } from '../../../src/define/tool/define-validator.ts';
import type { LimitsInput } from '../../../src/core/contract/input.ts';
import type { Limit } from '../../../src/core/contract/limit.ts';
import { createFakeClock, type FakeClock } from '../../../src/testing/fake-clock.ts';
import {
  abortOf,
  act,
  actWith,
  answer,
  bodiesOf,
  GARBAGE,
  gate,
  searchTool,
  START,
  startRun,
  typesOf,
  type RunOptions,
} from '../../support/runs.ts';

const exact = (key: string, max: number): Limit => ({ kind: 'exact', key, max });
const prefix = (key: string, max: number): Limit => ({ kind: 'prefix', key, max });
const custom = (...limits: readonly Limit[]): LimitsInput => ({ custom: limits });

const failing = searchTool(() => {
  throw new Error('down');
});
/** A failure of a provider that passes. */
const failedOnce = Object.assign(new Error('busy'), { statusCode: 503 });
const picky = defineValidator({ name: 'picky', validate: () => ({ accepted: false }) });
const unfit = '<action>tool: [</action>';

interface Row {
  readonly name: string;
  /** What the model may say before the run is over; one reply too many would fail the test. */
  readonly replies: Parameters<typeof startRun>[0];
  readonly options?: RunOptions;
  readonly limits: LimitsInput;
  readonly breach: readonly [key: string, value: number, attempted?: number];
  readonly iterations: number;
}

/** A failure of a model that passes, whose provider had counted `usage` by then. */
const costly = (usage: object): Error =>
  Object.assign(new Error('broke off'), { statusCode: 500, usage });

describe('a limit that is checked before the work', () => {
  it.each<Row>([
    {
      name: '0 iterations: none begins',
      replies: [],
      limits: { iterations: 0 },
      breach: ['$self:agent:iterations', 0, 1],
      iterations: 0,
    },
    {
      name: '3 iterations: three run',
      replies: [act('a'), act('a'), act('a')],
      limits: { iterations: 3 },
      breach: ['$self:agent:iterations', 3, 4],
      iterations: 3,
    },
    {
      name: '0 model calls: none is made',
      replies: [],
      limits: { modelCalls: 0 },
      breach: ['agent:model_calls', 0, 1],
      iterations: 1,
    },
    {
      name: '2 model calls: two are made',
      replies: [act('a'), act('a')],
      limits: { modelCalls: 2 },
      breach: ['agent:model_calls', 2, 3],
      iterations: 3,
    },
    {
      name: '1 call of a model by its name',
      replies: [act('a')],
      limits: custom(exact('agent:model_calls:m', 1)),
      breach: ['agent:model_calls:m', 1, 2],
      iterations: 2,
    },
    {
      name: '0 tool calls: none runs',
      replies: [act('a', 'b')],
      limits: { toolCalls: 0 },
      breach: ['agent:tool_calls', 0, 1],
      iterations: 1,
    },
    {
      name: '2 tool calls over two turns',
      replies: [act('a'), act('b'), act('c')],
      limits: { toolCalls: 2 },
      breach: ['agent:tool_calls', 2, 3],
      iterations: 3,
    },
    {
      name: '1 call of a tool',
      replies: [act('a'), act('b')],
      limits: custom(exact('agent:tool_calls:search', 1)),
      breach: ['agent:tool_calls:search', 1, 2],
      iterations: 2,
    },
    {
      name: '1 call of a run’s own share',
      replies: [act('a'), act('b')],
      limits: custom(exact('$self:agent:tool_calls', 1)),
      breach: ['$self:agent:tool_calls', 1, 2],
      iterations: 2,
    },
  ])('[row 40] $name', async ({ replies, limits, breach, iterations }) => {
    const { run, script } = startRun(replies, { limits });

    const step = await run.result;

    script.assertDone();
    const [key, value, attempted] = breach;
    expect(step).toMatchObject({
      status: 'limit_exceeded',
      reason: key,
      message: `limit reached: ${key} would be ${attempted}, the limit is ${value}`,
      iterations,
      exceededLimit: { key, value, attempted, origin: 'self' },
    });
    expect(bodiesOf(run.events, 'agent:limit_exceeded')).toEqual([
      { type: 'agent:limit_exceeded', ...step.exceededLimit },
    ]);
  });

  it.each<{ name: string; limits: LimitsInput }>([
    { name: 'iterations', limits: { iterations: 2 } },
    { name: 'model calls', limits: { modelCalls: 2 } },
    { name: 'tool calls', limits: { toolCalls: 1 } },
    { name: 'tokens', limits: { totalTokens: 220, inputTokens: 200, outputTokens: 20 } },
    { name: 'time', limits: { wallClockMs: 0, activeMs: 0 } },
  ])('[row 40] lets a run succeed that is equal to its limit on $name', async ({ limits }) => {
    const { run } = startRun([act('a'), answer()], { limits });

    const step = await run.result;

    expect([step.status, step.exceededLimit]).toEqual(['success', undefined]);
  });
});

describe('a limit that is checked after the event', () => {
  const counted = searchTool((query, context) => {
    context.count('shop:refunds', 2);
    context.gauge('shop:queue', 7);
    return query;
  });

  it.each<Row>([
    {
      name: 'total tokens, first call',
      replies: [act('a')],
      limits: { totalTokens: 109 },
      breach: ['agent:total_tokens', 110],
      iterations: 1,
    },
    {
      name: 'input tokens, third call',
      replies: [act('a'), act('a'), act('a')],
      limits: { inputTokens: 299 },
      breach: ['agent:input_tokens', 300],
      iterations: 3,
    },
    {
      name: 'output tokens 0',
      replies: [act('a')],
      limits: { outputTokens: 0 },
      breach: ['agent:output_tokens', 10],
      iterations: 1,
    },
    {
      name: 'cost',
      replies: [{ content: act('a'), usage: { costMicroUsd: 2_000_001 } }],
      limits: { costUsd: 2 },
      breach: ['agent:cost_microusd', 2_000_001],
      iterations: 1,
    },
    {
      name: 'cost of an attempt that failed: there is no other one',
      replies: [costly({ costMicroUsd: 2_000_001 })],
      limits: { costUsd: 2 },
      breach: ['agent:cost_microusd', 2_000_001],
      iterations: 1,
    },
    {
      name: 'tokens of attempts that failed, one of them exactly at the limit',
      replies: [costly({ inputTokens: 100 }), costly({ inputTokens: 1 })],
      limits: { totalTokens: 100 },
      breach: ['agent:total_tokens', 101],
      iterations: 1,
    },
    {
      name: 'tokens of the last iteration',
      replies: [
        { content: act('a'), usage: { inputTokens: 10 } },
        { content: act('a'), usage: { inputTokens: 31 } },
      ],
      limits: custom(exact('agent:input_tokens_last_iteration', 30)),
      breach: ['agent:input_tokens_last_iteration', 31],
      iterations: 2,
    },
    {
      name: 'replies without sections in a row',
      replies: [GARBAGE, GARBAGE, GARBAGE, GARBAGE],
      options: { agent: { onUnparsed: 'retry' } },
      limits: {},
      breach: ['agent:format_parse_error_consecutive', 4],
      iterations: 4,
    },
    {
      name: 'unreadable calls in a row',
      replies: [unfit, unfit],
      limits: custom(exact('agent:toolchain_parse_error_consecutive', 1)),
      breach: ['agent:toolchain_parse_error_consecutive', 2],
      iterations: 2,
    },
    {
      name: 'failed calls in a row',
      replies: [act('a'), act('a'), act('a', 'a')],
      options: { agent: { tools: [failing] } },
      limits: {},
      breach: ['agent:tool_calls_error_consecutive', 4],
      iterations: 3,
    },
    {
      name: 'rejected answers in all',
      replies: [answer(), answer(), answer()],
      options: { agent: { validators: [picky] } },
      limits: custom(exact('$self:agent:answer_rejected_total', 2)),
      breach: ['$self:agent:answer_rejected_total', 3],
      iterations: 3,
    },
    {
      name: 'unfit answers in a row',
      replies: [answer('{'), answer('{'), answer('{'), answer('{')],
      options: { agent: { answer: jsonAnswer({ schema: { type: 'object' } }) } },
      limits: {},
      breach: ['agent:termination_parse_error_consecutive', 4],
      iterations: 4,
    },
    {
      name: 'unreadable sections in all',
      replies: [`<plan>{</plan>${act('a')}`, act('a'), `<plan>{</plan>${act('a')}`],
      options: { agent: { sections: [jsonSection({ name: 'plan', schema: {} })] } },
      limits: custom(exact('agent:section_parse_error_total', 1)),
      breach: ['agent:section_parse_error_total', 2],
      iterations: 3,
    },
    {
      name: 'replies without sections in all',
      replies: [GARBAGE, act('a'), GARBAGE],
      limits: custom(exact('agent:format_parse_error_total', 1)),
      breach: ['agent:format_parse_error_total', 2],
      iterations: 3,
    },
    {
      name: 'failed calls of a tool in all',
      replies: [act('a'), act('a')],
      options: { agent: { tools: [failing] } },
      limits: custom(exact('agent:tool_calls_error:search', 1)),
      breach: ['agent:tool_calls_error:search', 2],
      iterations: 2,
    },
    {
      name: 'failed calls of a tool in a row, through a prefix',
      replies: [act('a'), act('a')],
      options: { agent: { tools: [failing] } },
      limits: custom(prefix('agent:tool_calls_error_consecutive:', 1)),
      breach: ['agent:tool_calls_error_consecutive:search', 2],
      iterations: 2,
    },
    {
      name: 'answers that one validator rejected',
      replies: [answer(), answer()],
      options: { agent: { validators: [picky] } },
      limits: custom(exact('agent:answer_rejected_by:picky', 1)),
      breach: ['agent:answer_rejected_by:picky', 2],
      iterations: 2,
    },
    {
      name: 'cached tokens',
      replies: [
        { content: act('a'), usage: { inputTokens: 9, outputTokens: 1, cachedInputTokens: 8 } },
      ],
      limits: custom(exact('agent:input_tokens_cached', 7)),
      breach: ['agent:input_tokens_cached', 8],
      iterations: 1,
    },
    {
      name: 'reasoning tokens of a model',
      replies: [
        { content: act('a'), usage: { inputTokens: 1, outputTokens: 9, reasoningTokens: 8 } },
      ],
      limits: custom(exact('agent:reasoning_tokens:m', 7)),
      breach: ['agent:reasoning_tokens:m', 8],
      iterations: 1,
    },
    {
      name: 'retries of model calls',
      replies: [failedOnce, failedOnce, act('a')],
      limits: custom(exact('agent:model_call_retries', 1)),
      breach: ['agent:model_call_retries', 2],
      iterations: 1,
    },
    {
      name: 'compactions',
      replies: [act('a'), act('a'), act('a')],
      options: {
        agent: {
          compaction: {
            triggers: [counter('agent:iterations', 1)],
            strategies: [slidingWindow(1)],
          },
        },
      },
      limits: custom(exact('agent:compactions', 1)),
      breach: ['agent:compactions', 2],
      iterations: 3,
    },
    {
      name: 'length of the scratchpad',
      replies: [act('a'), act('a')],
      limits: custom(exact('agent:scratchpad_length', 1)),
      breach: ['agent:scratchpad_length', 2],
      iterations: 2,
    },
    {
      name: '[row 39] a counter of a tool',
      replies: [act('a'), act('a')],
      options: { agent: { tools: [counted] } },
      limits: custom(exact('shop:refunds', 3)),
      breach: ['shop:refunds', 4],
      iterations: 2,
    },
    {
      name: '[row 39] a gauge of a tool',
      replies: [act('a')],
      options: { agent: { tools: [counted] } },
      limits: custom(exact('shop:queue', 6)),
      breach: ['shop:queue', 7],
      iterations: 1,
    },
  ])('[row 40] [row 45] $name', async ({ replies, options, limits, breach, iterations }) => {
    const { run, script } = startRun(replies, { ...options, limits });

    const step = await run.result;

    script.assertDone();
    const [key, value] = breach;
    expect([step.status, step.reason, step.iterations]).toEqual([
      'limit_exceeded',
      key,
      iterations,
    ]);
    expect(step.exceededLimit).toMatchObject({ key, value, origin: 'self' });
    expect(step.exceededLimit).not.toHaveProperty('attempted');
    const limited = `limit exceeded: ${key} is ${value}, the limit is ${step.exceededLimit?.limit.max}`;
    const last = replies.at(-1);
    const isText = key.includes('_parse_error') && typeof last === 'string';
    expect(step.message).toBe(isText ? `${limited}. The model wrote: "${last}"` : limited);
  });

  it('[row 42] counts errors in a row: three, a success and three more go on', async () => {
    const replies = [GARBAGE, GARBAGE, GARBAGE, act('a'), GARBAGE, GARBAGE, GARBAGE, answer()];
    const { run, script } = startRun(replies, { agent: { onUnparsed: 'retry' } });

    const step = await run.result;

    script.assertDone();
    expect(step.status).toBe('success');
  });

  it('[row 42] runs exactly 100 iterations by default', async () => {
    const { run, script } = startRun(Array.from({ length: 100 }, (_, place) => act(`${place}`)));

    const step = await run.result;

    script.assertDone();
    expect([step.status, step.iterations]).toEqual(['limit_exceeded', 100]);
  });

  it('[row 45] starts no calls and no check for a reply that crossed it', async () => {
    const { run } = startRun([act('a', 'b')], { limits: { totalTokens: 100 } });

    await run.result;

    expect(typesOf(run.events)).toEqual([
      'execution:before',
      'iteration:before',
      'model_call:before',
      'model_call:after',
      'limit_exceeded',
      'turn:read',
      'iteration:after',
      'execution:after',
    ]);
  });

  it.each([
    {
      name: 'whose calls did not start',
      replies: [act('a', 'b')],
      limits: { totalTokens: 100 },
      told: [
        { name: 'search', content: 'Error: canceled before it finished.' },
        { name: 'search', content: 'Error: canceled before it finished.' },
      ],
    },
    {
      name: 'that was one too many that nobody can read',
      replies: [GARBAGE, GARBAGE, GARBAGE, GARBAGE],
      agent: { onUnparsed: 'retry' },
      limits: {},
      told: [
        {
          name: 'error',
          content:
            'Your reply could not be read: it has none of the sections thinking, action, answer. Write it again as described under output_format.',
        },
      ],
    },
  ])('[row 45] keeps the last reply in the history, $name', async (row) => {
    const { replies, told: _told, name: _name, ...options } = row as typeof row & RunOptions;
    const { run } = startRun(replies, options);

    const step = await run.result;

    expect(step.status).toBe('limit_exceeded');
    expect(run.entries).toHaveLength(row.replies.length);
    expect(run.entries.at(-1)?.messages).toEqual([
      { role: 'assistant', parts: [{ type: 'text', text: row.replies.at(-1) }] },
      {
        role: 'user',
        parts: [{ type: 'sections', sections: [{ name: 'observation', children: row.told }] }],
      },
    ]);
    // No request will show it.
    expect(run.state.scratchpad).toHaveLength(row.replies.length - 1);
  });

  it.each([
    { name: 'accepted', text: 'good', ending: ['success', 'answered', 'good'] },
    { name: 'rejected', text: 'bad', ending: ['limit_exceeded', 'agent:total_tokens', null] },
  ])('[row 45] has an answer in hand judged still: $name', async ({ text, ending }) => {
    const validator = defineValidator({
      name: 'good',
      validate: (value) => ({ accepted: value === 'good' }),
    });
    const { run, script } = startRun([answer(text)], {
      limits: { totalTokens: 100 },
      agent: { validators: [validator] },
    });

    const step = await run.result;

    script.assertDone();
    expect([step.status, step.reason, step.value]).toEqual(ending);
    expect(step.exceededLimit).toMatchObject({ key: 'agent:total_tokens', value: 110 });
  });

  it('[row 45] asks no fallback after a failed call that crossed it', async () => {
    const spent = Object.assign(new Error('no key'), {
      statusCode: 401,
      usage: { inputTokens: 500 },
    });
    const { run, script } = startRun([spent], {
      limits: { totalTokens: 100 },
    });

    const step = await run.result;

    script.assertDone();
    expect([step.status, step.reason]).toEqual(['limit_exceeded', 'agent:total_tokens']);
  });

  it('cancels the other calls of a batch when one crosses it', async () => {
    const tool = searchTool(async (query, context) => {
      if (query === 'a') {
        context.count('shop:refunds', 5);
        return query;
      }
      await abortOf(context.signal);
      throw new Error('aborted');
    });
    const { run } = startRun([act('a', 'b')], {
      agent: { tools: [tool] },
      limits: custom(exact('shop:refunds', 4)),
    });

    const step = await run.result;

    expect(step.reason).toBe('shop:refunds');
    expect(typesOf(run.events).slice(5, 11)).toEqual([
      'tool_call:before',
      'tool_call:before',
      'tool_call:after',
      'limit_exceeded',
      'tool_call:after',
      'iteration:after',
    ]);
    expect(bodiesOf(run.events, 'agent:tool_call:after')[1]?.outcome).toBe('canceled');
  });
});

describe('of several limits', () => {
  const other = searchTool(undefined, { name: 'other' });

  it.each<{ name: string; reply: string; limits: Limit[]; key: string }>([
    {
      name: 'a prefix names the tool that crossed it',
      reply: actWith(['search', 'a'], ['other', 'a'], ['other', 'b']),
      limits: [prefix('agent:tool_calls:', 1)],
      key: 'agent:tool_calls:other',
    },
    {
      name: 'a prefix without its colon matches the total first',
      reply: actWith(['search', 'a'], ['other', 'a']),
      limits: [prefix('agent:tool_calls', 1)],
      key: 'agent:tool_calls',
    },
    {
      name: 'a prefix takes twins only when it says so',
      reply: actWith(['search', 'a'], ['search', 'a']),
      limits: [prefix('$self:agent:tool_calls:', 1)],
      key: '$self:agent:tool_calls:search',
    },
    {
      name: 'the first in the list wins',
      reply: actWith(['search', 'a'], ['search', 'b']),
      limits: [exact('agent:tool_calls:search', 1), exact('agent:tool_calls', 1)],
      key: 'agent:tool_calls:search',
    },
    {
      name: 'the first in the list wins, the other way round',
      reply: actWith(['search', 'a'], ['search', 'b']),
      limits: [exact('agent:tool_calls', 1), exact('agent:tool_calls:search', 1)],
      key: 'agent:tool_calls',
    },
    {
      name: 'the first wins for one event',
      reply: act('a'),
      limits: [exact('agent:total_tokens', 5), exact('agent:input_tokens', 5)],
      key: 'agent:total_tokens',
    },
    {
      name: 'the smallest key of a prefix wins',
      reply: act('a'),
      limits: [prefix('agent:input_tokens', 5)],
      key: 'agent:input_tokens',
    },
    {
      name: 'a prefix reaches gauges, too',
      reply: act('a'),
      limits: [prefix('agent:total_tokens_last_iteration:', 5)],
      key: 'agent:total_tokens_last_iteration:m',
    },
  ])('[row 41] $name', async ({ reply, limits, key }) => {
    const { run } = startRun([reply], {
      agent: { tools: [searchTool(), other] },
      limits: custom(...limits),
    });

    const step = await run.result;

    expect([step.status, step.reason]).toEqual(['limit_exceeded', key]);
  });
});

describe('a deadline', () => {
  it.each<{ name: string; limits: LimitsInput; key: string }>([
    { name: 'wall clock', limits: { wallClockMs: 1_000 }, key: 'agent:wall_clock_ms' },
    { name: 'active time', limits: { activeMs: 1_000 }, key: 'agent:active_ms' },
    {
      name: 'a prefix',
      limits: custom(prefix('agent:wall', 1_000)),
      key: 'agent:wall_clock_ms',
    },
  ])('[row 46] of $name cancels a model call in flight', async ({ limits, key }) => {
    const begun = gate();
    const { run, clock } = startRun(
      [
        async (_request, { signal }) => {
          begun.open();
          await abortOf(signal);
          throw new Error('aborted');
        },
      ],
      { limits },
    );

    await begun.opened;
    clock.advance(1_000);
    const before = run.events.length;
    clock.advance(1);
    const step = await run.result;

    expect(run.events[before]?.type).toBe('agent:limit_exceeded');
    expect(step).toMatchObject({
      status: 'limit_exceeded',
      reason: key,
      message: `limit exceeded: ${key} is 1001, the limit is 1000`,
      usage: { durationMs: 1_001 },
    });
  });

  it('[row 46] cancels the calls in flight', async () => {
    const tool = searchTool(async (query, { signal }) => {
      // Both have begun by then.
      if (query === 'b') clock.advance(2_000);
      await abortOf(signal);
      throw new Error(query);
    });
    const { run, clock } = startRun([act('a', 'b')], {
      agent: { tools: [tool] },
      limits: { wallClockMs: 1_000 },
    });

    const step = await run.result;

    expect(step.reason).toBe('agent:wall_clock_ms');
    expect(
      bodiesOf(run.events, 'agent:tool_call:after').map(({ outcome, started }) => [
        outcome,
        started,
      ]),
    ).toEqual([
      ['canceled', true],
      ['canceled', true],
    ]);
  });

  it('[row 46] that the event before a call shows keeps the call from starting', async () => {
    const { run, clock } = startRun([act('a')], {
      limits: { wallClockMs: 1_000 },
      onEvent: ({ type }) => {
        if (type === 'agent:tool_call:before') clock.advance(2_000);
      },
    });

    await run.result;

    expect(bodiesOf(run.events, 'agent:tool_call:after')[0]).toMatchObject({
      outcome: 'canceled',
      started: false,
    });
  });

  it('[row 46] in the far future is reached by timers that a machine can hold', async () => {
    const day = 86_400_000;
    const clock = createFakeClock(START);
    const timers: number[] = [];
    const watched: FakeClock = {
      ...clock,
      schedule: (at, due) => {
        timers.push(at - clock.now());
        return clock.schedule(at, due);
      },
    };
    const begun = gate();
    const { run } = startRun(
      [
        async (_request, { signal }) => {
          begun.open();
          await abortOf(signal);
          throw new Error('aborted');
        },
      ],
      { limits: { wallClockMs: 50 * day }, clock: watched },
    );

    await begun.opened;
    clock.advance(51 * day);
    const step = await run.result;

    expect(timers).toEqual([20 * day, 20 * day, 10 * day + 1]);
    expect(step.exceededLimit?.value).toBe(50 * day + 1);
  });

  it('[row 46] that was raised in time counts anew', async () => {
    const { run, clock } = startRun(
      [
        () => {
          run.adjust({ wallClockMs: 10_000 });
          clock.advance(5_000);
          return answer();
        },
      ],
      { limits: { wallClockMs: 1_000 } },
    );

    const step = await run.result;

    expect([step.status, step.exceededLimit]).toEqual(['success', undefined]);
  });

  it('[row 46] that was raised after the breach stays broken', async () => {
    const { run, clock } = startRun(
      [
        async (_request, { signal }) => {
          clock.advance(5_000);
          run.adjust({ wallClockMs: 'unlimited' });
          await abortOf(signal);
          throw new Error('aborted');
        },
      ],
      { limits: { wallClockMs: 1_000 } },
    );

    const step = await run.result;

    expect([step.status, step.reason]).toEqual(['limit_exceeded', 'agent:wall_clock_ms']);
    expect(bodiesOf(run.events, 'agent:limit_exceeded')).toHaveLength(1);
  });

  it('[row 46] that is lowered below what has passed acts at once', async () => {
    const { run, clock } = startRun([
      async (_request, { signal }) => {
        clock.advance(5_000);
        run.adjust({ wallClockMs: 1_000 });
        await abortOf(signal);
        throw new Error('aborted');
      },
    ]);

    const step = await run.result;

    expect(step.exceededLimit).toMatchObject({ key: 'agent:wall_clock_ms', value: 5_000 });
    expect(typesOf(run.events).slice(3, 6)).toEqual([
      'adjusted',
      'limit_exceeded',
      'model_call:after',
    ]);
  });

  it('[row 46] of active time stands still in a pause', async () => {
    const { run, clock } = startRun([act('a'), answer()], {
      limits: { activeMs: 1_000 },
      onEvent: ({ type, iteration }, live) => {
        if (type === 'agent:model_call:after' && iteration === 1) live.pause();
        if (type !== 'agent:iteration:after' || iteration !== 1) return;
        queueMicrotask(() => {
          clock.advance(60_000);
          live.resume();
        });
      },
    });

    const step = await run.result;

    expect(step.status).toBe('success');
    expect(step.stats.gauges).toMatchObject({
      'agent:wall_clock_ms': 60_000,
      'agent:active_ms': 0,
    });
  });
});
