/** Spans of runs in tests: made in memory from events, and printed as a tree. */
import { expect } from 'vitest';
import type { AgentEvent, EventPlace } from '../../src/core/contract/events.ts';
import type { Step } from '../../src/core/contract/step.ts';
import { eventPlaceOf } from '../../src/core/children/event-place.ts';
import { ATTRIBUTES as A } from '../../src/telemetry/genai.ts';
import type { SpanData } from '../../src/telemetry/span-data.ts';
import { spanOf, type SpanContext } from '../../src/telemetry/span-of.ts';
import type { MemoryRun } from '../../src/testing/memory-run.ts';
import { startInMemory, type MemoryRunOptions } from '../../src/testing/run-in-memory.ts';

/** A run in memory, with its spans. */
export interface TracedRun {
  readonly step: Step;
  readonly spans: readonly SpanData[];
  readonly events: readonly (readonly [AgentEvent, EventPlace])[];
}

/** Where a run in memory stands. */
function placeInMemory({ state, address }: MemoryRun, event: AgentEvent): EventPlace {
  const isHandover = event.type === 'agent:execution:handover';
  return eventPlaceOf(state, isHandover ? event.run : state.link, {
    workflowId: address,
    rootWorkflowId: 'run-1',
    linkStartedAt: state.startedAt,
    historyEvents: 100,
    historyBytes: 10_000,
  });
}

/** An agent that is played, and what people do whenever its run waits only for them. */
export interface TracedOptions extends Omit<MemoryRunOptions, 'task'> {
  /** Default: {@link agree}. */
  readonly people?: (run: MemoryRun) => void;
}

/** People answer `yes`, or what they may choose first, and approve; outside work ends with `yes`. */
export function agree(run: MemoryRun): void {
  for (const item of run.pending()) {
    if (item.kind === 'approval') run.decide(item.id, { approve: true });
    else run.answer(item.id, (item.kind === 'question' ? item.options?.[0] : undefined) ?? 'yes');
  }
}

/** Plays a run and those below it. */
export async function traceInMemory(
  { people, ...options }: TracedOptions,
  context: Partial<SpanContext> = {},
): Promise<TracedRun> {
  return spansWhile(
    (note) =>
      startInMemory({
        task: 'Go.',
        ...options,
        onEvent: (event, of) => {
          options.onEvent?.(event, of);
          note(event, of);
        },
      }),
    context,
    people,
  );
}

/** The spans of the run that `start` starts, which passes each event on. */
export async function spansWhile(
  start: (note: NonNullable<MemoryRunOptions['onEvent']>) => MemoryRun | Promise<MemoryRun>,
  context: Partial<SpanContext> = {},
  people: (run: MemoryRun) => void = agree,
): Promise<TracedRun> {
  const events: (readonly [AgentEvent, EventPlace])[] = [];
  const run = await start((event, of) => {
    events.push([event, placeInMemory(of, event)]);
  });
  for (;;) {
    const end = await run.resultOrPending();
    if (end.kind === 'step') {
      const spans = events.flatMap(
        ([event, place]) => spanOf(event, { content: 'off', ...context, place }) ?? [],
      );
      return { step: end.step, spans, events };
    }
    people(run);
  }
}

/** What holds for the spans of every run: one whole trace, in which times nest and tokens add up. */
export function checkSpans({ spans, step }: TracedRun): void {
  expect(orphansOf(spans)).toEqual([]);
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(spans.filter(({ parentId }) => parentId === undefined)).toHaveLength(1);
  const { inputTokens, outputTokens } = step.usage;
  expect(tokensOf(spans)).toEqual({ inputTokens, outputTokens });
  // An approval comes before its call, whose time begins when it may.
  expect(outsideParents(spans).filter((name) => name !== 'wait approval')).toEqual([]);
}

/** Spans that begin before their parent among them, or end after it or before they begin. */
export function outsideParents(
  spans: readonly Pick<SpanData, 'spanId' | 'parentId' | 'name' | 'startMs' | 'endMs'>[],
): readonly string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  return spans
    .filter(({ parentId, startMs, endMs }) => {
      const parent = byId.get(parentId ?? '') ?? { startMs, endMs };
      return startMs > endMs || startMs < parent.startMs || endMs > parent.endMs;
    })
    .map(({ name }) => name);
}

/** What the spans of model calls say of tokens, in all. */
function tokensOf(spans: readonly SpanData[]): {
  readonly inputTokens: number;
  readonly outputTokens: number;
} {
  const sum = (name: string): number =>
    spans
      .filter(({ name: of }) => of.startsWith('chat '))
      .reduce((all, { attributes }) => all + Number(attributes[name] ?? 0), 0);
  return { inputTokens: sum(A.inputTokens), outputTokens: sum(A.outputTokens) };
}

/** Spans without a parent among them, apart from those without any. */
export function orphansOf(
  spans: readonly Pick<SpanData, 'spanId' | 'parentId' | 'name'>[],
): readonly string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  return spans
    .filter(({ parentId }) => parentId !== undefined && !ids.has(parentId))
    .map(({ name }) => name);
}

/** Attributes that a tree shows. */
const SHOWN = [A.outcome, A.status, A.limit, A.inputTokens, A.outputTokens];

/** The spans as text: a line each, indented below its parent; those beside each other by text. */
export function spanTree(spans: readonly SpanData[]): string {
  const below = (parentId: string | undefined, indent: string): readonly string[] =>
    spans
      .filter((span) => span.parentId === parentId)
      .map((span) => [lineOf(span), ...below(span.spanId, `${indent}  `)].join('\n'))
      .toSorted()
      .map((text) => `${indent}${text}`);
  return below(undefined, '').join('\n');
}

function lineOf({ name, attributes, error }: SpanData): string {
  const shown = SHOWN.flatMap((key) => {
    const value = attributes[key];
    return value === undefined ? [] : [`${key.split('.').at(-1)}=${String(value)}`];
  });
  return [name, ...shown, ...(error === undefined ? [] : [`error=${error}`])].join(' ');
}
