/** Where a run stands in its tree, for those who read its events. */
import { defined } from '../base/defined.ts';
import type { EventPlace } from '../contract/events.ts';
import type { RunState } from '../run/run-state.ts';

/** What a host knows of the link in which a run is. */
export type LinkPlace = Pick<
  EventPlace,
  'workflowId' | 'rootWorkflowId' | 'linkStartedAt' | 'historyEvents' | 'historyBytes'
>;

/** What workers are told of the run in `state`, beside its events. */
export function eventPlaceOf(state: RunState, link: number, host: LinkPlace): EventPlace {
  const { parent, runId, startedAt, conversation, trace, tenant, head } = state;
  const { pipeline, fanOut, evaluation } = head.spec;
  const isWorkflow = [pipeline, fanOut, evaluation].some((loop) => loop !== undefined);
  return {
    ...host,
    link,
    rootRunId: parent?.rootRunId ?? runId,
    kind: isWorkflow ? 'workflow' : 'agent',
    startedAt,
    ...defined({ tenant, conversation, trace, parent: parent && callOf(parent) }),
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
