import { createOpenAI } from '@ai-sdk/openai';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import type { UnfailedOutcome } from '../../src/core/contract/host-outcome.ts';
import { createCallModel } from '../../src/activities/call-model.ts';
import type { ModelOrder } from '../../src/core/contract/host-order.ts';
import type { Chunk, ChunkMarker } from '../../src/core/streaming/chunk.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { StreamPolicy } from '../../src/define/model/model-entry.ts';
import { compileAgent } from '../../src/registry/compile-agent.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { createChunkBus, type ChunkBus } from '../../src/worker/streaming/chunk-bus.ts';
import { sse } from '../support/aimock.ts';

const order: ModelOrder = {
  agent: 'tester',
  runId: 'run',
  agentPath: 'tester',
  model: 'm',
  purpose: 'reply',
  iteration: 1,
  triesBefore: 0,
  lastTurn: false,
  time: 0,
  transcript: { epoch: 1, length: 0, digest: '' },
};

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const head = { id: 'c1', created: 1, model: 'm' };

/** What a provider answers: whole or as a stream, as it was asked. */
function answer(streams: boolean): Response {
  const message = { role: 'assistant', content: 'Done.' };
  if (!streams) {
    return Response.json({
      ...head,
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage,
    });
  }
  const events = [
    { ...head, choices: [{ index: 0, delta: { content: 'Do' } }] },
    { ...head, choices: [{ index: 0, delta: { content: 'ne.' } }] },
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage },
  ];
  return new Response(sse(events), { headers: { 'content-type': 'text/event-stream' } });
}

/** A worker with one agent, and what its provider was asked: to stream or not. */
function workerWith(
  policies: { readonly agent?: StreamPolicy; readonly entry?: StreamPolicy },
  onRequest: (signal: AbortSignal) => Promise<void> = async () => undefined,
): {
  readonly bus: ChunkBus;
  readonly asked: boolean[];
  readonly call: (environment?: MockActivityEnvironment) => Promise<UnfailedOutcome>;
} {
  const asked: boolean[] = [];
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    const streams = (JSON.parse(init?.body as string) as { stream?: boolean }).stream === true;
    asked.push(streams);
    await onRequest(init?.signal as AbortSignal);
    return answer(streams);
  };
  const { agent: own, entry } = policies;
  const model = createOpenAI({ apiKey: 'sk-test-key-0123456789', fetch }).chat('test-model');
  const agent = defineAgent({
    name: 'tester',
    mode: 'chat',
    model: { id: 'm', model, ...(entry === undefined ? {} : { stream: entry }) },
    ...(own === undefined ? {} : { stream: own }),
  });
  const registry = createRegistry({ agents: [agent] });
  const compiled = compileAgent(agent, registry.models);
  if (compiled.kind !== 'agent') throw new Error('Expected an agent that compiles.');
  const { spec } = compiled;
  // No run depends on the choice.
  expect(JSON.stringify(spec)).not.toContain('"stream"');
  const bus = createChunkBus();
  const callModel = createCallModel({
    registry,
    transcripts: {
      resolve: () => Promise.resolve({ head: { spec, task: { text: 'Go' } }, messages: [] }),
      remember: () => undefined,
    },
    chunks: bus,
  });
  const call = (environment = new MockActivityEnvironment()): Promise<UnfailedOutcome> =>
    environment.run(callModel, order) as Promise<UnfailedOutcome>;
  return { bus, asked, call };
}

/** What a reader that comes now gets until the bus closes. */
async function itemsOf(
  bus: ChunkBus,
  filter: { readonly runId?: string; readonly rootRunId?: string } = { runId: 'run' },
): Promise<readonly string[]> {
  const items: string[] = [];
  const shown = (item: Chunk | ChunkMarker): string => ('delta' in item ? item.delta : item.kind);
  for await (const item of bus.subscribe(filter)) items.push(shown(item));
  return items;
}

describe("stream: 'auto' [row 54]", () => {
  it.each([
    { policies: {}, streams: true },
    { policies: { agent: 'always' as const, entry: 'auto' as const }, streams: true },
    { policies: { agent: 'auto' as const }, streams: false },
    { policies: { entry: 'auto' as const }, streams: false },
  ])('asks without a reader as $policies say', async ({ policies, streams }) => {
    const { asked, call } = workerWith(policies);

    expect(await call()).toMatchObject({
      kind: 'reply',
      reply: { parts: [{ text: 'Done.' }], usage: { inputTokens: 3, outputTokens: 2 } },
    });
    expect(asked).toEqual([streams]);
  });

  it.each([
    { name: 'the run', filter: { runId: 'run' }, streams: true },
    { name: 'its tree', filter: { rootRunId: 'run' }, streams: true },
    { name: 'another run', filter: { runId: 'other' }, streams: false },
  ])('asks as a reader of $name needs it', async ({ filter, streams }) => {
    const { asked, bus, call } = workerWith({ agent: 'auto' });
    const read = itemsOf(bus, filter);

    await call();
    bus.close();

    expect(asked).toEqual([streams]);
    expect((await read).join('')).toBe(streams ? 'Done.end' : '');
  });

  it('asks to stream for a page that reads events and text, not for one that reads events', async () => {
    const { asked, bus, call } = workerWith({ agent: 'auto' });
    const events = bus.subscribeEvents({ runId: 'run' });
    await call();
    bus.subscribeEvents({ runId: 'run', text: true });
    await call();

    expect(asked).toEqual([false, true]);
    events.unsubscribe();
    bus.close();
  });

  it('tells a reader who comes late that the reply comes whole', async () => {
    let late: Promise<readonly string[]> | undefined;
    const worker = workerWith({ agent: 'auto' }, async () => {
      late = itemsOf(worker.bus);
    });
    await worker.call();
    worker.bus.close();

    expect(await late).toEqual(['not_streamed', 'Done.', 'end']);
  });

  it('charges an estimate of the prompt for a call that was aborted', async () => {
    const environment = new MockActivityEnvironment();
    const { call } = workerWith({ agent: 'auto' }, (signal) => {
      setImmediate(() => environment.cancel());
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    });
    const result = await call(environment);

    expect(result).toMatchObject({ kind: 'aborted', usageKnown: false });
    expect(result.kind === 'aborted' && result.estimated?.totalTokens).toBeGreaterThan(0);
  });

  it('refuses another word', () => {
    const stream = 'never' as unknown as StreamPolicy;

    expect(() => defineAgent({ name: 'tester', model: 'openai/gpt-5', stream })).toThrow(
      /`stream` to be one of always, auto/,
    );
    expect(() =>
      createRegistry({ agents: [], models: [{ id: 'm', model: 'openai/gpt-5', stream }] }),
    ).toThrow(/`stream`.* to be one of always, auto/);
  });
});
