/**
 * `streaming`: what readers lose, and what a piece of text costs the processor.
 *
 * The readers are clients over HTTP, on a server with its own settings. `first_piece_lost` counts
 * the runs of which a stream that opened right after the start lacked text, `late_reader_lost` those
 * of which a reader that came in the middle of the reply did. `chunk_ratio` compares the whole model
 * activity of a worker, from its order to the bus, with the provider's `doStream` read to its end;
 * both get the same bytes, without a network. `stream_cpu_ratio` compares a call over HTTP whose
 * pieces are joined with one whose pieces are not, both paced as a model writes;
 * `parsed_us_per_chunk` is the lower bound for a reader without the AI SDK.
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV3 } from '@ai-sdk/provider';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createCallModel } from '../src/activities/call-model.ts';
import type { ModelOrder } from '../src/core/contract/host-order.ts';
import { defineAgent } from '../src/define/agent/define-agent.ts';
import { compileAgent } from '../src/registry/compile-agent.ts';
import { createRegistry } from '../src/registry/registry.ts';
import { createChunkBus } from '../src/worker/streaming/chunk-bus.ts';
import { figure, median, type Bench, type Figure } from './support/figure.ts';
import { streamCosts } from './support/stream-cost.ts';
import { countLosses } from './support/stream-readers.ts';

const RUNS = 50;
const PUBLISHED = 200_000;
const PIECES = 4_000;
const PAIRS = 9;

/** The benchmark `streaming`. */
export const streamingBench: Bench = {
  name: 'streaming',
  about: 'text that readers lose, and processor time of a piece',
  run: async () => {
    const publishUs = median([1, 2, 3, 4, 5].map(() => publishCost()));
    const { whole, alone } = await chunkCosts();
    const { joined, plain, parsed, network } = await streamCosts();
    const { first, late } = await countLosses(RUNS);
    return [
      figure('first_piece_lost', first, `of ${RUNS}`, '<= 0'),
      figure('late_reader_lost', late, `of ${RUNS}`, '<= 0'),
      figure('publish_us', publishUs, 'us', '<= 10'),
      figure(
        'chunk_ratio',
        median(whole.map((us, pair) => us / (alone[pair] ?? 0))),
        'x',
        '<= 1.5',
      ),
      figure('chunk_us', median(whole), 'us', '', median(alone)),
      figure('stream_cpu_us_per_chunk', median(joined), 'us', '', median(plain)),
      figure(
        'stream_cpu_ratio',
        median(joined.map((us, round) => us / (plain[round] ?? 0))),
        'x',
        '<= 0.8',
      ),
      figure('parsed_us_per_chunk', median(parsed), 'us', ''),
      figure('network_us_per_chunk', median(network), 'us', ''),
    ] satisfies readonly Figure[];
  },
};

/** Microseconds of processor time for each unit of `count`. */
async function cpuUs(count: number, work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

/** A piece of four characters, as tokens have, that nothing reads. */
function publishCost(): number {
  const bus = createChunkBus();
  const origin = { rootRunId: 'r', runId: 'r', agentPath: 'a', iteration: 1, attempt: 1 };
  const before = process.cpuUsage();
  for (let seq = 1; seq <= PUBLISHED; seq++) {
    bus.publish({ ...origin, seq, kind: 'text', delta: ' and' });
  }
  const { user, system } = process.cpuUsage(before);
  bus.close();
  return (user + system) / PUBLISHED;
}

/** The cost of a piece in pairs: of a whole call, and of the provider alone. */
async function chunkCosts(): Promise<{
  readonly whole: readonly number[];
  readonly alone: readonly number[];
}> {
  const model = providerOf(PIECES);
  const call = callOf(model);
  const wholeCost = (): Promise<number> => cpuUs(PIECES, call);
  const aloneCost = (): Promise<number> => cpuUs(PIECES, () => readAlone(model));
  for (let round = 0; round < 3; round++) {
    await wholeCost();
    await aloneCost();
  }
  const whole: number[] = [];
  const alone: number[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    // Each goes first in half of the pairs: the second pays for the garbage of the first.
    if (pair % 2 === 0) whole.push(await wholeCost());
    alone.push(await aloneCost());
    if (pair % 2 === 1) whole.push(await wholeCost());
  }
  return { whole, alone };
}

async function readAlone(model: LanguageModelV3): Promise<void> {
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Go' }] }];
  const { stream } = await model.doStream({ prompt });
  const reader = stream.getReader();
  while (!(await reader.read()).done);
}

/** The model activity of a worker whose bus has no reader. */
function callOf(model: LanguageModelV3): () => Promise<unknown> {
  const agent = defineAgent({ name: 'talker', mode: 'chat', model: { id: 'm', model } });
  const registry = createRegistry({ agents: [agent] });
  const compiled = compileAgent(agent, registry.models);
  if (compiled.kind !== 'agent') throw new Error('Expected an agent that compiles.');
  const head = { spec: compiled.spec, task: { text: 'Go' } };
  const callModel = createCallModel({
    registry,
    transcripts: {
      resolve: () => Promise.resolve({ head, messages: [] }),
      remember: () => undefined,
    },
    chunks: createChunkBus(),
  });
  let iteration = 0;
  return () => {
    iteration += 1;
    const order: ModelOrder = {
      agent: 'talker',
      runId: 'run',
      agentPath: 'talker',
      model: 'm',
      purpose: 'reply',
      iteration,
      triesBefore: 0,
      lastTurn: false,
      time: 0,
      transcript: { epoch: 1, length: 0, digest: '' },
    };
    return new MockActivityEnvironment().run(callModel, order);
  };
}

/** A provider of the AI SDK that streams `pieces` pieces; its bytes come without a network. */
function providerOf(pieces: number): LanguageModelV3 {
  const event = (choice: object, more: object = {}): string =>
    `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, ...choice }], ...more })}\n\n`;
  const usage = { prompt_tokens: 10, completion_tokens: pieces, total_tokens: pieces + 10 };
  const texts = [
    ...Array.from({ length: pieces }, () =>
      event({ delta: { role: 'assistant', content: ' and' }, finish_reason: null }),
    ),
    event({ delta: {}, finish_reason: 'stop' }, { usage }),
    'data: [DONE]\n\n',
  ];
  const bytes = texts.map((text) => new TextEncoder().encode(text));
  const body = (): ReadableStream<Uint8Array> => {
    let next = 0;
    return new ReadableStream({
      pull: (controller) => {
        const some = bytes[next++];
        if (some === undefined) controller.close();
        else controller.enqueue(some);
      },
    });
  };
  return createOpenAICompatible({
    name: 'mock',
    baseURL: 'http://provider.invalid/v1',
    includeUsage: true,
    fetch: async () => new Response(body(), { headers: { 'content-type': 'text/event-stream' } }),
  })('test-model');
}
