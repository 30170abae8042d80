/** Listeners for a selection of events. */
import type { AgentEvent } from '../../core/contract/events.ts';
import type { EventListener } from './worker-sinks.ts';

/** A selection of events; an absent list selects all. */
export interface EventFilter {
  /** Types of events, such as `agent:tool_call:after` or your own. */
  readonly types?: readonly AgentEvent['type'][];
  /** Names of agents. */
  readonly agents?: readonly string[];
}

/**
 * A listener that passes on the events that match `filter`, in the same order.
 *
 * @example
 * await runWorker({ agents, listeners: [subscribe(note, { types: ['agent:limit_exceeded'] })] });
 */
export function subscribe(listener: EventListener, filter: EventFilter): EventListener {
  const types = filter.types === undefined ? null : new Set<string>(filter.types);
  const agents = filter.agents === undefined ? null : new Set(filter.agents);
  return (event, place) => {
    if (types !== null && !types.has(event.type)) return;
    if (agents === null || agents.has(event.agent)) listener(event, place);
  };
}
