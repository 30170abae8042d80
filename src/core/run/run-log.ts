/**
 * What one link of a chain remembers to show: its events and its history entries. It is not part
 * of the state: a hand-over archives it and the next link begins with an empty one, so a chain of
 * any length hands over the same amount. Bounded by the history limit of a link.
 */
import type { Entry } from '../contract/entry.ts';
import type { AgentEvent } from '../contract/events.ts';

/** The log of one link; grows by `add` alone. */
export interface RunLog {
  /** Index in the whole chain of the first event, and of the first entry, of this link. */
  readonly firstEvent: number;
  readonly firstEntry: number;
  readonly events: readonly AgentEvent[];
  readonly entries: readonly Entry[];
  add(event: AgentEvent, entry: Entry | undefined): void;
}

/** An empty log that continues behind `seq` events and `historyLength` entries. */
export function createRunLog(behind: {
  readonly seq: number;
  readonly historyLength: number;
}): RunLog {
  const events: AgentEvent[] = [];
  const entries: Entry[] = [];
  return {
    firstEvent: behind.seq,
    firstEntry: behind.historyLength,
    events,
    entries,
    add: (event, entry) => {
      events.push(event);
      if (entry !== undefined) entries.push(entry);
    },
  };
}
