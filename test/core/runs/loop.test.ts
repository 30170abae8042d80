import { describe, expect, it } from 'vitest';
import type { ModelReply } from '../../../src/core/contract/model.ts';
import type { ScriptedReply } from '../../../src/testing/scripted-model.ts';
import type { Breach } from '../../../src/core/contract/limit.ts';
import { act, answer, GARBAGE, hasNoGap, START, startRun, typesOf } from '../../support/runs.ts';

const usage = {
  inputTokens: 100,
  outputTokens: 10,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  costMicroUsd: 0,
};

describe('a run', () => {
  const search = (query: string): ModelReply => ({
    content: '',
    toolCalls: [{ name: 'search', args: { query } }],
  });

  it.each<{ mode: 'react' | 'chat'; replies: readonly ScriptedReply[] }>([
    { mode: 'react', replies: [act('a'), act('b'), answer('found')] },
    { mode: 'chat', replies: [search('a'), search('b'), 'found'] },
  ])('[row 1] [row 47] goes on, goes on and ends, and numbers all: $mode', async (row) => {
    const { run, script } = startRun(row.replies, { agent: { mode: row.mode } });

    const step = await run.result;

    script.assertDone();
    expect([step.status, step.value, step.iterations]).toEqual(['success', 'found', 3]);
    expect(hasNoGap(run.events)).toBe(true);
    expect(run.events.map(({ type, iteration }) => [iteration, type.slice(6)])).toEqual([
      [0, 'execution:before'],
      ...[1, 2].flatMap((iteration) => [
        [iteration, 'iteration:before'],
        [iteration, 'model_call:before'],
        [iteration, 'model_call:after'],
        [iteration, 'turn:read'],
        [iteration, 'tool_call:before'],
        [iteration, 'tool_call:after'],
        [iteration, 'iteration_history:change'],
        [iteration, 'scratchpad:change'],
        [iteration, 'iteration:after'],
      ]),
      [3, 'iteration:before'],
      [3, 'model_call:before'],
      [3, 'model_call:after'],
      [3, 'turn:read'],
      [3, 'answer:judged'],
      [3, 'iteration_history:change'],
      [3, 'iteration:after'],
      [3, 'execution:after'],
    ]);
  });

  it('[row 47] gives every event of a run with a tool its fields', async () => {
    const { run } = startRun([act('a'), answer('found')], { limits: { costUsd: null } });

    await run.result;

    const base = {
      runId: 'run-1',
      agent: 'tester',
      agentPath: 'tester',
      at: START,
      depth: 0,
    };
    const called = { model: 'm', purpose: 'reply' };
    const call = { callId: '1.1', tool: 'search', args: { query: 'a' } };
    const bodies = [
      [0, { type: 'agent:execution:before', mode: 'react', limits: expect.any(Array) }],
      [1, { type: 'agent:iteration:before' }],
      [1, { type: 'agent:model_call:before', ...called, messages: 0 }],
      [
        1,
        {
          type: 'agent:model_call:after',
          ...called,
          began: 3,
          usage,
          usageKnown: true,
          attempts: 1,
          durationMs: 0,
          finishReason: 'stop',
        },
      ],
      [1, { type: 'agent:turn:read', kind: 'calls', blocks: { action: 1 } }],
      [1, { type: 'agent:tool_call:before', ...call }],
      [
        1,
        {
          type: 'agent:tool_call:after',
          ...call,
          outcome: 'ok',
          started: true,
          attempts: 1,
          durationMs: 0,
          output: 'hits for a',
        },
      ],
      [1, { type: 'agent:iteration_history:change', index: 0 }],
      [
        1,
        {
          type: 'agent:scratchpad:change',
          epoch: 1,
          lengthBefore: 0,
          lengthAfter: 1,
          added: 1,
          removed: 0,
        },
      ],
      [1, { type: 'agent:iteration:after', outcome: 'continue', durationMs: 0 }],
      [2, { type: 'agent:iteration:before' }],
      [2, { type: 'agent:model_call:before', ...called, messages: 2 }],
      [
        2,
        {
          type: 'agent:model_call:after',
          ...called,
          began: 12,
          usage,
          usageKnown: true,
          attempts: 1,
          durationMs: 0,
          finishReason: 'stop',
        },
      ],
      [2, { type: 'agent:turn:read', kind: 'answer', blocks: { answer: 1 } }],
      [2, { type: 'agent:answer:judged', outcome: 'accepted' }],
      [2, { type: 'agent:iteration_history:change', index: 1 }],
      [2, { type: 'agent:iteration:after', outcome: 'end', durationMs: 0 }],
      [2, { type: 'agent:execution:after', status: 'success', reason: 'answered' }],
    ] as const;
    expect(run.events).toEqual(
      bodies.map(([iteration, body], index) => ({ ...base, ...body, iteration, seq: index + 1 })),
    );
  });

  it('[row 5] keeps entries in history and scratchpad, an accepted answer in history only', async () => {
    const { run } = startRun([act('a'), answer('found')]);

    await run.result;

    expect(run.entries.map(({ index, iteration, origin }) => [index, iteration, origin])).toEqual([
      [0, 1, 'original'],
      [1, 2, 'original'],
    ]);
    expect(run.state.scratchpad).toEqual([run.entries[0]]);
    expect(run.state.stats.gauges['agent:scratchpad_length']).toBe(1);
    expect(run.state.historyLength).toBe(2);
  });

  it('[row 47] shows the cause before the limit, and no further iteration', async () => {
    const { run } = startRun([act('a')], { limits: { iterations: 1 } });

    const step = await run.result;

    const breach: Breach = {
      limit: { kind: 'exact', key: '$self:agent:iterations', max: 1 },
      key: '$self:agent:iterations',
      value: 1,
      attempted: 2,
      origin: 'self',
    };
    expect(typesOf(run.events)).toEqual([
      'execution:before',
      'iteration:before',
      'model_call:before',
      'model_call:after',
      'turn:read',
      'tool_call:before',
      'tool_call:after',
      'iteration:after',
      'limit_exceeded',
      'execution:after',
    ]);
    expect(step).toMatchObject({
      status: 'limit_exceeded',
      reason: '$self:agent:iterations',
      message: 'limit reached: $self:agent:iterations would be 2, the limit is 1',
      exceededLimit: breach,
    });
  });

  it('[row 47] cuts raw text, arguments and output of more than 2 KB in events', async () => {
    const long = 'x'.repeat(3_000);
    const { run } = startRun([act(long), GARBAGE + long, answer()]);

    await run.result;

    const mark = '[cut: 2048 of 3017 bytes shown]';
    const after = run.events.find((event) => event.type === 'agent:tool_call:after');
    expect(after).toMatchObject({
      args: `{"query":"${'x'.repeat(2_038)}\n[cut: 2048 of 3012 bytes shown]`,
      output: `hits for ${'x'.repeat(2_039)}\n[cut: 2048 of 3009 bytes shown]`,
    });
    const error = run.events.find((event) => event.type === 'agent:parse_error');
    expect(error).toMatchObject({ raw: `${GARBAGE}${'x'.repeat(2_031)}\n${mark}` });
    expect(JSON.stringify(run.entries)).toContain(long);
  });
});
