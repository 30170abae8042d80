/**
 * The idle part of a run's state: its pause, and what waits for people and outside work. Also the
 * active time, in which the run is not idle.
 */
import type { Stats, StatChange } from '../contract/stats.ts';
import type { EventBase, EventBody } from '../contract/events.ts';
import {
  withItem,
  withSettled,
  type SettledItem,
  type StandingApproval,
  type WaitingItem,
} from '../contract/pending.ts';

/** The idle part of a run's state. */
export interface IdleState {
  /** When the pause began; null while the run is not paused. */
  readonly pausedAt: number | null;
  /** Milliseconds spent in pauses and in waits for people that are over. */
  readonly idleMs: number;
  /** What waits for people and outside work, oldest first; absent if nothing has waited yet. */
  readonly pending?: readonly WaitingItem[];
  /** What waited and has ended, newest last; absent if nothing has. */
  readonly settled?: readonly SettledItem[];
  /** The approvals that hold for later calls, oldest first; absent if none was given. */
  readonly standing?: readonly StandingApproval[];
  /** Since when the run waits only for `pending`; null or absent while it works. */
  readonly waitingSince?: number | null;
}

/** The data of such events that is not published. */
export interface IdleCarried {
  /** The item that begins to wait, with `agent:question:asked` and similar events. */
  readonly item?: WaitingItem;
  /** The approval that holds for later calls too, with `agent:approval:decided`. */
  readonly standing?: StandingApproval;
}

/** The events that change only this part of the state. */
export type IdleEvent = EventBase &
  Extract<
    EventBody,
    {
      readonly type:
        | 'agent:question:asked'
        | 'agent:question:answered'
        | 'agent:approval:requested'
        | 'agent:approval:decided'
        | 'agent:approval:revoked'
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

/** The fields that `event` changes. */
export function changedIdle(
  state: IdleState,
  event: IdleEvent,
  { item, standing }: IdleCarried,
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
      return {
        ...withoutItems(state, ({ callId }) => callId === event.callId, event.at),
        ...(standing === undefined ? NOTHING : { standing: [...(state.standing ?? []), standing] }),
      };
    case 'agent:approval:revoked':
      return { standing: (state.standing ?? []).filter(({ id }) => id !== event.callId) };
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

/** Settles the items for which `isOver` holds; after the last one, the run works again. */
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

/**
 * Changes of the two gauges of time. Events of one activation have the same time, so most change
 * neither.
 */
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

/** Whether the run is idle: paused, or waiting only for people. */
export function isIdle({ pausedAt, waitingSince }: IdleState): boolean {
  return pausedAt !== null || (waitingSince ?? null) !== null;
}

/**
 * The idle time to add when a pause or a wait that began at `since` ends. If the other of the two
 * goes on since `other`, the time from then on is added when that one ends.
 */
function idleBefore(since: number, other: number | null | undefined, at: number): number {
  return Math.max(0, Math.min(other ?? at, at) - since);
}
