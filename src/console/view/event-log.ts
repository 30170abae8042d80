/**
 * Brings live events into order. They arrive at least once, in any order, and with gaps.
 *
 * I1  `ready` are events with consecutive numbers, each once over the life of a log.
 * I2  An event after a gap is kept until the gap is filled, so no state is shown that the run was
 *     not in.
 * I3  The log keeps at most {@link MAX_AHEAD} events after a gap. It drops the newest first, since
 *     reading the gap brings them again.
 */
import type { AgentEvent } from '../../core/contract/events.ts';

/** How many events after a gap are kept. */
const MAX_AHEAD = 1_000;

/** What is known of the order of a run's events. */
export interface EventLog {
  /** `seq` of the last event that was ready; 0 before the first. */
  readonly last: number;
  /** Events after a gap, by `seq`. */
  readonly ahead: readonly AgentEvent[];
}

/** Events that are missing: `from` to before `until`. */
export interface EventGap {
  readonly from: number;
  readonly until: number;
}

/** A log after events were admitted. */
export interface Admission {
  readonly log: EventLog;
  /** The events that can be folded now, in order. */
  readonly ready: readonly AgentEvent[];
  /** What to read before `log.ahead` is ready; null: nothing is missing. */
  readonly gap: EventGap | null;
}

/** A log whose last event has number `last`. */
export function logAfter(last: number): EventLog {
  return { last, ahead: [] };
}

/** `log` with `events`, which may repeat and come in any order. */
export function admit(log: EventLog, events: readonly AgentEvent[]): Admission {
  const known = new Map<number, AgentEvent>();
  for (const event of [...log.ahead, ...events]) {
    if (event.seq > log.last) known.set(event.seq, event);
  }
  const sorted = [...known.values()].toSorted((a, b) => a.seq - b.seq);
  const end = sorted.findIndex(({ seq }, index) => seq !== log.last + 1 + index);
  const ready = end === -1 ? sorted : sorted.slice(0, end);
  const ahead = sorted.slice(ready.length, ready.length + MAX_AHEAD);
  const last = ready.at(-1)?.seq ?? log.last;
  const [next] = ahead;
  return {
    log: { last, ahead },
    ready,
    gap: next === undefined ? null : { from: last + 1, until: next.seq },
  };
}
