/** What runs below a turn have asked people, among the events of the turn. */
import type { AgentEvent } from '../core/contract/events.ts';
import type { RunHandle } from '../client/run-handle.ts';

/** The part of a run that is read. */
export type RunAbove = Pick<RunHandle, 'child'>;

type Spawn = Extract<AgentEvent, { readonly type: 'agent:child:spawn' }>;
type Asking = Extract<
  AgentEvent,
  {
    readonly type:
      | 'agent:question:asked'
      | 'agent:question:answered'
      | 'agent:approval:requested'
      | 'agent:tool_call:after';
  }
>;

/**
 * `events` of `run`, and by time those with which runs below it asked people and got answers. They have
 * ids as in `pending()`, and count to the iteration that started the run. Reads the events of each run
 * below that has asked, or that goes on.
 */
export async function withBelow(
  run: RunAbove,
  events: readonly AgentEvent[],
): Promise<readonly AgentEvent[]> {
  const below: AgentEvent[] = [];
  for (const event of events) {
    if (event.type !== 'agent:child:spawn' || !mayHaveAsked(event, events)) continue;
    below.push(...(await askedIn(run, event)));
  }
  if (below.length === 0) return events;
  // The order of events of one run stays as it is.
  return [...events, ...below].sort((one, other) => one.at - other.at);
}

async function askedIn(run: RunAbove, { callId, iteration }: Spawn): Promise<readonly Asking[]> {
  const child = await run.child(callId);
  const events = await withBelow(child, await child.events());
  const approvals = new Set(
    events.flatMap((event) => (event.type === 'agent:approval:requested' ? [event.callId] : [])),
  );
  const under = (id: string): string => `${callId}/${id}`;
  return events.flatMap((event): readonly Asking[] => {
    switch (event.type) {
      case 'agent:question:asked':
      case 'agent:question:answered':
        return [{ ...event, iteration, questionId: under(event.questionId) }];
      case 'agent:approval:requested':
        return [{ ...event, iteration, callId: under(event.callId) }];
      case 'agent:tool_call:after':
        return approvals.has(event.callId)
          ? [{ ...event, iteration, callId: under(event.callId) }]
          : [];
      default:
        return [];
    }
  });
}

function mayHaveAsked({ childId }: Spawn, events: readonly AgentEvent[]): boolean {
  const end = events.find((event) => {
    return event.type === 'agent:child:complete' && event.childId === childId;
  });
  if (end?.type !== 'agent:child:complete') return true;
  const { 'agent:questions': questions = 0, 'agent:approvals_requested': approvals = 0 } =
    end.totals;
  return questions + approvals > 0;
}
