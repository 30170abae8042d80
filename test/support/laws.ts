/**
 * Laws of the core, as named functions: each takes what it is about and says what is broken by a
 * failed assertion. Property tests call them with arbitrary values.
 */
import { ReadableStream } from 'node:stream/web';
import { expect } from 'vitest';
import type { LanguageModel } from '../../src/define/model/language-model.ts';
import { modelCollector } from '../../src/models/model-stream.ts';
import type { StreamPart } from '../../src/models/specification.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import { acceptInput, type Inbox, type RunInput } from '../../src/core/run/inbox.ts';
import { buildRequest, readTurn } from '../../src/core/modes/modes.ts';
import {
  apply,
  scratchpadMessages,
  type Carried,
  type RunState,
} from '../../src/core/run/run-state.ts';
import type { Json } from '../../src/core/base/json.ts';
import { firstBreach } from '../../src/core/limits/breach.ts';
import type { Limit } from '../../src/core/contract/limit.ts';
import type { ModelChunk, Reply } from '../../src/core/contract/model.ts';
import type { Numbers, Stats } from '../../src/core/contract/stats.ts';
import { EMPTY_STATS } from '../../src/core/contract/stats.ts';
import { tally } from '../../src/core/stats/tally.ts';
import { collect, type Chunk } from '../../src/core/streaming/chunk.ts';
import type { Turn } from '../../src/core/contract/turn.ts';
import { isPinned, type Entry } from '../../src/core/contract/entry.ts';
import { createPageReader, pageOf, type PagePosition } from '../../src/core/contract/page.ts';
import { cpuMsOf } from './cpu-time.ts';
import { chatSpec, reactSpec } from '../core/runs/spec-fixture.ts';

/** Counters of all events are those of the first and of the later ones, added. */
export function tallyAddsOverConcatenation(
  first: readonly AgentEvent[],
  later: readonly AgentEvent[],
): void {
  const whole = [...first, ...later].reduce(tally, EMPTY_STATS);
  const parts = [first, later].map((events) => events.reduce(tally, EMPTY_STATS).counters);
  expect(whole.counters).toEqual(sumOf(parts));
}

/** No event lowers a counter, and each counter is equal to its twin in a run without children. */
export function countersNeverFall(events: readonly AgentEvent[]): void {
  let stats: Stats = EMPTY_STATS;
  for (const event of events) {
    const next = tally(stats, event);
    for (const [key, value] of Object.entries(stats.counters)) {
      expect(next.counters[key], key).toBeGreaterThanOrEqual(value);
    }
    stats = next;
  }
  for (const [key, value] of Object.entries(stats.counters)) {
    if (!key.startsWith('$self:')) expect(stats.counters[`$self:${key}`], key).toBe(value);
  }
}

/** A state that went through JSON after any event goes on like one that did not. */
export function applySurvivesJson(
  state: RunState,
  events: readonly { readonly event: AgentEvent; readonly carried: Carried }[],
): void {
  let plain = state;
  let copied = state;
  for (const { event, carried } of events) {
    plain = apply(plain, event, carried);
    copied = apply(roundTrip(copied), event, roundTrip(carried));
    expect(roundTrip(copied)).toEqual(plain);
  }
}

/** Once a limit on counters is crossed it stays so, and the first in the list never moves back. */
export function firstBreachIsMonotone(
  limits: readonly Limit[],
  events: readonly AgentEvent[],
): void {
  let stats: Stats = EMPTY_STATS;
  let place = Infinity;
  for (const event of events) {
    stats = tally(stats, event);
    const breach = firstBreach(limits, { counters: stats.counters, gauges: {} });
    const next = breach === null ? Infinity : limits.indexOf(breach.limit);
    expect(next).toBeLessThanOrEqual(place);
    place = next;
  }
}

/** The first breach in a state stays, whatever happens and whatever limits are set. */
export function firstBreachStays(
  state: RunState,
  events: readonly { readonly event: AgentEvent; readonly carried: Carried }[],
): void {
  const after = events.reduce((now, { event, carried }) => apply(now, event, carried), state);
  expect(after.breach).toEqual(state.breach);
}

/** The pages of a list are within their size and give the list again. */
export function pagesReassemble(items: readonly Json[], maxBytes: number): void {
  const reader = createPageReader();
  const read: Json[] = [];
  let next: PagePosition | null = { index: 0, offset: 0 };
  while (next !== null) {
    const page: ReturnType<typeof pageOf> = pageOf(items, next, maxBytes);
    const whole = page.items.reduce<number>((bytes, item) => bytes + bytesOf(item), 0);
    expect(whole).toBeLessThanOrEqual(maxBytes);
    // A part goes over as text inside JSON; one character has to fit whatever the size.
    if (page.part !== undefined && Array.from(page.part.text).length > 1) {
      expect(bytesOf(page.part.text) - 2).toBeLessThanOrEqual(maxBytes);
    }
    read.push(...reader.read(page));
    next = page.next;
  }
  expect(read).toEqual(items);
}

/** Each id is accepted once, positions rise by one, and a repetition tells the first. */
export function inboxAcceptsOnce(empty: Inbox, inputs: readonly RunInput[]): void {
  const positions = new Map<string, number>();
  let inbox = empty;
  for (const input of inputs) {
    const known = positions.get(input.id);
    const { inbox: after, position, isNew } = acceptInput(inbox, input);
    expect(position).toBe(known ?? positions.size + 1);
    expect(isNew).toBe(known === undefined);
    if (known !== undefined) expect(after).toBe(inbox);
    positions.set(input.id, position);
    inbox = after;
  }
  expect(inbox.waiting.map(({ id }) => id)).toEqual([...positions.keys()]);
  expect(inbox.waiting.map(({ position }) => position)).toEqual([...positions.values()]);
}

/** Events of one run: no gap in `seq`, one begin first, one end last, iterations in order. */
export function eventsAreWhole(events: readonly AgentEvent[]): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const places = (type: AgentEvent['type']): readonly number[] =>
    events.flatMap((event, index) => (event.type === type ? [index] : []));
  expect(places('agent:execution:before')).toEqual([0]);
  expect(places('agent:execution:after')).toEqual([events.length - 1]);
  expect(places('agent:limit_exceeded').length).toBeLessThanOrEqual(1);
  const begun = events.filter(({ type }) => type === 'agent:iteration:before');
  expect(begun.map(({ iteration }) => iteration)).toEqual(begun.map((_, index) => index + 1));
  expect(places('agent:iteration:after')).toHaveLength(begun.length);
  for (const kind of ['model_call', 'tool_call'] as const) {
    const [before, after] = [places(`agent:${kind}:before`), places(`agent:${kind}:after`)];
    // A call may end without having begun, never the other way round.
    expect(after.length).toBeGreaterThanOrEqual(before.length);
  }
}

function sumOf(parts: readonly Numbers[]): Numbers {
  const sum: Record<string, number> = {};
  for (const [key, value] of parts.flatMap((part) => Object.entries(part))) {
    sum[key] = (sum[key] ?? 0) + value;
  }
  return sum;
}

function bytesOf(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function roundTrip<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

/** Pinned entries come out of a compaction as they went in, in their order. */
export function compactionKeepsPins(
  before: readonly Entry[],
  compact: (entries: readonly Entry[]) => readonly Entry[],
): void {
  expect(compact(before).filter(isPinned)).toEqual(before.filter(isPinned));
}

/**
 * A compaction leaves alone what stands before the scratchpad: a request holds the system message,
 * the examples and the task as it did, and the history of the run is as long as it was.
 */
export function compactionKeepsTask(
  state: RunState,
  compact: (entries: readonly Entry[]) => readonly Entry[],
): void {
  const scratchpad = compact(state.scratchpad);
  const event: AgentEvent = {
    seq: state.seq + 1,
    runId: state.runId,
    agent: 'tester',
    agentPath: 'tester',
    at: 0,
    iteration: state.iteration,
    depth: 0,
    type: 'agent:scratchpad:change',
    epoch: state.mark.epoch + 1,
    lengthBefore: state.scratchpad.length,
    lengthAfter: scratchpad.length,
    added: 0,
    removed: 0,
  };
  const after = apply(state, event, { scratchpad });
  const options = { runId: state.runId, iteration: 1, attempt: 1, lastTurn: false };
  // The marker behind the scratchpad is no part of the beginning.
  const { messages, cacheUpTo } = buildRequest(state.head, [], options);
  const beginning = messages.slice(0, cacheUpTo);
  expect(JSON.stringify(beginning)).toContain(state.head.task.text);
  const request = buildRequest(after.head, scratchpadMessages(after), options);
  expect(request.messages.slice(0, beginning.length)).toEqual(beginning);
  expect(after.historyLength).toBe(state.historyLength);
}

/** A reader takes any text: it throws nothing, and gives a value of JSON. */
export function readerIsTotal(read: (text: string) => unknown, text: string): void {
  const reading = read(text);
  expect(JSON.stringify(reading)).toBeDefined();
}

/** A text that is four times as long takes no more than some four times as long to read. */
export function readerIsLinear(read: (text: string) => unknown, piece: string): void {
  const count = Math.ceil(LINEAR_BYTES / piece.length);
  const [short, long] = [count, 4 * count].map((times) => {
    const text = piece.repeat(times);
    return cpuMsOf(() => read(text));
  }) as [number, number];
  // A square would be 16 times; the rest is for clocks that tick in milliseconds and for the engine.
  expect(long).toBeLessThanOrEqual(10 * short + 15);
}

const LINEAR_BYTES = 12_000;

/** What is written reads back as it was. */
export function writeThenReadIsIdentity<Value>(
  write: (value: Value) => string,
  read: (text: string) => unknown,
  value: Value,
): void {
  expect(read(write(value))).toEqual(value);
}

/** A compaction makes the scratchpad no longer, and results no larger. */
export function compactionNeverGrows(
  before: readonly Entry[],
  compact: (entries: readonly Entry[]) => readonly Entry[],
): void {
  const after = compact(before);
  expect(after.length).toBeLessThanOrEqual(before.length);
  const bytesOfKept = (entries: readonly Entry[]): number =>
    entries
      .filter(({ index }) => before.some((old) => old.index === index))
      .reduce((sum, { messages }) => sum + bytesOf(messages as unknown as Json), 0);
  expect(bytesOfKept(after)).toBeLessThanOrEqual(bytesOfKept(before));
}

/** What a compaction leaves it leaves alone: the same strategy changes nothing at once. */
export function compactionIsIdempotent(
  before: readonly Entry[],
  compact: (entries: readonly Entry[]) => readonly Entry[],
): void {
  const once = compact(before);
  expect(compact(once)).toEqual(once);
}

/** However a provider cuts what it streams, the reply is the same, and so is what was streamed of it. */
export async function anyChunkingParsesAlike(
  said: Streamed,
  cut: (text: string) => readonly string[],
): Promise<void> {
  const whole = await streamed(said, (text) => [text]);
  const pieces = await streamed(said, cut);
  expect(pieces).toEqual(whole);
  expect(whole.text).toBe(said.text);
}

/** What a model says in one reply. */
export interface Streamed {
  readonly reasoning: string;
  readonly text: string;
  /** Arguments of native calls, as JSON. */
  readonly args: readonly string[];
}

/** The reply, its turn and the collected chunks, when each text comes in the pieces that `cut` makes. */
async function streamed(
  said: Streamed,
  cut: (text: string) => readonly string[],
): Promise<{ readonly reply: Reply; readonly turns: readonly Turn[]; readonly text: string }> {
  const chunks: ModelChunk[] = [];
  const collector = modelCollector(
    { id: 'm', model: async () => '' },
    { onChunk: (chunk) => void chunks.push(chunk), onPart: () => undefined },
  );
  const model = { doStream: async () => ({ stream: streamOf(partsOf(said, cut)) }) };
  // The collector asks for nothing but the stream.
  const reply = await collector.stream(model as unknown as LanguageModel, { prompt: [] });
  const bus: Chunk[] = chunks.map((chunk, seq) => ({ ...ORIGIN, seq, ...chunk }));
  const turns = [reactSpec(), chatSpec()].map((spec) => readTurn(spec, reply, 1));
  return { reply, turns, text: collect(bus).text };
}

const ORIGIN = { rootRunId: 'r', runId: 'r', agentPath: 'a', iteration: 1, attempt: 1 };

function partsOf(
  { reasoning, text, args }: Streamed,
  cut: (text: string) => readonly string[],
): readonly StreamPart[] {
  const block = (type: 'text' | 'reasoning', words: string): StreamPart[] => [
    { type: `${type}-start`, id: type },
    ...cut(words).map((delta) => ({ type: `${type}-delta` as const, id: type, delta })),
    { type: `${type}-end`, id: type },
  ];
  return [
    ...block('reasoning', reasoning),
    ...block('text', text),
    ...args.flatMap((input, index): StreamPart[] => {
      const id = `call-${index}`;
      return [
        { type: 'tool-input-start', id, toolName: 'search' },
        ...cut(input).map((delta) => ({ type: 'tool-input-delta' as const, id, delta })),
        { type: 'tool-input-end', id },
        { type: 'tool-call', toolCallId: id, toolName: 'search', input },
      ];
    }),
    {
      type: 'finish',
      finishReason: { unified: 'stop', raw: 'stop' },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
    },
  ];
}

function streamOf<Part>(parts: readonly Part[]): ReadableStream<Part> {
  return new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}
