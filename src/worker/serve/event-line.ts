/** An event as one line of a structured log. */
import type { AgentEvent, EventPlace } from '../../core/contract/events.ts';
import { spanIdAround, treeTraceId } from '../../telemetry/ids.ts';
import { wellFormedJson } from '../../core/text/well-formed.ts';
import type { Json } from '../../core/base/json.ts';

/** Fields that may hold text from people, models or tools, which does not belong in a log. */
const CONTENT: readonly string[] = [
  'added',
  'answer',
  'args',
  'counts',
  'data',
  'error',
  'feedback',
  'gauges',
  'leases',
  'limits',
  'message',
  'output',
  'problems',
  'raised',
  'raw',
  'totals',
  'wants',
];

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
  const kept = Object.entries(fields as { readonly [name: string]: Json }).filter(
    ([name]) => !CONTENT.includes(name),
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
