/** Where the spans of a run belong. */
import { sha256 } from '../base/sha256.ts';
import { defined } from '../base/defined.ts';
import { readTraceparent, type EventPlace, type TraceInput } from '../contract/trace.ts';
import type { RunState } from './run-state.ts';

/** What a host knows of the link in which a run is. */
export type LinkPlace = Pick<
  EventPlace,
  'workflowId' | 'rootWorkflowId' | 'linkStartedAt' | 'historyEvents' | 'historyBytes'
>;

/**
 * The id of a tree's trace: that of the traceparent with which it was started, else the first 16
 * bytes of a hash of the root's run id. 32 hexadecimal digits.
 */
export function traceIdOf(rootRunId: string, trace?: TraceInput): string {
  const parent = trace?.parent === undefined ? null : readTraceparent(trace.parent);
  return parent?.traceId ?? sha256(`everloop trace ${rootRunId}`).slice(0, 32);
}

/** What workers are told of the run in `state`, beside its events. */
export function eventPlaceOf(state: RunState, link: number, host: LinkPlace): EventPlace {
  const { parent, runId, startedAt, conversation, trace, head } = state;
  const { pipeline, fanOut } = head.spec;
  const isWorkflow = pipeline !== undefined || fanOut !== undefined;
  return {
    ...host,
    link,
    rootRunId: parent?.rootRunId ?? runId,
    kind: isWorkflow ? 'workflow' : 'agent',
    startedAt,
    ...defined({ conversation, trace, parent: parent && callOf(parent) }),
  };
}

function callOf({
  runId,
  callId,
  byLoop,
  path,
}: NonNullable<RunState['parent']>): NonNullable<EventPlace['parent']> {
  // `planner/2/writer`: the child of planner's iteration 2.
  const iteration = Number(path.split('/').at(-2)) || 0;
  return { runId, iteration, ...defined({ callId: byLoop === true ? undefined : callId }) };
}
