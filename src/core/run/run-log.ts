/**
 * The events and history entries of one link of a chain, for readers. It is not part of the state:
 * a hand-over archives it and the next link begins with an empty one, so a chain of any length
 * hands over the same amount. The history limit of a link bounds it.
 */
import type { Entry } from '../contract/entry.ts';
import type { AgentEvent } from '../contract/events.ts';

/** The log of one link; only `add` changes it. */
export interface RunLog {
  /** Index in the whole chain of the first event, and of the first entry, of this link. */
  readonly firstEvent: number;
  readonly firstEntry: number;
  readonly events: readonly AgentEvent[];
  readonly entries: readonly Entry[];
  add(event: AgentEvent, entry: Entry | undefined): void;
}

/** An empty log that continues after `seq` events and `historyLength` entries. */
export function createRunLog(before: {
  readonly seq: number;
  readonly historyLength: number;
}): RunLog {
  const events: AgentEvent[] = [];
  const entries: Entry[] = [];
  return {
    firstEvent: before.seq,
    firstEntry: before.historyLength,
    events,
    entries,
    add: (event, entry) => {
      events.push(event);
      if (entry !== undefined) entries.push(entry);
    },
  };
}
