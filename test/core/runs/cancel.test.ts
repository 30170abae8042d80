import { describe, expect, it } from 'vitest';
import { defineValidator } from '../../../src/define/tool/define-validator.ts';
import type { EventType } from '../../../src/core/contract/events.ts';
import {
  abortOf,
  act,
  answer,
  hasNoGap,
  searchTool,
  startRun,
  typesOf,
} from '../../support/runs.ts';

/** Events of an iteration that a cancel found in the named event. */
const ENTERED = ['execution:before', 'iteration:before', 'model_call:before', 'model_call:after'];

describe('a cancel', () => {
  it('[row 2] before the start ends the run before its first iteration', async () => {
    const { run, script } = startRun([]);

    run.cancel('not needed');
    const step = await run.result;

    script.assertDone();
    expect(typesOf(run.events)).toEqual(['execution:before', 'execution:after']);
    expect(step).toMatchObject({ status: 'canceled', reason: 'canceled', message: 'not needed' });
  });

  it.each<{ name: string; on: EventType; replies: readonly string[]; events: readonly string[] }>([
    {
      name: 'between iterations',
      on: 'agent:iteration:after',
      replies: [act('a')],
      events: [
        ...ENTERED,
        'turn:read',
        'tool_call:before',
        'tool_call:after',
        'iteration:after',
        'execution:after',
      ],
    },
    {
      name: 'in a model call',
      on: 'agent:model_call:before',
      replies: [],
      events: [...ENTERED, 'iteration:after', 'execution:after'],
    },
    {
      name: 'in a tool call',
      on: 'agent:tool_call:before',
      replies: [act('a')],
      events: [
        ...ENTERED,
        'turn:read',
        'tool_call:before',
        'tool_call:after',
        'iteration:after',
        'execution:after',
      ],
    },
  ])('[row 2] $name ends the run with a Step', async ({ on, replies, events }) => {
    const { run, script } = startRun(replies, {
      onEvent: ({ type }, live) => {
        if (type === on) live.cancel();
      },
    });

    const step = await run.result;

    script.assertDone();
    expect(typesOf(run.events)).toEqual(events);
    expect([step.status, step.reason, step.value, step.message]).toEqual([
      'canceled',
      'canceled',
      null,
      undefined,
    ]);
    expect(hasNoGap(run.events)).toBe(true);
  });

  it('[row 2] aborts a model call in flight and counts what it had used', async () => {
    const { run } = startRun([
      async (_request, { signal }) => {
        run.cancel('stop');
        await abortOf(signal);
        throw Object.assign(new Error('aborted'), { usage: { inputTokens: 7, outputTokens: 2 } });
      },
    ]);

    const step = await run.result;

    expect(step).toMatchObject({ status: 'canceled', message: 'stop' });
    expect(step.usage).toMatchObject({ inputTokens: 7, outputTokens: 2, modelCalls: 1 });
    expect(run.events.find(({ type }) => type === 'agent:model_call:after')).toMatchObject({
      usageKnown: true,
      error: { code: 'aborted', message: 'canceled before it finished' },
    });
  });

  it('[row 2] aborts calls in flight, and each has an outcome', async () => {
    const tool = searchTool(async (query, { signal }) => {
      if (query === 'b') run.cancel();
      await abortOf(signal);
      throw new Error('aborted');
    });
    const { run } = startRun([act('a', 'b')], { agent: { tools: [tool] } });

    const step = await run.result;

    expect(step.status).toBe('canceled');
    expect(outcomes(run.events)).toEqual([
      ['1.1', 'canceled', true],
      ['1.2', 'canceled', true],
    ]);
    expect(step.usage.toolCalls).toBe(2);
    expect(run.entries).toHaveLength(1);
  });

  it('[row 2] leaves out the calls that have not begun, and says so', async () => {
    const tool = searchTool(async () => {
      run.cancel();
      return 'found';
    });
    const { run } = startRun([act('a', 'b')], { agent: { tools: [tool], parallel: false } });

    const step = await run.result;

    expect(outcomes(run.events)).toEqual([
      ['1.1', 'ok', true],
      ['1.2', 'canceled', false],
    ]);
    expect(step.usage.toolCalls).toBe(1);
  });

  it('[row 2] aborts a judge', async () => {
    const validator = defineValidator({
      name: 'slow',
      validate: async (_answer, { signal }) => {
        run.cancel();
        await abortOf(signal);
        return { accepted: true };
      },
    });
    const { run } = startRun([answer()], { agent: { validators: [validator] } });

    const step = await run.result;

    expect(typesOf(run.events)).toEqual([
      ...ENTERED,
      'turn:read',
      'iteration:after',
      'execution:after',
    ]);
    expect(step.status).toBe('canceled');
  });

  it('[row 2] [row 3] keeps an answer from its judge', async () => {
    const validator = defineValidator({ name: 'never', validate: () => ({ accepted: true }) });
    const { run } = startRun([answer()], {
      agent: { validators: [validator] },
      onEvent: ({ type }, live) => {
        if (type === 'agent:model_call:after') live.cancel();
      },
    });

    const step = await run.result;

    expect([step.status, step.value]).toEqual(['canceled', null]);
  });

  it('[row 2] ends a pause', async () => {
    const { run, script } = startRun([act('a')], {
      onEvent: ({ type }, live) => {
        if (type === 'agent:iteration:after') live.pause();
        if (type === 'agent:paused') queueMicrotask(() => live.cancel('enough'));
      },
    });

    const step = await run.result;

    script.assertDone();
    expect(typesOf(run.events).slice(-3)).toEqual(['iteration:after', 'paused', 'execution:after']);
    expect(step).toMatchObject({ status: 'canceled', message: 'enough' });
  });

  it('keeps the first of two reasons', async () => {
    const { run } = startRun([]);

    run.cancel('first');
    run.cancel('second');

    expect((await run.result).message).toBe('first');
  });
});

describe('a pause', () => {
  it('lets what is in flight end, waits, and goes on', async () => {
    const { run, script, clock } = startRun([act('a'), answer()], {
      onEvent: ({ type }, live) => {
        if (type === 'agent:model_call:after') live.pause();
        if (type !== 'agent:iteration:after' || live.state.iteration > 1) return;
        queueMicrotask(() => {
          clock.advance(5_000);
          live.resume();
        });
      },
    });

    const step = await run.result;

    script.assertDone();
    expect(typesOf(run.events)).toEqual([
      ...ENTERED,
      'paused',
      'turn:read',
      'tool_call:before',
      'tool_call:after',
      'iteration:after',
      'resumed',
      ...ENTERED.slice(1),
      'paused',
      'turn:read',
      'answer:judged',
      'iteration:after',
      'execution:after',
    ]);
    expect(step.stats.gauges).toMatchObject({
      'agent:wall_clock_ms': 5_000,
      'agent:active_ms': 0,
    });
  });

  it('that begins again at once holds the run', async () => {
    const { run } = startRun([act('a')], {
      onEvent: ({ type }, live) => {
        if (type !== 'agent:iteration:after') return;
        live.pause();
        queueMicrotask(() => {
          live.resume();
          live.pause();
          queueMicrotask(() => live.cancel());
        });
      },
    });

    const step = await run.result;

    expect([step.status, step.iterations]).toEqual(['canceled', 1]);
  });
});

function outcomes(
  events: Parameters<typeof typesOf>[0],
): readonly (readonly [string, string, boolean])[] {
  return events.flatMap((event) =>
    event.type === 'agent:tool_call:after'
      ? [[event.callId, event.outcome, event.started] as const]
      : [],
  );
}
