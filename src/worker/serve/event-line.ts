/** An event as one line of a structured log. */
import type {
  AgentEvent,
  EventBase,
  EventBody,
  EventPlace,
  EventType,
  OwnEventBody,
} from '../../core/contract/events.ts';
import { spanIdAround, treeTraceId } from '../../telemetry/ids.ts';
import { wellFormedJson } from '../../core/text/well-formed.ts';
import type { Json } from '../../core/base/json.ts';

type FieldsOf<Body> = Body extends unknown ? keyof Body : never;

/** Every field that an event may have beside those that all have. */
type Field = Exclude<FieldsOf<EventBody | OwnEventBody>, 'type'>;

/**
 * Which fields stand in a log: numbers, codes and names of a definition. Fields that may hold text
 * from people, models or tools do not. A new field does not compile until its place is decided.
 */
const IS_SHOWN: Readonly<Record<Field, boolean>> = {
  accepted: true,
  added: false,
  answer: false,
  args: false,
  attempt: true,
  attempts: true,
  attempted: true,
  began: true,
  blocks: true,
  by: false,
  bytes: true,
  cached: true,
  media: false,
  // Of a part: a text of a tool.
  id: false,
  keep: true,
  remember: true,
  reused: true,
  standing: true,
  callId: true,
  calls: true,
  charged: true,
  childAgent: true,
  childId: true,
  code: true,
  counts: false,
  cut: true,
  data: false,
  deadlines: true,
  decision: true,
  defaultLimits: true,
  discardedAnswer: true,
  durationMs: true,
  epoch: true,
  error: false,
  estimated: true,
  exceededLimit: true,
  family: true,
  feedback: false,
  final: true,
  finishReason: true,
  firstTokenMs: true,
  from: true,
  gauges: false,
  inProgram: true,
  index: true,
  inputId: true,
  instead: true,
  key: true,
  kind: true,
  leases: false,
  lengthAfter: true,
  lengthBefore: true,
  limit: true,
  limits: false,
  losses: true,
  mcp: true,
  message: false,
  messageId: true,
  messages: true,
  mode: true,
  model: true,
  name: true,
  number: true,
  origin: true,
  outcome: true,
  hosted: true,
  step: false,
  turn: true,
  unpricedCalls: true,
  sources: false,
  output: false,
  own: true,
  position: true,
  problems: false,
  programId: true,
  progress: false,
  purpose: true,
  questionId: true,
  raised: false,
  raw: false,
  // Of the end of a run it is a code, see REASON_IS_CODE; of a decision, a person's words.
  reason: false,
  reasoning: false,
  removed: true,
  repeats: true,
  retryInMs: true,
  returned: true,
  run: true,
  source: false,
  started: true,
  status: true,
  steps: true,
  strategy: true,
  text: false,
  timedOut: true,
  to: true,
  tokensAfter: true,
  tokensBefore: true,
  tool: true,
  totals: false,
  unreported: true,
  unreportedBy: true,
  usage: true,
  usageKnown: true,
  validator: true,
  value: true,
  waitedMs: true,
  wants: false,
  withdrawn: true,
};

/** The fields that every event has. */
const BASE: readonly string[] = [
  'seq',
  'runId',
  'agent',
  'agentPath',
  'iteration',
  'depth',
] satisfies readonly (keyof EventBase)[];

/** Events whose `reason` is a code. */
const REASON_IS_CODE: readonly string[] = [
  'agent:execution:after',
  'agent:child:complete',
] satisfies readonly EventType[];

/**
 * One line of JSON without a line break: the event with its counts and codes, but without content.
 * `place` adds the workflow id and the link, and with `isTraced` the ids of the event's trace and span.
 *
 * @example
 * eventLine(event);
 * // {"time":"2026-03-10T09:00:00.000Z","event":"agent:iteration:before","seq":2,…}
 */
export function eventLine(event: AgentEvent, place?: EventPlace, isTraced = false): string {
  const { type, at, ...fields } = event;
  const kept = Object.entries(fields as { readonly [name: string]: Json }).filter(([name]) =>
    isShown(type, name),
  );
  const errorCode = event.type === 'agent:model_call:after' ? event.error?.code : undefined;
  // `JSON.stringify` leaves out an undefined field.
  const line = JSON.stringify({
    time: new Date(at).toISOString(),
    event: type,
    ...Object.fromEntries(kept),
    errorCode,
    workflowId: place?.workflowId,
    link: place?.link,
    ...(place !== undefined && isTraced ? traceFields(event, place) : undefined),
  });
  return wellFormedJson(line);
}

function isShown(type: string, name: string): boolean {
  if (BASE.includes(name) || IS_SHOWN[name as Field] === true) return true;
  return name === 'reason' && REASON_IS_CODE.includes(type);
}

/** As the logs of other services have them. */
function traceFields(
  event: AgentEvent,
  { rootRunId, trace }: EventPlace,
): { readonly trace_id: string; readonly span_id: string } {
  return {
    trace_id: treeTraceId({ rootRunId, traceparent: trace?.parent }),
    span_id: spanIdAround(event),
  };
}
