/**
 * The lanes and spans of a timeline: model, each tool, people, children, programs. Spans come from
 * the views of iterations, lost parts from the service's attempts.
 */
import { defined } from '../../core/base/defined.ts';
import { attemptsOf, lostTimeOf, type AttemptView, type LostTime } from './attempts.ts';
import { durationText } from './amounts.ts';
import type { CallView, IterationView, ModelCallView, WaitView } from './iteration-view.ts';

/** One bar of a timeline. */
export interface TimelineSpan {
  /** Unique in the run, and the same after each fold. */
  readonly id: string;
  readonly lane: string;
  readonly kind: 'model' | 'tool' | 'wait' | 'child' | 'program';
  readonly label: string;
  readonly iteration: number;
  readonly from: number;
  /** Absent while it lasts. */
  readonly to?: number;
  readonly isFailed: boolean;
  readonly attempts: number;
  readonly lost?: LostTime;
  /** When the first worker took it; the time before is queue delay. */
  readonly startedAt?: number;
  /** Of a model call: how long its first token took; absent: it is not known. */
  readonly firstTokenMs?: number;
  readonly callId?: string;
}

/** A lane; lanes of one kind stand together. */
export interface Lane {
  readonly name: string;
  readonly kind: TimelineSpan['kind'];
}

/** A timeline as plain data. */
export interface Timeline {
  readonly lanes: readonly Lane[];
  readonly spans: readonly TimelineSpan[];
  /** Where iterations begin. */
  readonly iterations: readonly { readonly number: number; readonly at: number }[];
  /** Where links hand over. */
  readonly handovers: readonly number[];
}

const KIND_ORDER: readonly TimelineSpan['kind'][] = ['model', 'wait', 'program', 'tool', 'child'];

/**
 * The timeline of `views`; without `attempts`, no lost time is known. No worker has answered since
 * `silentSince`: what is in flight makes no progress.
 */
export function timelineOf(
  views: readonly IterationView[],
  attempts: readonly AttemptView[] = [],
  silentSince?: number,
): Timeline {
  const byIteration = byIterationOf(attempts);
  const spans = views
    .flatMap((view) => spansOfIteration(view, byIteration.get(view.number) ?? []))
    .map((span) => silenced(span, silentSince))
    .toSorted((a, b) => a.from - b.from);
  const lanes = new Map<string, Lane>();
  for (const { lane, kind } of spans) {
    if (!lanes.has(lane)) lanes.set(lane, { name: lane, kind });
  }
  const rank = ({ kind }: Lane): number => KIND_ORDER.indexOf(kind);
  return {
    lanes: [...lanes.values()].toSorted((a, b) => rank(a) - rank(b)),
    spans,
    iterations: views
      .filter(({ number }) => number > 0)
      .map(({ number, from }) => ({ number, at: from })),
    handovers: views.flatMap(({ marks }) =>
      marks.flatMap(({ kind, at }) => (kind === 'handover' ? [at] : [])),
    ),
  };
}

/** A call in flight of a run that no worker serves; when its worker is known as lost, that says more. */
function silenced(span: TimelineSpan, since: number | undefined): TimelineSpan {
  const isCall = span.kind === 'model' || span.kind === 'tool';
  const isStuck = isCall && span.to === undefined && span.lost === undefined;
  if (since === undefined || !isStuck) return span;
  const from = Math.max(span.from, since);
  return { ...span, lost: { from, note: 'no worker answers', attempt: 0, reason: '' } };
}

function spansOfIteration(
  view: IterationView,
  attempts: readonly AttemptView[],
): readonly TimelineSpan[] {
  return [
    ...view.models.map((call) => modelSpan(view, call, attempts)),
    ...view.calls.flatMap((call) => callSpan(view, call, attempts)),
    ...view.waits.map((wait) => waitSpan(view, wait)),
    ...view.programs.map(({ programId, from, to, outcome }): TimelineSpan => ({
      id: `program ${programId}`,
      lane: 'program',
      kind: 'program',
      label: `program ${programId}`,
      iteration: view.number,
      from,
      ...defined({ to }),
      isFailed: outcome === 'error' || outcome === 'failed',
      attempts: 1,
    })),
  ];
}

function modelSpan(
  { number: iteration }: IterationView,
  call: ModelCallView,
  attempts: readonly AttemptView[],
): TimelineSpan {
  const { seq, model, purpose, callId, from, to, firstTokenMs, error, isCanceled } = call;
  const place = { iteration, from, ...defined({ callId }), ...ending(to) };
  return {
    id: `model ${seq}`,
    lane: purpose === 'reply' ? 'model' : `model: ${purpose}`,
    kind: 'model',
    label: model,
    iteration,
    from,
    ...ending(to),
    isFailed: error !== undefined && isCanceled === undefined,
    attempts: call.attempts + call.losses,
    ...withAttempts(attemptsOf(attempts, place)),
    ...defined({ firstTokenMs, callId }),
  };
}

function callSpan(
  { number: iteration, waits }: IterationView,
  call: CallView,
  attempts: readonly AttemptView[],
): readonly TimelineSpan[] {
  const { callId, tool, to, child, outcome } = call;
  const approval = waits.find((wait) => wait.kind === 'approval' && wait.callId === callId);
  // It may not run yet.
  if (approval !== undefined && approval.to === undefined && to === undefined) return [];
  // The bar of a call that was approved begins when it may run; the wait has a bar of its own.
  const from = approval === undefined ? begunAt(call) : (approval.to ?? to ?? call.from);
  const isFailed = outcome !== undefined && outcome !== 'ok' && outcome !== 'canceled';
  return [
    {
      id: `call ${callId}`,
      lane: tool,
      kind: child === undefined ? 'tool' : 'child',
      label: tool,
      iteration,
      from,
      ...ending(to),
      isFailed,
      attempts: call.attempts + call.losses,
      ...withAttempts(attemptsOf(attempts, { iteration, callId, from, ...ending(to) })),
      callId,
    },
  ];
}

/** A read that ran beside its reply is recorded as a whole when the reply is there. */
function begunAt({ from, to, durationMs = 0 }: CallView): number {
  return to === undefined ? from : Math.min(from, to - durationMs);
}

function waitSpan({ number }: IterationView, wait: WaitView): TimelineSpan {
  const { kind, id, text, from, to, result, callId } = wait;
  return {
    id: `${kind} ${id}`,
    lane: kind === 'external' ? 'outside work' : 'people',
    kind: 'wait',
    label: kind === 'approval' ? `approve ${text}` : text,
    iteration: number,
    from,
    ...ending(to),
    isFailed: result === 'deny' || result === 'timed out' || result === 'error',
    attempts: 1,
    ...defined({ callId }),
  };
}

function ending(to: number | undefined): { readonly to?: number } {
  return defined({ to });
}

function withAttempts(attempts: readonly AttemptView[]): Pick<TimelineSpan, 'lost' | 'startedAt'> {
  const lost = lostTimeOf(attempts);
  const startedAt = attempts.find(({ attempt }) => attempt === 1)?.startedAt;
  return {
    ...defined({ lost: lost ?? undefined, startedAt }),
  };
}

/** What a screen reader says of a span; holds the text that the span shows. */
export function spanText({
  label,
  iteration,
  from,
  to,
  lost,
  attempts,
  firstTokenMs,
  isFailed,
}: TimelineSpan): string {
  const duration = to === undefined ? 'in progress' : durationText(to - from);
  const more = [
    ...(firstTokenMs === undefined ? [] : [`first token ${durationText(firstTokenMs)}`]),
    ...(lost === undefined ? [] : [lost.note]),
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ...(isFailed ? ['failed'] : []),
  ];
  return [`${label}, iteration ${iteration}, ${duration}`, ...more].join(', ');
}

function byIterationOf(
  attempts: readonly AttemptView[],
): ReadonlyMap<number, readonly AttemptView[]> {
  const found = new Map<number, AttemptView[]>();
  for (const attempt of attempts) {
    const known = found.get(attempt.iteration);
    if (known === undefined) found.set(attempt.iteration, [attempt]);
    else known.push(attempt);
  }
  return found;
}
