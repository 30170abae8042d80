/**
 * The spans of a scenario's runs, as its workers publish them, and where those of two plays differ. A
 * worker writes each event that its tracer would take into a file, killed or not, so that nothing of
 * it is lost. Runs get the same ids in each play: their place below the run that was started.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentEvent, EventPlace } from '../../src/core/contract/events.ts';
import { ATTRIBUTES as A } from '../../src/telemetry/genai.ts';
import type { SpanData } from '../../src/telemetry/span-data.ts';
import { spanOf } from '../../src/telemetry/span-of.ts';
import type { EventListener } from '../../src/worker/serve/worker-sinks.ts';
import { afterPrefix } from './moments.ts';

/** The spans of one play, as often as they were made. */
export type PlayedSpans = readonly SpanData[];

type Published = readonly [event: AgentEvent, place: EventPlace];

/** Writes what it hears into `folder`. */
export function noteEvents(folder: string): EventListener {
  return (event, place) => appendFileSync(fileIn(folder), `${JSON.stringify([event, place])}\n`);
}

/** The spans of each play in `folder`; `prefix` is what the ids of its runs begin with. */
export function spansIn(folder: string, prefix: string): ReadonlyMap<string, PlayedSpans> {
  const plays = new Map<string, Published[]>();
  for (const published of publishedIn(folder)) {
    const [, play = ''] = /^\.(\d+)/.exec(afterPrefix(published[1].workflowId, prefix)) ?? [];
    plays.set(play, [...(plays.get(play) ?? []), published]);
  }
  return new Map([...plays].map(([play, all]) => [play, spansOf(all, `${prefix}.${play}`)]));
}

function spansOf(published: readonly Published[], start: string): PlayedSpans {
  const pathOf = (workflowId: string): string => `run${afterPrefix(workflowId, start)}`;
  const runs = new Map(
    published.map(([{ runId }, { workflowId }]) => [runId, pathOf(workflowId)] as const),
  );
  const known = (runId: string): string => runs.get(runId) ?? runId;
  const numberOf = steadyNumbers(published);
  return published.flatMap(([event, place]) => {
    if (event.type === 'agent:execution:handover') return [];
    const { parent, rootRunId, rootWorkflowId, workflowId } = place;
    const placed: EventPlace = {
      ...place,
      workflowId: pathOf(workflowId),
      rootWorkflowId: pathOf(rootWorkflowId),
      rootRunId: known(rootRunId),
      ...(parent === undefined ? {} : { parent: { ...parent, runId: known(parent.runId) } }),
    };
    const { runId, seq } = event;
    const began = 'began' in event ? { began: numberOf(runId, Number(event.began)) } : {};
    const named = { ...event, ...began, runId: known(runId), seq: numberOf(runId, seq) };
    return spanOf(named as AgentEvent, { place: placed, content: 'off' }) ?? [];
  });
}

/**
 * Events whose number a kill may change: links end where the history is long, and a child reports to its
 * parent when time has passed.
 */
const MORE_OR_LESS: readonly string[] = [
  'agent:execution:handover',
  'agent:child:report',
  'agent:child:granted',
  'agent:lease:asked',
  'agent:lease:answered',
  'agent:deadlines:changed',
];

/** The `seq` that an event would have without those that a kill may add. */
function steadyNumbers(published: readonly Published[]): (runId: string, seq: number) => number {
  const types = new Map<string, string[]>();
  for (const [{ type, runId, seq }] of published) {
    const known = types.get(runId) ?? [];
    // The last time counts: what a killed worker had published may not have come to pass.
    known[seq] = type;
    types.set(runId, known);
  }
  return (runId, seq) => {
    const before = (types.get(runId) ?? []).slice(0, seq);
    return seq - before.filter((type) => MORE_OR_LESS.includes(type)).length;
  };
}

function publishedIn(folder: string): readonly Published[] {
  const file = fileIn(folder);
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Published);
}

/**
 * Calls that run side by side may get other numbers when a task is repeated, because the repetition
 * sees more of them ended.
 */
const OF_A_TASK: readonly string[] = [A.seq];

/** What a kill may change of a span: how often its work was tried, and which of two calls ended first. */
const OF_A_KILL: readonly string[] = [A.attempts, A.losses, ...OF_A_TASK];

/** A span without its times: a task that is tried again has later ones. */
function textOf(
  { startMs: _start, endMs: _end, attributes, ...rest }: SpanData,
  without: readonly string[] = [],
): string {
  const kept = Object.entries(attributes).filter(([name]) => !without.includes(name));
  return JSON.stringify([rest, kept]);
}

/** Where the spans of a play are other ones than `expected`, or one of them came in two ways; a line each. */
export function spansDiffer(got: PlayedSpans, expected: PlayedSpans): readonly string[] {
  const first = new Map<string, SpanData>();
  const twoWays: string[] = [];
  for (const span of got) {
    const before = first.get(span.spanId);
    if (before === undefined) first.set(span.spanId, span);
    else if (textOf(before, OF_A_TASK) !== textOf(span, OF_A_TASK)) {
      twoWays.push(`in two ways, ${nameOf(span)}: ${textOf(before)}, then ${textOf(span)}`);
    }
  }
  const wanted = new Map(expected.map((span) => [span.spanId, span]));
  return [
    ...[...wanted.values()]
      .filter(({ spanId }) => !first.has(spanId))
      .map((span) => `no ${nameOf(span)}`),
    ...twoWays,
    ...[...first.values()].flatMap((span) => {
      const other = wanted.get(span.spanId);
      if (other === undefined) return [`one more, ${nameOf(span)}`];
      // A `once` call whose worker died, as its sums are counted.
      if (span.error === 'unknown' || textOf(span, OF_A_KILL) === textOf(other, OF_A_KILL)) {
        return [];
      }
      return [`span ${textOf(span)}, not ${textOf(other)}`];
    }),
  ];
}

function nameOf({ name, attributes }: SpanData): string {
  return `${name} of ${String(attributes[A.workflowId])}, event ${String(attributes[A.seq])}`;
}

function fileIn(folder: string): string {
  return join(folder, 'events.jsonl');
}
