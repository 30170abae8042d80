/**
 * The spans of events. A span is made whole when it ends, from its last event alone, so a worker that
 * dies loses no open span. Pure: the same event gives the same span on every worker.
 *
 * I1  `PARTS` has an entry for each type: a new event does not compile until somebody decides.
 * I2  The parent of a span is a span that its run, or the run above, sends as well.
 * I3  No attribute holds what a person, a model or a tool wrote, unless `content` says so.
 */
import { defined } from '../core/base/defined.ts';
import {
  isOwnEvent,
  type AgentEvent,
  type EventBase,
  type EventBody,
  type EventPlace,
  type EventType,
  type OwnEventType,
} from '../core/contract/events.ts';
import { readTraceparent } from '../core/base/traceparent.ts';
import type { TokenUsage } from '../core/contract/model.ts';
import { contentOf, type CleanText, type TraceContent } from './content.ts';
import { ATTRIBUTES as A } from './genai.ts';
import { SPAN_NAMES, spanIdOf, treeTraceId } from './ids.ts';
import { serverAttributes, type ServerFacts } from './mcp-servers.ts';
import type { AttributeValue, SpanData } from './span-data.ts';

/** What a worker knows beside an event. */
export interface SpanContext {
  readonly place: EventPlace;
  readonly content: TraceContent;
  /** Default: texts stay as they are. */
  readonly clean?: CleanText;
  /** The provider of a model entry, by the name of the conventions; absent: not known. */
  readonly providerOf?: (model: string) => string | undefined;
  /** How this worker reaches a server of the Model Context Protocol. */
  readonly serverOf?: (server: string) => ServerFacts;
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

type Known = Exclude<AgentEvent, { readonly type: OwnEventType }>;
type PartOf<Type extends EventType> = (event: Event<Type>, context: SpanContext) => Part | null;

/** The part of a run that each event ends; null: it ends none. */
const PARTS: { readonly [Type in EventType]: PartOf<Type> | null } = {
  'agent:execution:before': null,
  'agent:execution:after': runPart,
  'agent:execution:handover': linkPart,
  'agent:turn:before': null,
  'agent:turn:after': messagePart,
  'agent:iteration:before': null,
  'agent:iteration:after': turnPart,
  'agent:model_call:before': null,
  // The activity makes the span of each attempt: it knows when it began.
  'agent:model_attempt_failed': null,
  'agent:model_call:after': modelPart,
  'agent:structured_output_downgraded': (event) =>
    notePart(event, 'downgrade', { [A.requestModel]: event.model, [A.outcome]: event.to }),
  'agent:model_changed': (event) =>
    notePart(event, 'model_changed', { [A.requestModel]: event.model }),
  'agent:turn:read': null,
  'agent:section:read': null,
  'agent:parse_error': null,
  'agent:tool_call:before': null,
  'agent:tool_call:after': toolPart,
  'agent:program:before': null,
  'agent:program:after': programPart,
  'agent:child:spawn': null,
  'agent:child:report': null,
  'agent:child:granted': null,
  // The child sends its own span.
  'agent:child:complete': null,
  'agent:lease:asked': null,
  'agent:lease:answered': null,
  'agent:deadlines:changed': null,
  'agent:question:asked': null,
  'agent:question:answered': questionPart,
  'agent:approval:requested': null,
  'agent:approval:decided': (event) =>
    event.standing === undefined ? callWait(event, 'approval', event.decision) : null,
  'agent:approval:revoked': null,
  'agent:external:begun': null,
  'agent:external:ended': (event) => callWait(event, 'external', event.outcome),
  'agent:waiting': null,
  'agent:validator:called': null,
  'agent:validator:result': null,
  'agent:answer:judged': judgePart,
  'agent:guarded': (event) => ({
    id: SPAN_NAMES.event(event.seq),
    parent: runOf(event),
    name: 'guard',
    durationMs: event.durationMs,
    attributes: { [A.outcome]: event.outcome },
  }),
  'agent:input': (event) => notePart(event, 'input', { [A.outcome]: event.kind }),
  'agent:adjusted': null,
  'agent:paused': null,
  'agent:resumed': pausePart,
  'agent:iteration_history:change': null,
  'agent:scratchpad:change': null,
  'agent:compaction': compactionPart,
  'agent:data:change': null,
  'agent:limit_exceeded': (event) => notePart(event, 'limit', { [A.limit]: event.key }),
  'agent:error': null,
  'agent:warning': (event) => notePart(event, 'warning', { [A.code]: event.code }),
};

function partOf(event: Known, context: SpanContext): Part | null {
  // The compiler does not see that the entry is that of this type.
  const make = PARTS[event.type] as PartOf<EventType> | null;
  return make === null ? null : make(event, context);
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

/** The answer to a message of a conversation: the span of its run comes when the conversation ends. */
function messagePart({ turn, step, ...event }: Event<'agent:turn:after'>): Part {
  const { status, reason, usage, exceededLimit } = step;
  const isFailure = status !== 'success' && status !== 'canceled';
  return {
    id: SPAN_NAMES.message(turn),
    parent: runOf(event),
    name: `message ${turn}`,
    durationMs: usage.durationMs,
    attributes: { [A.status]: status, [A.reason]: reason, [A.limit]: exceededLimit?.key },
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
      ...usageOf(usage, usageKnown),
      [A.purpose]: purpose,
      [A.attempts]: attempts,
      [A.losses]: losses,
    },
    error: error?.code,
  };
}

function usageOf(usage: TokenUsage, isKnown: boolean): Part['attributes'] {
  if (!isKnown) return {};
  return {
    [A.inputTokens]: usage.inputTokens,
    [A.outputTokens]: usage.outputTokens,
    [A.cachedTokens]: usage.cachedInputTokens,
    [A.reasoningTokens]: usage.reasoningTokens,
    [A.costMicroUsd]: usage.costMicroUsd,
  };
}

function toolPart(event: Event<'agent:tool_call:after'>, context: SpanContext): Part {
  const { callId, tool, outcome, durationMs, attempts, losses, cached, mcp } = event;
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
      ...serverAttributes(mcp, context.serverOf),
      ...contentOf(event, context.content, context.clean),
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

function questionPart(event: Event<'agent:question:answered'>): Part | null {
  const { questionId: id, callId } = event;
  const parent = callId === undefined ? turnOf(event) : toolOf(event, callId);
  return waitPart(event, { kind: 'question', id, parent, outcome: answerOutcome(event) });
}

function callWait(
  event: Event<'agent:approval:decided' | 'agent:external:ended'>,
  kind: 'approval' | 'external',
  outcome: string,
): Part | null {
  const { callId: id } = event;
  return waitPart(event, { kind, id, parent: toolOf(event, id), outcome });
}

function pausePart(event: Event<'agent:resumed'>): Part {
  return {
    id: SPAN_NAMES.pause(event.seq),
    parent: runOf(event),
    name: 'wait pause',
    durationMs: event.waitedMs,
    attributes: {},
  };
}

/** Without a schema and validators nobody was asked. */
function judgePart(event: Event<'agent:answer:judged'>): Part | null {
  const { seq, durationMs, outcome } = event;
  if (durationMs === undefined) return null;
  return {
    id: SPAN_NAMES.event(seq),
    parent: turnOf(event),
    name: 'judge',
    durationMs,
    attributes: { [A.outcome]: outcome },
  };
}

function compactionPart(event: Event<'agent:compaction'>): Part {
  const { seq, strategy, durationMs, epoch } = event;
  return {
    id: SPAN_NAMES.event(seq),
    parent: turnOf(event),
    name: `compact ${strategy}`,
    durationMs,
    attributes: { [A.epoch]: epoch },
  };
}

function answerOutcome({ withdrawn, timedOut }: Event<'agent:question:answered'>): string {
  if (withdrawn === true) return 'withdrawn';
  return timedOut === true ? 'timed_out' : 'answered';
}

/** What happens at one moment. A span event would wait for its span, in the memory of one worker. */
function notePart(
  event: EventBase,
  name: string,
  attributes: Readonly<Record<string, AttributeValue>>,
): Part {
  return { id: SPAN_NAMES.event(event.seq), parent: turnOf(event), name, attributes };
}
