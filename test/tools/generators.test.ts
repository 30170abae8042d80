/** Tools that are an `async function*`: what they yield is progress, the last value is the result. */
import { describe, expect, test } from 'vitest';
import { isOwnEvent, type OwnEvent } from '../../src/core/contract/events.ts';
import type { Json } from '../../src/core/base/json.ts';
import { ToolError } from '../../src/core/base/tool-error.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { lastOf } from '../../src/tools/last-of.ts';

interface Played {
  readonly progress: readonly Json[];
  readonly output: Json | undefined;
  readonly error: string | undefined;
}

async function play(execute: () => unknown): Promise<Played> {
  const script = scriptedModel([{ toolCalls: [{ name: 'count', args: {} }] }, 'Done.']);
  const tool = defineTool({ name: 'count', description: 'Counts.', execute });
  const agent = defineAgent({ name: 'tester', model: script.model, tools: [tool] });
  const run = startInMemory({ agent, task: 'Go.' });
  expect(await run.result).toMatchObject({ value: 'Done.' });
  const ended = run.events.find(({ type }) => type === 'agent:tool_call:after');
  const { output, error } = ended as { readonly output?: Json; readonly error?: string };
  const own = run.events.filter((event) => isOwnEvent(event, 'count:progress'));
  return { progress: own.map((event) => (event as OwnEvent).data), output, error };
}

describe('a tool that is a generator', () => {
  test('tells each value that it yields, and its result is the last one', async () => {
    const played = await play(async function* () {
      yield { done: 1 };
      yield { done: 2 };
    });

    expect(played).toEqual({
      progress: [{ done: 1 }, { done: 2 }],
      output: { done: 2 },
      error: undefined,
    });
  });

  test('has what it returns as its result', async () => {
    const played = await play(async function* () {
      yield 'looking';
      return 'found';
    });

    expect(played).toMatchObject({ progress: ['looking'], output: 'found' });
  });

  test('may yield what no event carries: the result counts', async () => {
    const played = await play(async function* () {
      yield new Map([[1, 2]]);
      for (let turn = 0; turn < 40; turn++) yield 'x'.repeat(16_000);
      yield 'y'.repeat(20_000);
      yield 'end';
    });

    expect(played.output).toBe('end');
    expect(played.progress.length).toBeLessThan(20);
  });

  test('may throw in the middle, as any tool', async () => {
    const played = await play(async function* () {
      yield 1;
      throw new ToolError('no such city');
    });

    expect(played.error).toContain('no such city');
  });

  test('is ended when its call is stopped, and tidies up', async () => {
    const stop = new AbortController();
    let isTidy = false;
    async function* forEver(): AsyncGenerator<number> {
      try {
        for (let turn = 1; ; turn++) {
          if (turn === 3) stop.abort();
          yield turn;
        }
      } finally {
        isTidy = true;
      }
    }

    const last = await lastOf('count', forEver(), { signal: stop.signal, emit: () => undefined });

    expect({ last, isTidy }).toEqual({ last: 3, isTidy: true });
  });
});
