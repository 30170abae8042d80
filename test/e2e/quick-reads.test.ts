/** Reads that a worker has seen to be quick, on a server. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage?.close());

/** One call in each of so many iterations, then an answer. */
const callsUntil =
  (last: number): ModelFunction =>
  async ({ iteration }) =>
    iteration > last ? 'done' : { toolCalls: [{ name: 'look', args: { at: iteration } }] };

/** Reads at once; from `slowFrom` on, only when `free` is called or the call is stopped. */
function reader(options: { readonly slowFrom?: number; readonly last: number }) {
  const { slowFrom = Infinity, last } = options;
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
      if (Number(at) < slowFrom) return `seen ${String(at)}`;
      begin();
      await Promise.race([
        freed,
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('stopped')));
        }),
      ]);
      return 'seen late';
    },
  });
  const agent: AgentDefinition = defineAgent({
    name: 'reader',
    mode: 'chat',
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
    const { agent } = reader({ last: 30 });
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('reader', { task: 'Look.' });
    const step = await run.result();

    expect(step).toMatchObject({ status: 'success', value: 'done' });
    // The first local activity loads the agent.
    const kinds = (await kindsOfCalls(run)).slice(1);
    expect(kinds.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 'regular'));
    expect(kinds.slice(20)).toEqual(Array.from({ length: 10 }, () => 'local'));
    const { events } = await stage.client.workflow.getHandle(run.id).fetchHistory();
    const replies = (events ?? []).flatMap((event, index) =>
      event.activityTaskScheduledEventAttributes?.activityType?.name === 'callModel' ? [index] : [],
    );
    const last = replies.slice(-8);
    const perTurn = last.slice(1).map((index, at) => index - (last[at] ?? 0));
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(7);
    expect(step.stats.counters['agent:tool_calls']).toBe(30);
    await stage.replay(run);
  });

  it('lets messages and queries in when it is slow all at once, and ends under its id', async () => {
    const { agent, callsOf, begun, free } = reader({ slowFrom: 22, last: 22 });
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('reader', { task: 'Look.' });
    await begun;

    const times = await Promise.all([
      msOf(run.status()),
      msOf(run.send('Look again.', { kind: 'steer' })),
    ]);
    expect(Math.max(...times)).toBeLessThan(1_500);
    const isRegular = async (): Promise<boolean> =>
      (await kindsOfCalls(run)).at(-1) === 'regular';
    await expect.poll(isRegular, { timeout: 10_000 }).toBe(true);
    free();
    expect(await run.result()).toMatchObject({ status: 'success' });
    expect((await kindsOfCalls(run)).slice(-3)).toEqual(['local', 'local', 'regular']);
    expect(callsOf.get('22.1')).toBe(2);
    const events = await run.events();
    const ends = events.filter(({ type }) => type === 'agent:tool_call:after');
    expect(ends.at(-1)).toMatchObject({ callId: '22.1', outcome: 'ok', attempts: 1 });
    await stage.replay(run);
  });

  it('is canceled at once while it is tried', async () => {
    const { agent, begun } = reader({ slowFrom: 22, last: 22 });
    const { everloop } = await stage.serve([agent]);
    const run = await everloop.start('reader', { task: 'Look.' });
    await begun;
    const took = await msOf(run.cancel());
    expect(took).toBeLessThan(1_500);
    expect(await run.result()).toMatchObject({ status: 'canceled' });
    await stage.replay(run);
  });
});
