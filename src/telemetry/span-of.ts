/**
 * The spans of events. A span is made whole when it ends, from its last event alone, so a worker that
 * dies loses no open span. Pure: the same event gives the same span on every worker.
 *
 * I1  The `switch` has a case for each type: a new event does not compile until somebody decides.
 * I2  The parent of a span is a span that its run, or the run above, sends as well.
 * I3  No attribute holds what a person, a model or a tool wrote, unless `content` says so.
 */
import { defined } from '../core/base/defined.ts';
import type { AgentEvent, EventBase, EventBody } from '../core/contract/events.ts';
import { isOwnEvent } from '../core/contract/events.ts';
import { readTraceparent, type EventPlace } from '../core/contract/trace.ts';
import { contentOf } from './content.ts';
import { ATTRIBUTES as A } from './genai.ts';
import { SPAN_NAMES, spanIdOf, treeTraceId } from './ids.ts';
import type { AttributeValue, SpanData } from './span-data.ts';

/** How much of what was said spans carry: nothing, what events show of it, or messages too. */
export type TraceContent = 'off' | 'events' | 'full';

/** What a worker knows beside an event. */
export interface SpanContext {
  readonly place: EventPlace;
  readonly content: TraceContent;
  /** The provider of a model entry, by the name of the conventions; absent: not known. */
  readonly providerOf?: (model: string) => string | undefined;
}

type Event<Type extends EventBody['type']> = EventBase &
  Extract<EventBody, { readonly type: Type }>;

/** A part of a run that ends with an event. */
interface Part {
  /** Its name among the spans of the run: see `SPAN_NAMES`. */
  readonly id: string;
  readonly parent: string | undefined;
  readonly name: string;
  readonly kind?: SpanData['kind'];
  /** Absent: since `startMs`. */
  readonly durationMs?: number | undefined;
  readonly startMs?: number;
  readonly attributes: Readonly<Record<string, AttributeValue | undefined>>;
  readonly error?: string | undefined;
}

/** The span that `event` ends; null if it ends none. */
export function spanOf(event: AgentEvent, context: SpanContext): SpanData | null {
  if (isOwnEvent(event)) return null;
  const part = partOf(event, context);
  if (part === null) return null;
  const { place } = context;
  const { rootRunId, trace } = place;
  const startMs = part.startMs ?? event.at - (part.durationMs ?? 0);
  return {
    traceId: treeTraceId({ rootRunId, traceparent: trace?.parent }),
    spanId: spanIdOf(event.runId, part.id),
    name: part.name,
    kind: part.kind ?? 'internal',
    startMs,
    endMs: Math.max(startMs, event.at),
    attributes: {
      ...defined({ ...part.attributes }),
      [A.agentName]: event.agent,
      [A.runId]: event.runId,
      [A.workflowId]: place.workflowId,
      [A.iteration]: event.iteration,
      [A.seq]: event.seq,
      ...sessionOf(place),
    } as Record<string, AttributeValue>,
    ...defined({ parentId: part.parent, error: part.error }),
  };
}

function sessionOf({ conversation, rootWorkflowId }: EventPlace): Record<string, string> {
  const id = conversation ?? rootWorkflowId;
  return { [A.conversation]: id, [A.session]: id };
}

type Known = Exclude<AgentEvent, { readonly type: import('../core/contract/events.ts').OwnEventType }>;

function partOf(event: Known, context: SpanContext): Part | null {
  switch (event.type) {
    case 'agent:execution:after':
      return runPart(event, context);
    case 'agent:execution:handover':
      return linkPart(event, context);
    case 'agent:iteration:after':
      return turnPart(event);
    case 'agent:model_call:after':
      return modelPart(event, context);
    case 'agent:tool_call:after':
      return toolPart(event, context);
    case 'agent:program:after':
      return programPart(event);
    case 'agent:question:answered':
      return waitPart(event, {
        kind: 'question',
        id: event.questionId,
        parent: event.callId === undefined ? turnOf(event) : toolOf(event, event.callId),
        outcome: event.withdrawn === true ? 'withdrawn' : event.timedOut === true ? 'timed_out' : 'answered',
      });
    case 'agent:approval:decided':
      return waitPart(event, {
        kind: 'approval',
        id: event.callId,
        parent: toolOf(event, event.callId),
        outcome: event.decision,
      });
    case 'agent:external:ended':
      return waitPart(event, {
        kind: 'external',
        id: event.callId,
        parent: toolOf(event, event.callId),
        outcome: event.outcome,
      });
    case 'agent:resumed':
      return {
        id: SPAN_NAMES.pause(event.seq),
        parent: runOf(event),
        name: 'wait pause',
        durationMs: event.waitedMs,
        attributes: {},
      };
    case 'agent:answer:judged':
      // Without a schema and validators nobody was asked.
      if (event.durationMs === undefined) return null;
      return {
        id: SPAN_NAMES.event(event.seq),
        parent: turnOf(event),
        name: 'judge',
        durationMs: event.durationMs,
        attributes: { [A.outcome]: event.outcome },
      };
    case 'agent:compaction':
      return {
        id: SPAN_NAMES.event(event.seq),
        parent: turnOf(event),
        name: `compact ${event.strategy}`,
        durationMs: event.durationMs,
        attributes: { [A.epoch]: event.epoch },
      };
    case 'agent:limit_exceeded':
      return notePart(event, 'limit', { [A.limit]: event.key });
    case 'agent:warning':
      return notePart(event, 'warning', { [A.code]: event.code });
    case 'agent:structured_output_downgraded':
      return notePart(event, 'downgrade', { [A.requestModel]: event.model, [A.outcome]: event.to });
    case 'agent:input':
      return notePart(event, 'input', { [A.outcome]: event.kind });
    case 'agent:execution:before':
    case 'agent:iteration:before':
    case 'agent:model_call:before':
    case 'agent:model_attempt_failed':
    case 'agent:turn:read':
    case 'agent:section:read':
    case 'agent:parse_error':
    case 'agent:tool_call:before':
    case 'agent:program:before':
    case 'agent:child:spawn':
    case 'agent:child:report':
    case 'agent:child:granted':
    case 'agent:child:complete':
    case 'agent:lease:asked':
    case 'agent:lease:answered':
    case 'agent:deadlines:changed':
    case 'agent:question:asked':
    case 'agent:approval:requested':
    case 'agent:external:begun':
    case 'agent:waiting':
    case 'agent:validator:called':
    case 'agent:validator:result':
    case 'agent:adjusted':
    case 'agent:paused':
    case 'agent:iteration_history:change':
    case 'agent:scratchpad:change':
    case 'agent:data:change':
    case 'agent:error':
      return null;
  }
}

const runOf = ({ runId }: EventBase): string => spanIdOf(runId, SPAN_NAMES.run);

/** The span of the iteration; before the first one, that of the run. */
function turnOf({ runId, iteration }: Pick<EventBase, 'runId' | 'iteration'>): string {
  return spanIdOf(runId, iteration === 0 ? SPAN_NAMES.run : SPAN_NAMES.turn(iteration));
}

function toolOf({ runId }: EventBase, callId: string): string {
  return spanIdOf(runId, SPAN_NAMES.tool(callId));
}

/** `3.p` of `3.p/1`: the calls of a program have its id in front. */
const OF_PROGRAM = /^\d+\.p(?=.)/;

function callerOf(event: EventBase, callId: string): string {
  const [programId] = OF_PROGRAM.exec(callId) ?? [];
  return programId === undefined
    ? turnOf(event)
    : spanIdOf(event.runId, SPAN_NAMES.program(programId));
}

/** The span of the call that started the run, else the one that the caller of the root is in. */
function aboveRun({ parent, trace }: EventPlace): string | undefined {
  if (parent !== undefined) {
    const { runId, callId, iteration } = parent;
    return callId === undefined
      ? turnOf({ runId, iteration })
      : spanIdOf(runId, SPAN_NAMES.tool(callId));
  }
  return trace?.parent === undefined ? undefined : readTraceparent(trace.parent)?.spanId;
}

function runPart(event: Event<'agent:execution:after'>, { place }: SpanContext): Part {
  const operation = place.kind === 'agent' ? 'invoke_agent' : 'invoke_workflow';
  const { status, reason, exceededLimit } = event;
  const isFailure = status !== 'success' && status !== 'canceled';
  return {
    id: SPAN_NAMES.run,
    parent: aboveRun(place),
    name: `${operation} ${event.agent}`,
    startMs: place.startedAt,
    attributes: {
      ...place.trace?.attributes,
      [A.operation]: operation,
      [A.path]: event.agentPath,
      [A.depth]: event.depth,
      [A.status]: status,
      [A.reason]: reason,
      [A.limit]: exceededLimit?.key,
    },
    error: isFailure ? reason : undefined,
  };
}

function linkPart(event: Event<'agent:execution:handover'>, { place }: SpanContext): Part {
  return {
    id: SPAN_NAMES.link(event.run),
    parent: runOf(event),
    name: `link ${event.run}`,
    startMs: place.linkStartedAt,
    attributes: {
      [A.link]: event.run,
      [A.historyEvents]: place.historyEvents,
      [A.historyBytes]: place.historyBytes,
    },
  };
}

function turnPart(event: Event<'agent:iteration:after'>): Part {
  const { iteration, outcome, durationMs } = event;
  return {
    id: SPAN_NAMES.turn(iteration),
    parent: runOf(event),
    name: `turn ${iteration}`,
    durationMs,
    attributes: { [A.outcome]: outcome },
    error: outcome === 'failed' ? outcome : undefined,
  };
}

function modelPart(event: Event<'agent:model_call:after'>, { providerOf }: SpanContext): Part {
  const { model, purpose, usage, usageKnown, error, finishReason, callId } = event;
  const { attempts, losses, began = event.seq } = event;
  return {
    id: SPAN_NAMES.model(began),
    parent: callId === undefined ? turnOf(event) : toolOf(event, callId),
    name: `chat ${model}`,
    kind: 'client',
    durationMs: event.durationMs,
    attributes: {
      [A.operation]: 'chat',
      [A.provider]: providerOf?.(model),
      [A.requestModel]: model,
      [A.finishReasons]: finishReason === undefined ? undefined : [finishReason],
      ...(usageKnown
        ? {
            [A.inputTokens]: usage.inputTokens,
            [A.outputTokens]: usage.outputTokens,
            [A.cachedTokens]: usage.cachedInputTokens,
            [A.reasoningTokens]: usage.reasoningTokens,
            [A.costMicroUsd]: usage.costMicroUsd,
          }
        : {}),
      [A.purpose]: purpose,
      [A.attempts]: attempts,
      [A.losses]: losses,
    },
    error: error?.code,
  };
}

function toolPart(event: Event<'agent:tool_call:after'>, context: SpanContext): Part {
  const { callId, tool, outcome, durationMs, attempts, losses, cached } = event;
  return {
    id: SPAN_NAMES.tool(callId),
    parent: callerOf(event, callId),
    name: `execute_tool ${tool}`,
    durationMs,
    attributes: {
      [A.operation]: 'execute_tool',
      [A.toolName]: tool,
      [A.toolCallId]: callId,
      [A.toolType]: 'function',
      [A.outcome]: outcome,
      [A.attempts]: attempts,
      [A.losses]: losses,
      [A.cached]: cached,
      ...contentOf(event, context.content),
    },
    error: outcome === 'ok' ? undefined : outcome,
  };
}

function programPart(event: Event<'agent:program:after'>): Part {
  const { programId, outcome, steps, durationMs, error } = event;
  return {
    id: SPAN_NAMES.program(programId),
    parent: turnOf(event),
    name: 'program',
    durationMs,
    attributes: { [A.outcome]: outcome, [A.fuel]: steps },
    error: error?.reason,
  };
}

interface Wait {
  readonly kind: 'question' | 'approval' | 'external';
  readonly id: string;
  readonly parent: string;
  readonly outcome: string;
}

/** A wait that nobody began, as an approval that a limit refused, has no span. */
function waitPart(
  { waitedMs }: { readonly waitedMs?: number },
  { kind, id, parent, outcome }: Wait,
): Part | null {
  if (waitedMs === undefined) return null;
  return {
    id: SPAN_NAMES.wait(kind, id),
    parent,
    name: `wait ${kind}`,
    durationMs: waitedMs,
    attributes: { [A.outcome]: outcome },
  };
}

/** What happens at one moment. A span event would wait for its span, in the memory of one worker. */
function notePart(
  event: EventBase,
  name: string,
  attributes: Readonly<Record<string, AttributeValue>>,
): Part {
  return { id: SPAN_NAMES.event(event.seq), parent: turnOf(event), name, attributes };
}
