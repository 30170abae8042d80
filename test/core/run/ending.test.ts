import { describe, expect, it } from 'vitest';
import { counter, summarize } from '../../../src/define/agent/define-compaction.ts';
import { defineValidator } from '../../../src/define/tool/define-validator.ts';
import type { Step } from '../../../src/core/contract/step.ts';
import type { Json } from '../../../src/core/base/json.ts';
import type { MemoryRun } from '../../../src/testing/memory-run.ts';
import {
  act,
  answer,
  GARBAGE,
  START,
  startRun,
  typesOf,
  type RunOptions,
} from '../../support/runs.ts';

const refused = Object.assign(new Error('bad request'), { statusCode: 400 });
const unauthorized = Object.assign(new Error('no key'), { statusCode: 401 });

/** A counter and its twin. */
function both(key: string, value: number): [string, number][] {
  return [
    [key, value],
    [`$self:${key}`, value],
  ];
}

/** The Step of a run with `calls` model calls, and what is particular to its ending. */
function stepWith(calls: number, ending: Partial<Step>, replies = calls): Step {
  const tokens = { input: 100 * replies, output: 10 * replies };
  const perModel = (key: string, value: number): [string, number][] =>
    calls === 0 ? [] : [...both(key, value), ...both(`${key}:m`, value)];
  const gauges =
    calls === 0
      ? []
      : ['input', 'output', 'total'].flatMap((name) => {
          const key = `agent:${name}_tokens_last_iteration`;
          const value = replies < calls ? 0 : name === 'input' ? 100 : name === 'output' ? 10 : 110;
          return [
            [key, value],
            [`${key}:m`, value],
          ];
        });
  return {
    v: 1,
    runId: 'run-1',
    agent: 'tester',
    mode: 'react',
    status: 'success',
    value: null,
    reason: 'answered',
    signature: null,
    fieldDescriptions: {},
    usage: {
      inputTokens: tokens.input,
      outputTokens: tokens.output,
      totalTokens: tokens.input + tokens.output,
      cachedInputTokens: 0,
      reasoningTokens: 0,
      costMicroUsd: 0,
      modelCalls: calls,
      modelCallRetries: 0,
      toolCalls: 0,
      durationMs: 0,
    },
    stats: {
      counters: Object.fromEntries([
        ...(calls === 0 ? [] : both('agent:iterations', calls)),
        ...perModel('agent:model_calls', calls),
        ...perModel('agent:model_call_retries', 0),
        ...perModel('agent:input_tokens', tokens.input),
        ...perModel('agent:output_tokens', tokens.output),
        ...perModel('agent:total_tokens', tokens.input + tokens.output),
        ...perModel('agent:input_tokens_cached', 0),
        ...perModel('agent:reasoning_tokens', 0),
        ...perModel('agent:cost_microusd', 0),
      ]),
      gauges: Object.fromEntries([
        ['agent:depth', 0],
        ['agent:wall_clock_ms', 0],
        ['agent:active_ms', 0],
        ...gauges,
      ]) as Step['stats']['gauges'],
    },
    memory: {},
    notes: [],
    iterations: calls,
    children: [],
    trace: {
      workflowId: 'run-1',
      executionId: 'run-1',
      firstExecutionId: 'run-1',
      unreadInputs: [],
      chain: { links: 1, events: 0, entries: 0, inputs: 0 },
    },
    ...ending,
  };
}

/** With what the chain of `run` has counted; `expected` is of one link. */
function ofChain(
  { events, entries }: MemoryRun,
  expected: Step,
  trace: Partial<Step['trace']> = {},
): Step {
  const inputs = trace.unreadInputs?.length ?? 0;
  const chain = { links: 1, events: events.length, entries: entries.length, inputs };
  return { ...expected, trace: { ...expected.trace, ...trace, chain } };
}

function withGauges(step: Step, gauges: Step['stats']['gauges']): Step {
  return { ...step, stats: { ...step.stats, gauges: { ...step.stats.gauges, ...gauges } } };
}

describe('the Step of a run', () => {
  it('[row 4] that answered has the value', async () => {
    const { run } = startRun([answer()]);

    const step = await run.result;

    const expected = withGauges(stepWith(1, { value: 'done' }), {
      'agent:format_parse_error_consecutive': 0,
      'agent:termination_parse_error_consecutive': 0,
    });
    expect(step).toEqual(ofChain(run, expected));
  });

  it('[row 4] that was canceled has the words of the one who did it', async () => {
    const { run } = startRun([]);
    run.send('too late', { id: 'late' });
    run.cancel('changed my mind');

    const step = await run.result;

    const expected = stepWith(0, {
      status: 'canceled',
      reason: 'canceled',
      message: 'changed my mind',
    });
    expect(step).toEqual(ofChain(run, expected, { unreadInputs: ['late'] }));
  });

  it('[row 4] that reached a limit names it', async () => {
    const { run } = startRun([], { limits: { modelCalls: 0 } });

    const step = await run.result;

    const limit = { kind: 'exact', key: 'agent:model_calls', max: 0 } as const;
    const expected = stepWith(0, {
      status: 'limit_exceeded',
      reason: 'agent:model_calls',
      message: 'limit reached: agent:model_calls would be 1, the limit is 0',
      exceededLimit: { limit, key: 'agent:model_calls', value: 0, attempted: 1, origin: 'self' },
      iterations: 1,
    });
    const counters = { 'agent:iterations': 1, '$self:agent:iterations': 1 };
    expect(step).toEqual(ofChain(run, { ...expected, stats: { ...expected.stats, counters } }));
  });

  it('[row 4] that failed has the code and the cause', async () => {
    const { run } = startRun([refused]);

    const step = await run.result;

    const message = step.message ?? '';
    const ending = { status: 'error', reason: 'model_request_refused', message } as const;
    expect(step).toEqual(ofChain(run, stepWith(1, ending, 0)));
    expect(step.message).toMatch(/^iteration 1: .*bad request/);
  });
});

describe('the Step of a run that failed in a later place', () => {
  it('[row 4] of one whose compaction failed is whole', async () => {
    const { run, script } = startRun([act('a'), ' '], {
      agent: {
        compaction: { triggers: [counter('agent:iterations', 1)], strategies: [summarize()] },
      },
    });

    const step = await run.result;

    script.assertDone();
    const expected = stepWith(2, {
      status: 'compaction_failed',
      reason: 'compaction_failed',
      message: 'compaction after iteration 1: the summary was empty',
      iterations: 1,
    });
    const calls = both('agent:tool_calls', 1);
    const whole = {
      ...expected,
      usage: { ...expected.usage, toolCalls: 1 },
      stats: {
        counters: {
          ...expected.stats.counters,
          ...Object.fromEntries([
            ...both('agent:iterations', 1),
            ...calls,
            ...both('agent:tool_calls:search', 1),
          ]),
        },
        gauges: {
          ...expected.stats.gauges,
          // Of two calls: the reply and the summary.
          ...doubled(expected.stats.gauges),
          'agent:format_parse_error_consecutive': 0,
          'agent:toolchain_parse_error_consecutive': 0,
          'agent:tool_calls_error_consecutive': 0,
          'agent:tool_calls_error_consecutive:search': 0,
          'agent:scratchpad_length': 1,
        },
      },
    };
    expect(step).toEqual(ofChain(run, whole));
  });

  it('[row 4] of an own loop that threw in iteration 2 is whole', async () => {
    const { run } = startRun([answer()], {
      next: async (work) => {
        if (work.iteration === 2) throw new Error('boom');
        await work.ask();
        return { kind: 'continue' };
      },
    });

    const step = await run.result;

    const expected = stepWith(1, {
      status: 'error',
      reason: 'loop_error',
      message: 'iteration 2: boom',
      iterations: 2,
    });
    const whole = {
      ...expected,
      stats: {
        counters: {
          ...expected.stats.counters,
          ...Object.fromEntries(both('agent:iterations', 2)),
        },
        gauges: Object.fromEntries(
          // The second iteration began: what the last one used is 0 again.
          Object.entries(expected.stats.gauges).map(([key]) => [key, 0]),
        ),
      },
    };
    expect(step).toEqual(ofChain(run, whole));
  });
});

function doubled(gauges: Step['stats']['gauges']): Step['stats']['gauges'] {
  const last = Object.entries(gauges).filter(([key]) => key.includes('_last_iteration'));
  return Object.fromEntries(last.map(([key, value]) => [key, 2 * value]));
}

describe('an error', () => {
  it.each<{
    name: string;
    replies: Parameters<typeof startRun>[0];
    options?: RunOptions;
    reason: string;
  }>([
    { name: 'of a model that refuses the key', replies: [unauthorized], reason: 'model_auth' },
    { name: 'of a request', replies: [refused], reason: 'model_request_refused' },
    {
      name: 'of a reply without sections, when the agent says so',
      replies: [GARBAGE],
      options: { agent: { onUnparsed: 'fail' } },
      reason: 'unparsable_reply',
    },
    {
      name: 'of a validator that throws on every try',
      replies: [answer()],
      options: {
        agent: {
          validators: [
            defineValidator({
              name: 'broken',
              validate: () => {
                throw new Error('no database');
              },
            }),
          ],
        },
      },
      reason: 'validator_failed',
    },
  ])('[row 4] $name ends the run as `$reason`', async ({ replies, options, reason }) => {
    const { run, script } = startRun(replies, options);

    const step = await run.result;

    script.assertDone();
    expect([step.status, step.reason]).toEqual(['error', reason]);
    expect(typesOf(run.events).slice(-3)).toEqual(['iteration:after', 'error', 'execution:after']);
    expect(run.events.at(-2)).toMatchObject({ message: step.message });
  });

  it('[row 4] thrown in iteration 2 of an own loop is a `loop_error`', async () => {
    const { run, script } = startRun([answer()], {
      next: async (work) => {
        if (work.iteration === 2) throw new Error('boom');
        await work.ask();
        return { kind: 'continue' };
      },
    });

    const step = await run.result;

    script.assertDone();
    expect([step.status, step.reason, step.message]).toEqual([
      'error',
      'loop_error',
      'iteration 2: boom',
    ]);
    expect(
      run.events.slice(-4).map(({ seq, runId, agent, agentPath, at, depth, ...shown }) => {
        void [seq, runId, agent, agentPath, at, depth];
        return shown;
      }),
    ).toEqual([
      { type: 'agent:iteration:before', iteration: 2 },
      { type: 'agent:iteration:after', iteration: 2, outcome: 'failed', durationMs: 0 },
      { type: 'agent:error', iteration: 2, message: 'iteration 2: boom' },
      { type: 'agent:execution:after', iteration: 2, status: 'error', reason: 'loop_error' },
    ]);
  });

  it('is that of the model that was asked last', async () => {
    const { run } = startRun([]);

    expect((await run.result).reason).toBe('model_request_refused');
  });
});

describe('an iteration', () => {
  it('ends what its loop left in flight before it goes on', async () => {
    const { run } = startRun(
      [
        async (_request, { signal }) => {
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
          throw new Error('aborted');
        },
      ],
      {
        next: async (work) => {
          if (work.iteration === 2) return { kind: 'end', value: null };
          work.ask().catch(() => undefined);
          return { kind: 'continue' };
        },
      },
    );

    await run.result;

    expect(typesOf(run.events).slice(1, 6)).toEqual([
      'iteration:before',
      'model_call:before',
      'model_call:after',
      'iteration:after',
      'iteration:before',
    ]);
  });
});

describe('a bug of the host', () => {
  it('[row 4] ends the run as `internal`, and hangs nothing', async () => {
    const { run } = startRun([], {
      onEvent: ({ type }) => {
        if (type === 'agent:model_call:before') throw new Error('broken sink');
      },
    });

    const step = await run.result;

    expect([step.status, step.reason, step.message]).toEqual([
      'error',
      'internal',
      'iteration 1: broken sink',
    ]);
  });
});

describe('of two endings', () => {
  const tokens = { totalTokens: 50 };

  it.each<{
    name: string;
    replies: Parameters<typeof startRun>[0];
    options: RunOptions;
    ending: readonly [string, string, Json];
    exceeded: boolean;
  }>([
    {
      name: 'an answer wins over a limit, which the Step still names',
      replies: [answer()],
      options: { limits: tokens },
      ending: ['success', 'answered', 'done'],
      exceeded: true,
    },
    {
      name: 'a limit wins over an error',
      replies: [GARBAGE],
      options: { limits: tokens, agent: { onUnparsed: 'fail' } },
      ending: ['limit_exceeded', 'agent:total_tokens', null],
      exceeded: true,
    },
    {
      name: 'a cancel wins over a limit',
      replies: [act('a')],
      options: {
        limits: tokens,
        onEvent: ({ type }, live) => {
          if (type === 'agent:limit_exceeded') live.cancel();
        },
      },
      ending: ['canceled', 'canceled', null],
      exceeded: true,
    },
    {
      name: 'a cancel wins over an error',
      replies: [GARBAGE],
      options: {
        agent: { onUnparsed: 'fail' },
        onEvent: ({ type }, live) => {
          if (type === 'agent:turn:read') live.cancel();
        },
      },
      ending: ['canceled', 'canceled', null],
      exceeded: false,
    },
    {
      name: 'an answer that was accepted wins over a cancel',
      replies: [answer()],
      options: {
        onEvent: ({ type }, live) => {
          if (type === 'agent:answer:judged') live.cancel();
        },
      },
      ending: ['success', 'answered', 'done'],
      exceeded: false,
    },
  ])('[row 3] $name', async ({ replies, options, ending, exceeded }) => {
    const { run } = startRun(replies, options);

    const step = await run.result;

    expect([step.status, step.reason, step.value]).toEqual(ending);
    expect(step.exceededLimit !== undefined).toBe(exceeded);
    expect(run.events.at(-1)).toMatchObject({
      type: 'agent:execution:after',
      status: step.status,
      reason: step.reason,
      at: START,
      ...(exceeded ? { exceededLimit: step.exceededLimit } : {}),
    });
  });
});

describe('the last event', () => {
  it('[row 4] is `execution:after`, whatever is sent or falls due behind it', async () => {
    const { run, clock } = startRun([answer()], { limits: { wallClockMs: 1_000 } });
    await run.result;
    const count = run.events.length;

    run.pause();
    run.adjust({ iterations: 3 });
    clock.advance(10_000);

    expect(run.events).toHaveLength(count);
    expect(run.events.at(-1)?.type).toBe('agent:execution:after');
  });

  it('[row 4] comes after work that an own loop left in flight', async () => {
    const { run } = startRun(
      [
        async (_request, { signal }) => {
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
          throw new Error('aborted');
        },
      ],
      {
        next: async (work) => {
          work.ask().catch(() => undefined);
          await Promise.resolve();
          throw new Error('boom');
        },
      },
    );

    const step = await run.result;

    expect(step.reason).toBe('loop_error');
    expect(typesOf(run.events)).toEqual([
      'execution:before',
      'iteration:before',
      'model_call:before',
      'model_call:after',
      'iteration:after',
      'error',
      'execution:after',
    ]);
  });
});
