/**
 * Ids of spans, computed from the ids of runs: every worker gives a span the same id, so a span that
 * is sent twice is one span, and an activity knows the id of a span that is made later.
 */
import { createHash } from 'node:crypto';
import { readTraceparent } from '../core/base/traceparent.ts';
import type { EventPlace } from '../core/contract/events.ts';

/** The names of spans in a run. Each is unique in its run. */
export const SPAN_NAMES = {
  run: 'run',
  link: (number: number) => `link ${number}`,
  turn: (iteration: number) => `turn ${iteration}`,
  /** A turn of a conversation, from 1. */
  message: (turn: number) => `message ${turn}`,
  /** `seq` of the event that began the call; of a call that a tool reported, that of its report. */
  model: (seq: number) => `model ${seq}`,
  attempt: (seq: number, attempt: number) => `attempt ${seq} ${attempt}`,
  tool: (callId: string) => `tool ${callId}`,
  program: (programId: string) => `program ${programId}`,
  /** `id` of the question, of the approval or of the outside work. */
  wait: (kind: 'question' | 'approval' | 'external', id: string) => `wait ${kind} ${id}`,
  pause: (seq: number) => `pause ${seq}`,
  /** What has no beginning of its own: `seq` of its event. */
  event: (seq: number) => `event ${seq}`,
} as const;

/** The id of span `name` of run `runId`, 16 hexadecimal digits. */
export function spanIdOf(runId: string, name: string): string {
  return digestOf(`everloop span ${runId} ${name}`).slice(0, 16);
}

/** The span in which an event is: that of its call, else that of its iteration or run. */
export function spanIdAround({
  runId,
  iteration,
  callId,
}: {
  readonly runId: string;
  readonly iteration: number;
  readonly callId?: string;
}): string {
  if (callId !== undefined) return spanIdOf(runId, SPAN_NAMES.tool(callId));
  return spanIdOf(runId, iteration === 0 ? SPAN_NAMES.run : SPAN_NAMES.turn(iteration));
}

/** A tree, as orders and events name it. */
export type TracedTree = Pick<EventPlace, 'rootRunId'> & {
  readonly traceparent?: string | undefined;
};

/** The id of the trace of a tree, 32 hexadecimal digits; the same as that of its Steps. */
export function treeTraceId({ rootRunId, traceparent }: TracedTree): string {
  const parent = traceparent === undefined ? null : readTraceparent(traceparent);
  return parent?.traceId ?? digestOf(`everloop trace ${rootRunId}`).slice(0, 32);
}

/**
 * Whether a trace is among the share that is recorded, from 0 to 1. Every worker decides alike. A
 * caller that does not record its own trace decides for the tree.
 */
export function isSampled({ rootRunId, traceparent }: TracedTree, share: number): boolean {
  const parent = traceparent === undefined ? null : readTraceparent(traceparent);
  if (parent !== null && !parent.isSampled) return false;
  const id = treeTraceId({ rootRunId, traceparent });
  return Number.parseInt(id.slice(-8), 16) < share * 2 ** 32;
}

/** Not by `hash` of `node:crypto`: an older Node lacks it, and would say that in place of its age. */
function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
