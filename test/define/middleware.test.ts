/** Middleware of models and tools, and kept results, as a whole run sees them. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { ModelMiddleware, ToolMiddleware } from '../../src/define/definition/middleware.ts';
import { textMessage, textOf } from '../../src/core/base/message.ts';
import { ToolError } from '../../src/core/base/tool-error.ts';
import { startInMemory, type MemoryRunOptions } from '../../src/testing/run-in-memory.ts';
import { scriptedModel, type ScriptedReply } from '../../src/testing/scripted-model.ts';

async function play(
  replies: readonly ScriptedReply[],
  options: Partial<AgentOptions>,
  how: Partial<MemoryRunOptions> = {},
): Promise<{
  readonly step: Awaited<ReturnType<typeof startInMemory>['result']>;
  readonly run: ReturnType<typeof startInMemory>;
  readonly prompts: readonly string[];
  readonly temperatures: readonly unknown[];
}> {
  const script = scriptedModel(replies);
  const agent = defineAgent({
    name: 'tester',
    mode: 'react',
    model: script.model,
    thinking: false,
    ...options,
  });
  const run = startInMemory({ agent, task: 'Go.', ...how });
  const step = await run.result;
  script.assertDone();
  return {
    step,
    run,
    prompts: script.requests.map(({ messages }) => messages.map(textOf).join('\n')),
    temperatures: script.requests.map(({ settings }) => settings['temperature']),
  };
}

const done = '<answer>done</answer>';
const call = '<action>\n{tool: double, args: {n: 2}}\n</action>';

describe('[row 25] model middleware', () => {
  test('changes messages and settings of one call; nothing of that is kept', async () => {
    const once: ModelMiddleware = (request, next) =>
      request.iteration === 1
        ? next({
            ...request,
            messages: [...request.messages, textMessage('user', 'Psst: hurry.')],
            settings: { temperature: 0 },
          })
        : next(request);

    const { run, prompts, temperatures } = await play([call, done], {
      tools: [doubling()],
      modelMiddleware: [once],
    });

    expect(prompts.map((prompt) => prompt.includes('Psst'))).toEqual([true, false]);
    expect(temperatures).toEqual([0, undefined]);
    expect(JSON.stringify(run.entries)).not.toContain('Psst');
  });

  test('may change the reply, ask again or answer itself; the first is outermost', async () => {
    const order: string[] = [];
    const outer: ModelMiddleware = async (request, next) => {
      order.push('outer');
      const reply = await next(request);
      order.push('outer done');
      return { ...reply, parts: [{ type: 'text', text: '<answer>changed</answer>' }] };
    };
    const twice: ModelMiddleware = async (request, next) => {
      order.push('inner');
      await next(request);
      return next(request);
    };

    const { step } = await play(['first', 'second'], { modelMiddleware: [outer, twice] });

    expect(order).toEqual(['outer', 'inner', 'outer done']);
    expect(step.value).toBe('changed');
    // Both calls are paid for.
    expect(step.usage).toMatchObject({ inputTokens: 200, outputTokens: 20, modelCalls: 1 });
  });

  test('one that returns no reply fails the call', async () => {
    const { step } = await play(
      Array.from({ length: 1 }, () => done),
      {
        modelMiddleware: [
          async (request, next) => {
            if (request.attempt > 1) return null as never;
            await next(request);
            return null as never;
          },
        ],
      },
    );

    expect(step).toMatchObject({ status: 'error' });
    expect(step.message).toContain(
      'Expected the reply of model `tester/model` to be a text or an object',
    );
  });
});

function doubling(seen: unknown[] = []): ReturnType<typeof defineTool> {
  return defineTool({
    name: 'double',
    description: 'Doubles.',
    parameters: z.object({ n: z.number().max(100) }),
    retry: { attempts: 2, initialMs: 1 },
    execute: ({ n }) => {
      seen.push(n);
      return { twice: n * 2 };
    },
  }) as ReturnType<typeof defineTool>;
}

describe('[row 25] tool middleware', () => {
  test.each<{
    readonly name: string;
    readonly layer: ToolMiddleware;
    readonly seen: readonly unknown[];
    readonly text: string;
  }>([
    {
      name: 'passes a call on',
      layer: (asked, next) => next(asked),
      seen: [2],
      text: 'twice: 4',
    },
    {
      name: 'changes arguments',
      layer: (asked, next) => next({ ...asked, args: { n: 21 } }),
      seen: [21],
      text: 'twice: 42',
    },
    {
      name: 'has changed arguments checked again',
      layer: (asked, next) => next({ ...asked, args: { n: 101 } }),
      seen: [],
      text: 'Error: the arguments do not fit double.\n- n: expected a number <= 100, got number 101\nParameters:\n- n (number <= 100, required)',
    },
    {
      name: 'replaces the result',
      layer: async (asked, next) => ({ was: await next(asked) }),
      seen: [2],
      text: 'was:\n  twice: 4',
    },
    {
      name: 'answers itself',
      layer: ({ tool, args }) => `${tool} of ${JSON.stringify(args)}`,
      seen: [],
      text: 'double of {"n":2}',
    },
    {
      name: 'throws for the model',
      layer: () => {
        throw new ToolError('not on Sundays');
      },
      seen: [],
      text: 'Error: not on Sundays',
    },
    {
      name: 'runs again on a retry',
      layer: (asked, next) => {
        if (asked.attempt === 1) throw new Error('busy');
        return next({ ...asked, args: { n: asked.attempt } });
      },
      seen: [2],
      text: 'twice: 4',
    },
  ])('$name', async ({ layer, seen: expected, text }) => {
    const seen: unknown[] = [];

    const { prompts } = await play([call, done], {
      tools: [doubling(seen)],
      toolMiddleware: [layer],
    });

    expect(seen).toEqual(expected);
    expect(prompts[1]).toContain(`<observation>\n<double>\n${text}\n</double>\n</observation>`);
  });
});

describe('kept results', () => {
  const cachedTool = (counted: string[]): ReturnType<typeof defineTool> =>
    defineTool({
      name: 'look',
      description: 'Looks.',
      parameters: z.object({ a: z.string(), b: z.string().optional() }),
      cache: true,
      retry: { attempts: 1 },
      execute: ({ a }) => {
        counted.push(a);
        if (a === 'bad') throw new ToolError('nothing there');
        return `seen ${a}`;
      },
    }) as ReturnType<typeof defineTool>;
  const look = (args: string): string => `<action>\n{tool: look, args: ${args}}\n</action>`;

  test.each([
    { name: 'an equal call', second: '{a: x, b: y}', ran: ['x'] },
    { name: 'other order of keys', second: '{b: y, a: x}', ran: ['x'] },
    { name: 'other arguments', second: '{a: z}', ran: ['x', 'z'] },
  ])('$name', async ({ second, ran }) => {
    const counted: string[] = [];

    const { step, run } = await play([look('{a: x, b: y}'), look(second), done], {
      tools: [cachedTool(counted)],
    });

    expect(counted).toEqual(ran);
    // A kept result is a call like any other for statistics and limits.
    expect(step.stats.counters['agent:tool_calls:look']).toBe(2);
    expect(
      run.events.flatMap((event) =>
        event.type === 'agent:tool_call:after'
          ? [[event.outcome, event.cached ?? false, event.attempts]]
          : [],
      ),
    ).toEqual([['ok', false, 1], ran.length === 1 ? ['ok', true, 0] : ['ok', false, 1]]);
  });

  test('failures are not kept', async () => {
    const counted: string[] = [];

    await play([look('{a: bad}'), look('{a: bad}'), done], { tools: [cachedTool(counted)] });

    expect(counted).toEqual(['bad', 'bad']);
  });

  test('they outlive a hand-over', async () => {
    const counted: string[] = [];

    const { step } = await play(
      [look('{a: x}'), look('{a: x}'), done],
      { tools: [cachedTool(counted)] },
      { handoverDue: (iteration) => iteration === 1 },
    );

    expect(counted).toEqual(['x']);
    expect(step.status).toBe('success');
  });
});
