/** Reads that a worker has seen to be quick, on a server. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { stockTools } from '../../examples/docs/tools.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { withinMs } from '../support/extent.ts';
import { answer } from '../support/runs.ts';
import { streamingModel } from '../support/streamed-calls.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage?.close());

/** One call in each of so many iterations, then an answer. In `chat` they would run beside replies. */
const callsUntil =
  (last: number, tool = 'look', argsOf = (at: number) => `at: ${at}`): ModelFunction =>
  async ({ iteration }) =>
    iteration > last
      ? answer()
      : `<action>\ntool: ${tool}\nargs:\n  ${argsOf(iteration)}\n</action>`;

interface ReaderOptions {
  readonly last: number;
  /** From this call on, it reads only when `free` is called or, if it hears, the call is stopped. */
  readonly slowFrom?: number;
  readonly hears?: boolean;
  /** From this call on, its results are larger than those of quick tools. */
  readonly largeFrom?: number;
}

/** Reads at once, unless its options say otherwise. */
function reader(options: ReaderOptions) {
  const { slowFrom = Infinity, largeFrom = Infinity, hears = true, last } = options;
  const callsOf = new Map<string, number>();
  let begin = (): void => undefined;
  let free = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const freed = new Promise<void>((resolve) => (free = resolve));
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    parameters: { type: 'object', properties: { at: { type: 'integer' } }, required: ['at'] },
    effect: 'read',
    execute: async ({ at }, { callId, signal }) => {
      callsOf.set(callId, (callsOf.get(callId) ?? 0) + 1);
      if (Number(at) >= largeFrom) return 'seen '.repeat(10_000);
      if (Number(at) < slowFrom) return `seen ${Number(at)}`;
      begin();
      await Promise.race([
        freed,
        new Promise((_resolve, reject) => {
          if (hears) signal.addEventListener('abort', () => reject(new Error('stopped')));
        }),
      ]);
      return 'seen late';
    },
  });
  const agent: AgentDefinition = defineAgent({
    name: 'reader',
    mode: 'react',
    model: { id: 'quick', model: callsUntil(last) },
    tools: [look],
    limits: { iterations: 60 },
  });
  return { agent, callsOf, begun, free: () => free() };
}

/** The kinds of what the history has of tool calls: one for each call. */
async function kindsOfCalls(run: RunHandle): Promise<readonly string[]> {
  const { events } = await stage.client.workflow.getHandle(run.id).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const { markerRecordedEventAttributes: marker } = event;
    const type = event.activityTaskScheduledEventAttributes?.activityType?.name;
    if (marker?.markerName === 'core_local_activity') return ['local'];
    return type === 'callTool' ? ['regular'] : [];
  });
}

async function msOf(work: Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work;
  return performance.now() - startedAt;
}

describe('a tool that reads', () => {
  it('runs as a local activity after twenty calls, with seven events a turn', async () => {
    const tools = stockTools(
      async () => 3,
      async () => 'fine',
    );
    const agent = defineAgent({
      name: 'shop',
      mode: 'react',
      model: { id: 'quick', model: callsUntil(30, 'in_stock', (at) => `product: '${at}'`) },
      tools,
      limits: { iterations: 60 },
    });
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('shop', { task: 'Look.' });
    const step = await run.result();

    expect(step).toMatchObject({ status: 'success', value: 'done' });
    // The first local activity loads the agent.
    const kinds = (await kindsOfCalls(run)).slice(1);
    expect(kinds.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 'regular'));
    // A try that a busy machine holds up is followed by a regular call.
    expect(kinds.slice(20)).toContain('local');
    const { events } = await stage.client.workflow.getHandle(run.id).fetchHistory();
    const replies = (events ?? []).flatMap((event, index) =>
      event.activityTaskScheduledEventAttributes?.activityType?.name === 'callModel' ? [index] : [],
    );
    const last = replies.slice(-8);
    const perTurn = last.slice(1).map((index, at) => index - (last[at] ?? 0));
    expect(Math.min(...perTurn)).toBeLessThanOrEqual(7);
    expect(step.stats.counters['agent:tool_calls']).toBe(30);
    await stage.replay(run);
  });

  it('lets messages and queries in when it is slow all at once, and ends under its id', async () => {
    const { agent, callsOf, begun, free } = reader({ slowFrom: 22, last: 22, hears: false });
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('reader', { task: 'Look.' });
    await begun;

    const times = await Promise.all([
      msOf(run.status()),
      msOf(run.send('Look again.', { kind: 'steer' })),
    ]);
    expect(Math.max(...times)).toBeLessThan(withinMs(1_500));
    const isRegular = async (): Promise<boolean> => (await kindsOfCalls(run)).at(-1) === 'regular';
    await expect.poll(isRegular, { timeout: 10_000 }).toBe(true);
    free();
    expect(await run.result()).toMatchObject({ status: 'success' });
    expect((await kindsOfCalls(run)).at(-1)).toBe('regular');
    // A busy machine may end the try before the tool begins.
    expect([1, 2]).toContain(callsOf.get('22.1'));
    const events = await run.events();
    const ends = events.filter(({ type }) => type === 'agent:tool_call:after');
    expect(ends.at(-1)).toMatchObject({ callId: '22.1', outcome: 'ok', attempts: 1 });
    await stage.replay(run);
  });

  it('runs as a call of its own when its result has no room in the task', async () => {
    const { agent, callsOf } = reader({ largeFrom: 22, last: 22 });
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('reader', { task: 'Look.' });

    expect(await run.result()).toMatchObject({ status: 'success', usage: { toolCalls: 22 } });
    expect((await kindsOfCalls(run)).at(-1)).toBe('regular');
    // A busy machine may end the try before the tool begins.
    expect([1, 2]).toContain(callsOf.get('22.1'));
    const ends = (await run.events()).filter(({ type }) => type === 'agent:tool_call:after');
    expect(ends.at(-1)).toMatchObject({ callId: '22.1', outcome: 'ok', attempts: 1 });
    await stage.replay(run);
  });

  it.each([true, false])('is canceled at once while it is tried; it hears: %s', async (hears) => {
    const { agent, begun } = reader({ slowFrom: 22, last: 22, hears });
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('reader', { task: 'Look.' });
    await begun;
    const took = await msOf(run.cancel());
    expect(took).toBeLessThan(withinMs(1_500));
    expect(await run.result()).toMatchObject({ status: 'canceled' });
    await stage.replay(run);
  });
});

describe('[R18] reads beside a reply', () => {
  it('hide the time of the tool, and leave six events a turn', async () => {
    const callIds: string[] = [];
    let ran = (): void => undefined;
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      parameters: { type: 'object', properties: { at: { type: 'integer' } }, required: ['at'] },
      effect: 'read',
      execute: ({ at }, { callId }) => {
        callIds.push(callId);
        ran();
        return `seen ${Number(at)}`;
      },
    });
    const model = streamingModel(({ number }) => {
      if (number > 6) return [{ text: 'done' }];
      // The reply ends only when its call has ended.
      const wait = new Promise<void>((resolve) => (ran = resolve));
      return [{ call: 'look', args: { at: number } }, { wait }];
    });
    const agent = defineAgent({
      name: 'beside',
      mode: 'chat',
      model: { id: 'streaming', model },
      tools: [look],
    });
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('beside', { task: 'Look.' });
    const step = await run.result();

    expect(step).toMatchObject({ status: 'success', value: 'done' });
    expect(step.stats.counters['agent:tool_calls']).toBe(6);
    expect(callIds).toEqual(['1.1', '2.1', '3.1', '4.1', '5.1', '6.1']);
    expect((await kindsOfCalls(run)).slice(1)).toEqual([]);
    const { events } = await stage.client.workflow.getHandle(run.id).fetchHistory();
    const replies = (events ?? []).flatMap((event, index) =>
      event.activityTaskScheduledEventAttributes?.activityType?.name === 'callModel' ? [index] : [],
    );
    const perTurn = replies.slice(1).map((index, at) => index - (replies[at] ?? 0));
    expect(perTurn).toEqual([6, 6, 6, 6, 6, 6]);
    await stage.replay(run);
  });

  it('count once when the reply fails and the model is asked again', async () => {
    const looks: string[] = [];
    const look = defineTool({
      name: 'look',
      description: 'Looks.',
      effect: 'read',
      execute: (_args, { callId }) => void looks.push(callId),
    });
    const overloaded = Object.assign(new Error('Overloaded'), {
      statusCode: 503,
      responseHeaders: { 'retry-after-ms': '1' },
    });
    const model = streamingModel(({ number }) => {
      if (number > 2) return [{ text: 'done' }];
      return [{ call: 'look', args: {} }, ...(number === 1 ? [{ fail: overloaded }] : [])];
    });
    const agent = defineAgent({
      name: 'fails',
      mode: 'chat',
      model: { id: 'streaming', model },
      tools: [look],
    });
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('fails', { task: 'Look.' });
    const step = await run.result();
    expect(step.stats.counters['agent:tool_calls']).toBe(looks.length);
    const events = await run.events();
    const ends = events.flatMap((event) =>
      event.type === 'agent:tool_call:after' ? [event.callId] : [],
    );
    expect(ends).toEqual(looks);
    expect(ends).toEqual(['1.1', '1.2']);
    await stage.replay(run);
  });

  it('let messages, queries and a cancel in while one of them does not end', async () => {
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const look = defineTool({
      name: 'look',
      description: 'Looks for ever.',
      effect: 'read',
      execute: () => {
        begin();
        return new Promise<string>(() => undefined);
      },
    });
    const model = streamingModel(() => [{ call: 'look', args: {} }]);
    const agent = defineAgent({
      name: 'endless',
      mode: 'chat',
      model: { id: 'streaming', model },
      tools: [look],
    });
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('endless', { task: 'Look.' });
    await begun;
    const times = [
      await msOf(run.status()),
      await msOf(run.send('Look again.', { kind: 'steer' })),
      await msOf(run.cancel()),
    ];
    expect(Math.max(...times)).toBeLessThan(withinMs(1_500));
    expect(await run.result()).toMatchObject({ status: 'canceled', usage: { modelCalls: 1 } });
    const ends = (await run.events()).filter(({ type }) => type === 'agent:tool_call:after');
    expect(ends.map((end) => 'outcome' in end && end.outcome)).toEqual(['canceled']);
    await stage.replay(run);
  });
});
