/** Reads that run while the model still writes its reply. */
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../../src/core/contract/events.ts';
import type { AgentOptions } from '../../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { agentTool } from '../../../src/define/tool/agent-tool.ts';
import { ask } from '../../../src/define/tool/ask.ts';
import { external } from '../../../src/define/tool/external.ts';
import { defineTool } from '../../../src/define/tool/define-tool.ts';
import type { AnyToolOptions } from '../../../src/define/tool/tool-options.ts';
import type { ToolContext, ToolDefinition } from '../../../src/define/definition/definitions.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { startInMemory, type MemoryRunOptions } from '../../../src/testing/run-in-memory.ts';
import type { MemoryRun } from '../../../src/testing/memory-run.ts';
import { ToolError } from '../../../src/core/base/tool-error.ts';
import { streamingModel, type StreamStep } from '../../support/streamed-calls.ts';

/** A promise that a test settles. */
function gate() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

function hostile(): never {
  throw new Error('hands off');
}

function circle(): object {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  return value;
}

interface Seen {
  readonly tool: string;
  readonly at: unknown;
  readonly callId: string;
  readonly idempotencyKey: string;
  readonly attempt: number;
}

/** Tools that note their calls; `on` is what a call of them does. */
function world(
  on: (seen: Seen, context: ToolContext) => unknown = ({ at }) => `seen ${String(at)}`,
) {
  const seen: Seen[] = [];
  const tool = (name: string, options: Partial<AnyToolOptions> = {}): ToolDefinition =>
    defineTool({
      name,
      description: 'Looks.',
      parameters: { type: 'object', properties: { at: { type: 'integer' } }, required: ['at'] },
      effect: 'read',
      execute: (args: { readonly at?: unknown }, context: ToolContext) => {
        const { callId, idempotencyKey, attempt } = context;
        const call = { tool: name, at: args.at, callId, idempotencyKey, attempt };
        seen.push(call);
        return on(call, context);
      },
      ...options,
    } as never) as ToolDefinition;
  return { seen, tool };
}

function start(
  steps: readonly (readonly StreamStep[])[],
  tools: readonly ToolDefinition[],
  {
    run = {},
    ...options
  }: Partial<AgentOptions> & { readonly run?: Partial<MemoryRunOptions> } = {},
): MemoryRun {
  const model = streamingModel(({ number }) => steps[number - 1] ?? [{ text: 'done' }]);
  const agent = defineAgent({
    name: 'clerk',
    mode: 'chat',
    model: { id: 'streaming', model },
    tools,
    ...options,
  } as AgentOptions);
  return startInMemory({ agent, task: 'Look.', ...run });
}

/** The calls as the events have them: `before 1.1`, `after 1.1 ok 1`, and the model's between. */
function told(events: readonly AgentEvent[]): readonly string[] {
  return events.flatMap((event) => {
    switch (event.type) {
      case 'agent:model_call:before':
      case 'agent:model_call:after':
        return [event.type.replace('agent:', '')];
      case 'agent:tool_call:before':
        return [`before ${event.callId}`];
      case 'agent:tool_call:after':
        return [`after ${event.callId} ${event.outcome} ${event.attempts}`];
      default:
        return [];
    }
  });
}

const look = (at: number, call = 'look'): StreamStep => ({ call, args: { at } });

describe('reads beside a reply', () => {
  it('run before the reply is whole, and their events and results read as ever', async () => {
    const ran = gate();
    const { seen, tool } = world(({ at }) => (ran.open(), `seen ${String(at)}`));
    // Without a read beside the reply, this reply never ends.
    const run = start([[look(1), { wait: ran.opened }, look(2)]], [tool('look')]);

    expect(await run.result).toMatchObject({ status: 'success', value: 'done' });
    const { runId } = run.state;
    expect(seen).toEqual(
      [1, 2].map((at) => ({
        tool: 'look',
        at,
        callId: `1.${at}`,
        idempotencyKey: `${runId}/1.${at}`,
        attempt: 1,
      })),
    );
    expect(told(run.events).slice(0, 6)).toEqual([
      'model_call:before',
      'model_call:after',
      'before 1.1',
      'before 1.2',
      'after 1.1 ok 1',
      'after 1.2 ok 1',
    ]);
    expect(run.state.stats.counters['agent:tool_calls']).toBe(2);
    const texts = JSON.stringify(run.entries);
    expect(texts).toContain('seen 1');
    expect(texts).toContain('seen 2');
  });

  it.each<[string, Partial<AnyToolOptions>]>([
    ['write', { effect: 'idempotent' }],
    ['write at most once', { effect: 'once' }],
    ['say that they are not local', { local: false }],
    ['overlap with no other call', { sequential: true }],
    ['need an approval', { approval: () => false }],
    ['keep their results', { cache: true }],
  ])('are not tools that %s', async (_what, options) => {
    const { seen, tool } = world();
    const written = gate();
    const run = start([[look(1), { wait: written.opened }]], [tool('look', options)]);
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toEqual([]);
    written.open();
    await run.result;
    expect(seen.map(({ at }) => at)).toEqual([1]);
  });

  it('are none in an agent with middleware, or whose calls do not overlap', async () => {
    for (const options of [
      { parallel: false },
      { toolMiddleware: [(call, next) => next(call)] },
      { modelMiddleware: [(request, next) => next(request)] },
    ] as Partial<AgentOptions>[]) {
      const { seen, tool } = world();
      const written = gate();
      const run = start([[look(1), { wait: written.opened }]], [tool('look')], options);
      await new Promise((resolve) => setImmediate(resolve));
      expect(seen).toEqual([]);
      written.open();
      await run.result;
      expect(seen.map(({ at }) => at)).toEqual([1]);
    }
  });

  it('do not begin after a call that runs alone', async () => {
    const { seen, tool } = world();
    const written = gate();
    const alone = tool('alone', { effect: 'idempotent', sequential: true });
    const steps = [look(1), look(2, 'alone'), look(3), { wait: written.opened }];
    const run = start([steps], [tool('look'), alone]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen.map(({ at }) => at)).toEqual([1]);
    written.open();
    await run.result;
    expect(seen.map(({ at }) => at)).toEqual([1, 2, 3]);
  });

  it('are eight at most: the ninth call runs in its turn', async () => {
    const { seen, tool } = world();
    const written = gate();
    const calls = Array.from({ length: 9 }, (_, at) => look(at + 1));
    const run = start([[...calls, { wait: written.opened }]], [tool('look')]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toHaveLength(8);
    written.open();
    await run.result;
    expect(seen.map(({ callId }) => callId)).toEqual(calls.map((_, at) => `1.${at + 1}`));
    expect(run.state.stats.counters['agent:tool_calls']).toBe(9);
  });

  it('have two seconds: what is open then runs again in its turn, and is counted once', async () => {
    const clock = createFakeClock();
    const begun = gate();
    let calls = 0;
    const { seen, tool } = world(async (_seen, { signal }) => {
      calls += 1;
      if (calls > 1) return 'seen late';
      begun.open();
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('stopped')));
      });
    });
    const run = start([[look(1), { wait: begun.opened }]], [tool('look')], { run: { clock } });
    await begun.opened;
    clock.advance(2_000);
    expect(await run.result).toMatchObject({ status: 'success' });
    expect(seen.map(({ callId, attempt }) => [callId, attempt])).toEqual([
      ['1.1', 1],
      ['1.1', 1],
    ]);
    expect(told(run.events)).toContain('after 1.1 ok 1');
    expect(run.state.stats.counters['agent:tool_calls']).toBe(1);
  });

  it('give 128 KB together: what does not fit runs again in its turn', async () => {
    const { seen, tool } = world(() => 'x'.repeat(60_000));
    const run = start([[look(1), look(2), look(3)]], [tool('look')]);
    expect(await run.result).toMatchObject({ status: 'success' });
    expect(seen.map(({ at }) => at)).toEqual([1, 2, 3, 3]);
    expect(run.state.stats.counters['agent:tool_calls']).toBe(3);
  });

  it('keep within the limits on calls, of all tools and of each', async () => {
    for (const limits of [
      { toolCalls: 2 },
      { custom: [{ kind: 'exact', key: 'agent:tool_calls:look', max: 2 }] },
    ]) {
      const { seen, tool } = world();
      const run = start([[look(1), look(2), look(3)]], [tool('look')], { limits } as never);
      const step = await run.result;
      expect(step.status).toBe('limit_exceeded');
      expect(seen.map(({ at }) => at)).toEqual([1, 2]);
      expect(run.state.stats.counters['agent:tool_calls']).toBe(2);
    }
  });

  it('keep within what the runs above leave to a child', async () => {
    const { seen, tool } = world();
    const child = defineAgent({
      name: 'looker',
      description: 'Looks.',
      mode: 'chat',
      model: {
        id: 'looking',
        model: streamingModel(({ replies }) =>
          replies > 0 ? [{ text: 'seen' }] : [1, 2, 3, 4, 5].map((at) => look(at)),
        ),
      },
      tools: [tool('look')],
    });
    const run = start(
      [[{ call: 'looker', args: { task: 'Look.' } }]],
      [agentTool({ agent: child })],
      { limits: { toolCalls: 3 } },
    );
    await run.result;
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.length).toBeLessThanOrEqual(3);
    expect(run.state.stats.counters['agent:tool_calls']).toBeLessThanOrEqual(3);
  });

  it('count first: a call before them has no room that they took', async () => {
    const { seen, tool } = world();
    const write = tool('write', { effect: 'idempotent' });
    const run = start([[look(1, 'write'), look(2)]], [tool('look'), write], {
      limits: { toolCalls: 1 },
    } as never);
    expect((await run.result).status).toBe('limit_exceeded');
    expect(seen.map(({ tool: name }) => name)).toEqual(['look']);
    expect(told(run.events)).toContain('after 1.2 ok 1');
    expect(run.state.stats.counters['agent:tool_calls']).toBe(1);
  });

  it('tell the model of arguments that do not fit, and of errors, as ever', async () => {
    const { seen, tool } = world(({ at }) => {
      if (at === 1) throw new ToolError('there is no 1');
      if (seen.length < 3) throw new Error('the line is dead');
      return 'seen at last';
    });
    const run = start([[look(1), { call: 'look', args: { at: 'x' } }, look(2)]], [tool('look')]);
    expect(await run.result).toMatchObject({ status: 'success' });
    expect(told(run.events).filter((line) => line.startsWith('after'))).toEqual([
      'after 1.1 error 1',
      'after 1.2 rejected 1',
      'after 1.3 ok 2',
    ]);
    expect(seen.map(({ at, attempt }) => [at, attempt])).toEqual([
      [1, 1],
      [2, 1],
      [2, 2],
    ]);
  });

  it('are counted when the reply fails, and the next reply gives other ids', async () => {
    const { seen, tool } = world();
    const overloaded = Object.assign(new Error('Overloaded'), { statusCode: 503 });
    const run = start([[look(1), { fail: overloaded }], [look(2)]], [tool('look')]);
    expect(await run.result).toMatchObject({ status: 'success' });
    expect(seen.map(({ at, callId }) => [at, callId])).toEqual([
      [1, '1.1'],
      [2, '1.2'],
    ]);
    expect(told(run.events).filter((line) => line.startsWith('after'))).toEqual([
      'after 1.1 ok 1',
      'after 1.2 ok 1',
    ]);
    expect(run.state.stats.counters['agent:tool_calls']).toBe(2);
  });

  it('are counted when the reply cannot be read', async () => {
    const { seen, tool } = world();
    const run = start([[look(1), { call: 'look', args: '{"at": 2' }]], [tool('look')]);
    expect(await run.result).toMatchObject({ status: 'success' });
    expect(seen.map(({ at }) => at)).toEqual([1]);
    expect(told(run.events)).toContain('after 1.1 ok 1');
    expect(run.state.stats.counters['agent:tool_calls']).toBe(1);
  });

  it.each(['cancel', 'interrupt', 'steer'] as const)(
    'are counted when a %s comes while the model writes',
    async (how) => {
      const ran = gate();
      const { seen, tool } = world(({ at }) => (ran.open(), `seen ${String(at)}`));
      const written = gate();
      const run = start([[look(1), { wait: written.opened }, look(2)]], [tool('look')]);
      await ran.opened;
      await new Promise((resolve) => setImmediate(resolve));
      if (how === 'cancel') run.cancel();
      else run.send('Stop.', { kind: how });
      if (how === 'steer') written.open();
      const step = await run.result;
      expect(step.status).toBe(how === 'cancel' ? 'canceled' : 'success');
      expect(seen.map(({ at }) => at)).toEqual(how === 'steer' ? [1, 2] : [1]);
      expect(told(run.events).filter((line) => line === 'after 1.1 ok 1')).toHaveLength(1);
      expect(run.state.stats.counters['agent:tool_calls']).toBe(how === 'steer' ? 2 : 1);
    },
  );

  it('count what they report', async () => {
    const { tool } = world((_seen, { count, gauge }) => {
      count('shop:looks', 3);
      gauge('shop:level', 7);
    });
    const run = start([[look(1)]], [tool('look')]);
    await run.result;
    expect(run.state.stats.counters['shop:looks']).toBe(3);
    expect(run.state.stats.gauges['shop:level']).toBe(7);
  });

  it('that do not hear their end are left behind, and run again in their turn', async () => {
    const clock = createFakeClock();
    const begun = gate();
    const { seen, tool } = world(({ at }) => {
      begun.open();
      return seen.length > 1 ? `seen ${String(at)}` : new Promise(() => undefined);
    });
    const run = start([[look(1), { wait: begun.opened }]], [tool('look')], { run: { clock } });
    await begun.opened;
    clock.advance(2_000);
    expect(await run.result).toMatchObject({ status: 'success', usage: { toolCalls: 1 } });
    expect(seen.map(({ callId, attempt }) => [callId, attempt])).toEqual([
      ['1.1', 1],
      ['1.1', 1],
    ]);
  });

  it('with a result of 10 MB give what their turn would, which is cut', async () => {
    const { seen, tool } = world(() => 'x'.repeat(10_000_000));
    const large = tool('look', { maxResultBytes: 4_000_000 });
    const run = start([[look(1)]], [large]);
    expect(await run.result).toMatchObject({ status: 'success', usage: { toolCalls: 1 } });
    expect(seen.map(({ callId }) => callId)).toEqual(['1.1', '1.1']);
    const results = JSON.stringify(run.entries);
    expect(results.length).toBeGreaterThan(200_000);
    expect(results.length).toBeLessThan(300_000);
  });

  it.each<[string, () => unknown]>([
    ['undefined', () => undefined],
    ['null', () => null],
    ['an error that cannot be read', () => new Proxy(new Error('no'), { get: hostile })],
    ['an object that cannot be written', () => ({ toString: hostile, [Symbol.toPrimitive]: 1 })],
    ['a message that throws', () => Object.defineProperty({}, 'message', { get: hostile })],
  ])('that throw %s end as errors', async (_what, thrown) => {
    const { tool } = world(() => {
      throw thrown();
    });
    const run = start([[look(1)]], [tool('look', { retry: { attempts: 1 } })]);
    expect(await run.result).toMatchObject({ status: 'success', usage: { toolCalls: 1 } });
    expect(told(run.events)).toContain('after 1.1 error 1');
  });

  it.each<[string, () => unknown]>([
    ['a function', () => () => undefined],
    ['a circle', circle],
    ['a big integer', () => 1n],
    [
      'what throws when it is read',
      () => ({
        get at() {
          return hostile();
        },
      }),
    ],
  ])('that return %s end, whatever it is worth', async (_what, returned) => {
    const { tool } = world(returned);
    const run = start([[look(1)]], [tool('look', { retry: { attempts: 1 } })]);
    expect(await run.result).toMatchObject({ status: 'success', usage: { toolCalls: 1 } });
    expect(told(run.events).filter((line) => line.startsWith('after 1.1'))).toHaveLength(1);
  });

  it('that begin outside work are counted when their reply breaks, and wait for nothing', async () => {
    const { tool } = world(({ at }) => (at === 1 ? external() : 'seen'));
    const refused = Object.assign(new Error('Overloaded'), { statusCode: 503 });
    const run = start([[look(1), { fail: refused }], [look(2)]], [tool('look')]);
    expect(await run.result).toMatchObject({ status: 'success', usage: { toolCalls: 2 } });
    expect(run.state.pending ?? []).toEqual([]);
  });

  it.each([
    { name: 'at once', isBroken: false },
    { name: 'of a reply that breaks are forgotten, and ask again', isBroken: true },
  ])('that ask a person wait, and go on with the answer: $name', async ({ isBroken }) => {
    const answers: unknown[] = [];
    const { tool } = world((_seen, { answer }) => {
      answers.push(answer);
      return answer === undefined ? ask({ question: 'Where?' }) : `seen ${JSON.stringify(answer)}`;
    });
    const refused = Object.assign(new Error('Overloaded'), { statusCode: 503 });
    const replies = isBroken ? [[look(1), { fail: refused }], [look(1)]] : [[look(1)]];
    const run = start([...replies, [{ text: 'done' }]], [tool('look')]);
    await run.resultOrPending();
    expect(run.pending()).toMatchObject([{ id: 'q1', question: 'Where?' }]);
    run.answer('q1', 'here');

    expect(await run.result).toMatchObject({ status: 'success', usage: { toolCalls: 1 } });
    expect(answers.at(-1)).toBe('here');
  });

  it('do not begin in a fork that takes results of its source', async () => {
    const { seen, tool } = world();
    const run = start([[look(1)], [{ text: 'done' }], [look(1)]], [tool('look')]);
    await run.result;
    const fork = run.fork({ iteration: 1 }, { effects: 'reuse' });

    expect(await fork.result).toMatchObject({ status: 'success', usage: { toolCalls: 1 } });
    expect(told(fork.events).filter((line) => line.startsWith('after'))).toEqual([
      'after 1.1 ok 0',
    ]);
    expect(seen).toHaveLength(1);
  });
});
