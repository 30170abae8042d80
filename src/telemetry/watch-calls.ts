/** Attempts of model calls as spans and metrics, and tools inside the spans of their calls. */
import { defined } from '../core/base/defined.ts';
import type { Json } from '../core/base/json.ts';
import type { HideText } from '../core/text/hide.ts';
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { ToolOrder } from '../core/contract/outcome.ts';
import type {
  AttemptNotes,
  AttemptOrder,
  CallObserver,
  TranscriptOrigin,
} from './call-observer.ts';
import { attributeText, CLEAN_NOTHING } from './content.ts';
import { ATTRIBUTES as A } from './genai.ts';
import { isSampled, SPAN_NAMES, spanIdOf, treeTraceId } from './ids.ts';
import type { MetricsWriter } from './meter.ts';
import type { AttributeValue, SpanData } from './span-data.ts';
import type { SpanContext } from './span-of.ts';
import type { ActiveSpan, Tracer } from './tracer.ts';

/** Where what is watched goes to. */
export interface WatchParts extends Pick<SpanContext, 'content' | 'clean' | 'providerOf'> {
  readonly tracer: Tracer | undefined;
  readonly meter: MetricsWriter | undefined;
  readonly sample: number;
  /** Takes values out of the messages of a request, which its agent has redacted; default: none. */
  readonly hide?: HideText;
  /** Bytes in the cache of transcripts. */
  readonly cacheBytes: () => number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** A watch of the calls of a worker. */
export function watchCalls(parts: WatchParts): CallObserver {
  const { tracer, sample } = parts;
  return {
    model: (attempt, run) => watchAttempt(parts, attempt, run),
    tool: (order, run) => {
      const tree = treeOf(order);
      if (tracer === undefined || !isSampled(tree, sample)) return run();
      const spanId = spanIdOf(order.runId, SPAN_NAMES.tool(order.callId));
      const traceId = treeTraceId(tree);
      return tracer.within({ traceId, spanId }, () => run(`00-${traceId}-${spanId}-01`));
    },
  };
}

const treeOf = ({
  rootRunId,
  runId,
  traceparent,
}: Pick<ToolOrder | ModelOrder, 'rootRunId' | 'runId' | 'traceparent'>): {
  readonly rootRunId: string;
  readonly traceparent?: string | undefined;
} => ({ rootRunId: rootRunId ?? runId, traceparent });

/** What was noted of an attempt. */
interface Noted {
  origin?: TranscriptOrigin;
  firstChunkMs?: number;
  input?: string;
  output?: string;
}

async function watchAttempt<Result>(
  parts: WatchParts,
  attempt: AttemptOrder,
  run: (notes: AttemptNotes) => Promise<Result>,
): Promise<Result> {
  const { tracer, now } = parts;
  const startMs = now();
  const noted: Noted = {};
  const active = activeSpan(parts, attempt);
  const notes = notesOf(parts, attempt, { noted, startMs });
  const end = (outcome: AttemptOutcome): void => {
    const ended = { attempt, noted, startMs, outcome };
    record(parts, ended);
    if (active !== undefined) tracer?.emit(attemptSpan(parts, ended, active));
  };
  try {
    const work = (): Promise<Result> => run(notes);
    const result = await (active === undefined || tracer === undefined
      ? work()
      : tracer.within(active, work));
    end(isAborted(result) ? { name: 'aborted' } : { name: 'ok' });
    return result;
  } catch (error) {
    end(outcomeOf(error));
    throw error;
  }
}

/** The span of the attempt; undefined if no event began its call. */
function activeSpan(
  { tracer, sample }: WatchParts,
  { order, attempt }: AttemptOrder,
): ActiveSpan | undefined {
  const tree = treeOf(order);
  if (tracer === undefined || order.seq === undefined || !isSampled(tree, sample)) return undefined;
  const spanId = spanIdOf(order.runId, SPAN_NAMES.attempt(order.seq, attempt));
  return { traceId: treeTraceId(tree), spanId };
}

function notesOf(
  { content, clean = CLEAN_NOTHING, hide, meter, cacheBytes, now }: WatchParts,
  { order }: AttemptOrder,
  { noted, startMs }: { readonly noted: Noted; readonly startMs: number },
): AttemptNotes {
  const shows = (value: Json, without?: HideText): string | undefined =>
    content === 'full' ? attributeText(value, without) : undefined;
  return {
    transcript: (origin) => {
      noted.origin = origin;
      meter?.record({
        metric: 'everloop_transcript_reads_total',
        value: 1,
        labels: { source: origin },
      });
      meter?.record({ metric: 'everloop_cache_bytes', value: cacheBytes(), labels: {} });
    },
    asked: (messages) => Object.assign(noted, defined({ input: shows(messages, hide) })),
    firstChunk: () => {
      noted.firstChunkMs ??= now() - startMs;
    },
    replied: (reply) => {
      Object.assign(noted, defined({ output: shows(reply, (text) => clean(order.agent, text)) }));
    },
  };
}

/** How an attempt ended. */
interface AttemptOutcome {
  readonly name:
    'ok' | 'rate_limited' | 'server_error' | 'network' | 'refused' | 'aborted' | 'not_asked';
  /** The type of the failure. */
  readonly type?: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
}

interface EndedAttempt {
  readonly attempt: AttemptOrder;
  readonly noted: Noted;
  readonly startMs: number;
  readonly outcome: AttemptOutcome;
}

function record({ meter }: WatchParts, { attempt, noted, outcome }: EndedAttempt): void {
  const { agent, model, purpose } = attempt.order;
  if (outcome.name !== 'not_asked') {
    meter?.record({
      metric: 'everloop_model_attempts_total',
      value: 1,
      labels: { model, outcome: outcome.name },
    });
  }
  if (noted.firstChunkMs === undefined) return;
  meter?.record({
    metric: 'everloop_time_to_first_chunk_seconds',
    value: noted.firstChunkMs / 1_000,
    labels: { agent, model, purpose, outcome: outcome.name },
  });
}

function attemptSpan(
  { now, providerOf }: WatchParts,
  { attempt, noted, startMs, outcome }: EndedAttempt,
  { traceId, spanId }: ActiveSpan,
): SpanData {
  const { order, queueMs } = attempt;
  const attributes: Record<string, AttributeValue | undefined> = {
    [A.operation]: 'chat',
    [A.provider]: providerOf?.(order.model),
    [A.requestModel]: order.model,
    [A.agentName]: order.agent,
    [A.runId]: order.runId,
    [A.iteration]: order.iteration,
    [A.purpose]: order.purpose,
    [A.outcome]: outcome.name,
    [A.httpStatus]: outcome.status,
    [A.retryAfterMs]: outcome.retryAfterMs,
    [A.transcript]: noted.origin,
    [A.firstChunkMs]: noted.firstChunkMs,
    [A.queueMs]: queueMs,
    [A.inputMessages]: noted.input,
    [A.outputMessages]: noted.output,
  };
  return {
    traceId,
    spanId,
    parentId: spanIdOf(order.runId, SPAN_NAMES.model(order.seq ?? 0)),
    name: `attempt ${attempt.attempt}`,
    kind: 'client',
    startMs,
    endMs: now(),
    attributes: defined(attributes) as Record<string, AttributeValue>,
    ...defined({ error: outcome.name === 'ok' ? undefined : (outcome.type ?? outcome.name) }),
  };
}

function isAborted(result: unknown): boolean {
  return (result as { readonly kind?: unknown } | null)?.kind === 'aborted';
}

/** Failures of an attempt that asked no provider. */
const NOT_ASKED: readonly string[] = ['not_here', 'transcript_unavailable', 'rate_wait'];

/** What a typed failure of an activity says. */
function outcomeOf(error: unknown): AttemptOutcome {
  const { type = 'internal', details } = (error ?? {}) as {
    readonly type?: string | null;
    readonly details?: readonly unknown[] | null;
  };
  const { status, retryAfterMs } = (details?.[0] ?? {}) as {
    readonly status?: number;
    readonly retryAfterMs?: number;
  };
  const known = defined({ type: type ?? undefined, status, retryAfterMs });
  return { name: nameOf(type ?? 'internal', status), ...known };
}

const REFUSED = ['model_auth', 'model_request_refused', 'context_too_long', 'blocked'];

function nameOf(type: string, status: number | undefined): AttemptOutcome['name'] {
  if (NOT_ASKED.includes(type)) return 'not_asked';
  if (type === 'worker_shutdown') return 'aborted';
  if (status === 429) return 'rate_limited';
  if (REFUSED.includes(type)) return 'refused';
  if (status === undefined) return type === 'model_error' ? 'network' : 'aborted';
  return status >= 500 ? 'server_error' : 'refused';
}
