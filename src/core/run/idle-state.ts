/**
 * What a run's state holds of standing still: its pause, and what waits for people and the outside. And
 * the time that counts, which is that in which the run does not stand still.
 */
import type { Stats, StatChange } from '../contract/stats.ts';
import type { EventBase, EventBody } from '../contract/events.ts';
import { withItem, withSettled, type SettledItem, type WaitingItem } from '../contract/pending.ts';

/** The part of a run's state that is about standing still. */
export interface IdleState {
  /** When the pause began; null while the run is not paused. */
  readonly pausedAt: number | null;
  /** Milliseconds spent in pauses and in waits for people that are over. */
  readonly idleMs: number;
  /** What waits for people and the outside, oldest first; absent until something does. */
  readonly pending?: readonly WaitingItem[];
  /** What waited and has ended, newest last; absent until something has. */
  readonly settled?: readonly SettledItem[];
  /** Since when nothing but `pending` is waited for; null or absent while the run works. */
  readonly waitingSince?: number | null;
}

/** What events about waits bring that is not published. */
export interface IdleCarried {
  /** What begins to wait, by `agent:question:asked` and its like. */
  readonly item?: WaitingItem;
}

/** The events that are about nothing else. */
export type IdleEvent = EventBase &
  Extract<
    EventBody,
    {
      readonly type:
        | 'agent:question:asked'
        | 'agent:question:answered'
        | 'agent:approval:requested'
        | 'agent:approval:decided'
        | 'agent:external:begun'
        | 'agent:external:ended'
        | 'agent:waiting'
        | 'agent:paused'
        | 'agent:resumed';
    }
  >;

const NOTHING: Partial<IdleState> = {};

const WALL_CLOCK = 'agent:wall_clock_ms';
const ACTIVE = 'agent:active_ms';

/** What `event` changes. */
export function changedIdle(
  state: IdleState,
  event: IdleEvent,
  { item }: IdleCarried,
): Partial<IdleState> {
  switch (event.type) {
    case 'agent:question:asked':
    case 'agent:approval:requested':
    case 'agent:external:begun':
      return item === undefined ? NOTHING : { pending: withItem(state.pending ?? [], item) };
    case 'agent:question:answered':
      return withoutItems(state, ({ id }) => id === event.questionId, event.at);
    case 'agent:approval:decided':
    case 'agent:external:ended':
      return withoutItems(state, ({ callId }) => callId === event.callId, event.at);
    case 'agent:waiting':
      return { waitingSince: state.waitingSince ?? event.at };
    case 'agent:paused':
      return { pausedAt: state.pausedAt ?? event.at };
    case 'agent:resumed':
      return state.pausedAt === null
        ? NOTHING
        : {
            pausedAt: null,
            idleMs: state.idleMs + idleBefore(state.pausedAt, state.waitingSince, event.at),
          };
  }
}

/** The run works again, whatever still waits. */
export function goingOn(
  { waitingSince, pausedAt, idleMs }: IdleState,
  at: number,
): Partial<IdleState> {
  if (waitingSince === null || waitingSince === undefined) return NOTHING;
  return { waitingSince: null, idleMs: idleMs + idleBefore(waitingSince, pausedAt, at) };
}

/** The items of `isOver` have ended; with the last of them the run works again. */
export function withoutItems(
  state: IdleState,
  isOver: (item: WaitingItem) => boolean,
  at: number,
): Partial<IdleState> {
  const { pending = [], settled = [] } = state;
  const over = pending.filter(isOver);
  if (over.length === 0) return NOTHING;
  const left = pending.filter((item) => !isOver(item));
  return {
    pending: left,
    settled: over.reduce(withSettled, settled),
    ...(left.length === 0 ? goingOn(state, at) : {}),
  };
}

/** The gauges of time. Events of one activation share its time, so most of them move neither. */
export function clockChanges(
  state: IdleState & { readonly startedAt: number; readonly stats: Stats },
  {
    pausedAt = state.pausedAt,
    idleMs = state.idleMs,
    waitingSince = state.waitingSince ?? null,
  }: Partial<IdleState>,
  at: number,
): readonly StatChange[] {
  const { startedAt } = state;
  const { gauges } = state.stats;
  const wallClock = at - startedAt;
  const active = activeMs({ startedAt, pausedAt, idleMs, waitingSince }, at);
  return [
    ...(gauges[WALL_CLOCK] === wallClock
      ? []
      : [{ kind: 'set', key: WALL_CLOCK, value: wallClock } as const]),
    ...(gauges[ACTIVE] === active ? [] : [{ kind: 'set', key: ACTIVE, value: active } as const]),
  ];
}

/** Milliseconds of the run at `at`, without pauses and waits for people. */
export function activeMs(
  state: Pick<IdleState, 'pausedAt' | 'idleMs' | 'waitingSince'> & { readonly startedAt: number },
  at: number,
): number {
  const { startedAt, pausedAt, idleMs, waitingSince } = state;
  const idleSince = Math.min(pausedAt ?? at, waitingSince ?? at);
  return idleSince - startedAt - idleMs;
}

/** Whether the run stands still: paused, or waiting for people alone. */
export function isIdle({ pausedAt, waitingSince }: IdleState): boolean {
  return pausedAt !== null || (waitingSince ?? null) !== null;
}

/**
 * What the end of one kind of standing still adds to the time that is over, when the other kind has
 * gone on since `other`: that part counts when the other ends.
 */
function idleBefore(since: number, other: number | null | undefined, at: number): number {
  return Math.max(0, Math.min(other ?? at, at) - since);
}
