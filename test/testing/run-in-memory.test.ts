import { describe, expect, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { act, answer, bodiesOf, searchTool, startRun } from '../support/runs.ts';

describe('a run in memory', () => {
  it('is the example of its documentation', async () => {
    const script = scriptedModel(['<answer>42</answer>']);
    const agent = defineAgent({ name: 'oracle', mode: 'react', model: script.model });

    const step = await startInMemory({ agent, task: 'What is it?' }).result;

    expect(step.value).toBe('42');
  });

  it.each([
    { name: 'an empty task', options: { task: '' } },
    {
      name: 'a context that JSON would lose',
      options: { task: 'Go', context: { rows: new Map() } as never },
    },
    { name: 'a cost limit without a price', options: { task: 'Go', limits: { costUsd: 1 } } },
  ])('refuses $name as a start would', ({ options }) => {
    const agent = defineAgent({ name: 'oracle', mode: 'react', model: scriptedModel([]).model });

    expect(() => startInMemory({ agent, ...options })).toThrow(
      expect.objectContaining({ name: 'UsageError' }),
    );
  });

  it('tries a model again as a worker does, on its own time', async () => {
    const busy = Object.assign(new Error('busy'), { statusCode: 529 });
    const { run, script, clock } = startRun([busy, busy, answer()]);
    const start = clock.now();

    const step = await run.result;

    script.assertDone();
    expect(clock.now() - start).toBe(3_000);
    expect([step.status, step.usage.modelCallRetries]).toEqual(['success', 2]);
    expect(script.requests.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });

  it('waits as long as a provider asks, but an hour at most, as a worker does', async () => {
    const headers = { 'retry-after': '100000' };
    const busy = Object.assign(new Error('busy'), { statusCode: 429, responseHeaders: headers });
    const { run, clock } = startRun([busy, answer()]);
    const start = clock.now();

    await run.result;

    expect(clock.now() - start).toBe(3_600_000);
  });

  it('tries a tool again as a worker does', async () => {
    const keys: string[] = [];
    const tool = searchTool((query, { idempotencyKey, attempt }) => {
      keys.push(`${idempotencyKey} ${attempt}`);
      throw new Error(query);
    });
    const { run } = startRun([act('a'), answer()], {
      agent: {
        tools: [
          { ...tool, spec: { ...tool.spec, retry: { attempts: 2, initialMs: 10, factor: 1 } } },
        ],
      },
    });

    await run.result;

    expect(keys).toEqual(['run-1/1.1 1', 'run-1/1.1 2']);
    expect(bodiesOf(run.events, 'agent:tool_call:after')[0]).toMatchObject({
      outcome: 'error',
      error: 'Error: a',
      attempts: 2,
      durationMs: 10,
    });
  });

  it('fails a run whose instructions cannot be written, as a worker does', async () => {
    const { run, script } = startRun([], {
      agent: {
        instructions: () => {
          throw new Error('no template');
        },
      },
    });

    const step = await run.result;

    script.assertDone();
    expect([step.status, step.reason]).toEqual(['error', 'model_error']);
    expect(step.message).toContain('no template');
  });

  it('refuses limits that a worker would refuse', () => {
    const { run } = startRun([answer()]);

    expect(() => run.adjust({ iterations: -1 })).toThrow(
      "Expected limit `iterations` to be a whole number from 0 up or 'unlimited', got -1. Change it.",
    );
  });

  it('hands over once at each boundary that was asked for', async () => {
    const { run } = startRun([act('a'), answer()], { handoverDue: (iteration) => iteration === 1 });

    const step = await run.result;

    expect([step.status, run.state.link]).toEqual(['success', 2]);
  });
});
