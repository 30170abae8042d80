/**
 * A run in progress: its state, and `record`, through which everything that happens goes.
 *
 * I1  `record` is synchronous and whole: state, statistics, limits, publication. Nobody else has to
 *     remember to count, to check or to publish.
 * I2  Everybody sees the cause before the limit: the event is published first, then the breach.
 * I3  A breach by value aborts what is in flight; a breach by a check before work does not.
 * I4  The event that ends a link of the chain (`execution:after`, `execution:handover`) is its last:
 *     no limit, deadline or message is recorded behind it. A run whose hand-over failed may still end.
 */
import { covers, firstBreach, wouldCross } from '../limits/breach.ts';
import type { Breach, Limit } from '../contract/limit.ts';
import { valueOf, type Numbers } from '../contract/stats.ts';
import { tally } from '../stats/tally.ts';
import { deadlinesOf, lateDeadline, nextInherited } from '../tree/inherit.ts';
import type { Deadline } from '../contract/lease.ts';
import { blockingLease, reservedOf, type Ledger } from '../tree/ledger.ts';
import type { Entry } from '../contract/entry.ts';
import type { AgentEvent, EventBody, OwnEventBody } from '../contract/events.ts';
import type { Host } from './host.ts';
import { activeMs, isIdle } from './idle-state.ts';
import type { ProgramView } from '../contract/report.ts';
import { programOfState } from './view.ts';
import { apply, type Carried, type RunState } from './run-state.ts';

/** How a program that runs is looked at. */
export interface ProgramWatch {
  view(): ProgramView;
  timers(): readonly number[];
}

/** A run in progress. `state` is always the newest; read it again after each wait. */
export interface Run {
  readonly state: RunState;
  /** Whether `execution:after` is recorded. */
  readonly hasEnded: boolean;
  /** Whether the event that ends this link of the chain is recorded, and nothing is behind it (I4). */
  readonly isClosed: boolean;
  /** Records one event: apply, check limits, publish. */
  record(body: EventBody | OwnEventBody, carried?: Carried): void;
  /** Records a breach that a check before work found; what is in flight goes on. */
  breach(breach: Breach): void;
  /**
   * The first limit that one more of `keys` would cross beside `pending`: of the run's own, then of its
   * parts of ancestors' limits. What is reserved for children counts.
   */
  readonly wouldCross: (keys: readonly string[], pending?: Numbers) => Breach | null;
  /** Whether recording `body` would cross a limit of the run's own; nothing is recorded. */
  wouldBreach(body: EventBody): boolean;
  /** Appends an entry to the history, and with `to: 'both'` to the scratchpad. */
  append(entry: Omit<Entry, 'index'>, to: 'history' | 'both'): void;
  /** Replaces the scratchpad and starts a new epoch; the history keeps all. */
  replaceScratchpad(entries: readonly Entry[]): void;
  /** Replaces the limits; acts at once, also on a deadline that is running. */
  adjust(limits: readonly Limit[]): void;
  /** Stops before the next iteration or effect of a program, but timers; what is in flight ends normally. */
  pause(): void;
  /** Goes on. */
  resume(): void;
  /** Says how the program that runs is looked at; null: none runs. */
  watchProgram(watch: ProgramWatch | null): void;
  /** The program that runs, else the last one; null when there was none. */
  program(): ProgramView | null;
  /** When the timers end that a program waits for, in milliseconds since 1970. */
  timers(): readonly number[];
}

/** A run that begins with `state` and acts on `host`. */
export function createRun(initial: RunState, host: Host): Run {
  let state = initial;
  let isClosed = false;
  let watch: ProgramWatch | null = null;
  let hasEnded = false;

  const eventOf = (body: EventBody | OwnEventBody): AgentEvent => ({
    ...body,
    seq: state.seq + 1,
    runId: state.runId,
    agent: state.head.spec.name,
    agentPath: state.agentPath,
    at: host.now(),
    iteration: body.type === 'agent:iteration:before' ? state.iteration + 1 : state.iteration,
    depth: state.depth,
  });

  const publishOne = (body: EventBody | OwnEventBody, carried: Carried): void => {
    const event = eventOf(body);
    state = apply(state, event, carried);
    host.publish(
      event,
      event.type === 'agent:iteration_history:change' ? carried.entry : undefined,
    );
  };

  const record = (body: EventBody | OwnEventBody, carried: Carried = {}): void => {
    const ends = body.type === 'agent:execution:after';
    if (isClosed && !ends) return;
    const wasIdle = isIdle(state);
    const { parent } = state;
    publishOne(body, carried);
    hasEnded ||= ends;
    isClosed = ends || body.type === 'agent:execution:handover';
    if (isClosed) return;
    checkLimits();
    // Active time stands still while the run does, and so does its deadline.
    if (isIdle(state) !== wasIdle || state.parent !== parent) armDeadline();
  };

  const checkLimits = (): void => {
    if (state.breach !== null) return;
    const found = firstBreach(state.limits, state.stats);
    if (found === null) return;
    publishOne({ type: 'agent:limit_exceeded', ...found }, {});
    host.abort();
  };

  // The gauges of time are set by events; when nothing happens, the deadline looks at the clock.
  const armDeadline = (): void => {
    const due = nextDeadline(state, host.now());
    const at = due === null ? null : Math.min(due, host.now() + MAX_TIMER_MS);
    host.setDeadline(at, () => {
      if (isClosed || state.breach !== null) return;
      const late = firstLate(state, host.now());
      if (late === null) return armDeadline();
      publishOne({ type: 'agent:limit_exceeded', ...late }, {});
      host.abort();
    });
  };

  armDeadline();
  return {
    get state() {
      return state;
    },
    get hasEnded() {
      return hasEnded;
    },
    get isClosed() {
      return isClosed;
    },
    record,
    breach: (breach) => {
      if (state.breach === null) publishOne({ type: 'agent:limit_exceeded', ...breach }, {});
    },
    wouldCross: (keys, pending) => {
      const ledger = ledgerOf(state);
      const reserved = (limit: Limit): number => reservedOf(ledger, limit);
      return (
        wouldCross(state.limits, state.stats, keys, pending, reserved) ??
        blockingLease(ledger, keys, pending)
      );
    },
    wouldBreach: (body) => firstBreach(state.limits, tally(state.stats, eventOf(body))) !== null,
    append: (entry, to) => {
      const whole = { index: state.historyLength, ...entry };
      record({ type: 'agent:iteration_history:change', index: whole.index }, { entry: whole });
      if (to === 'history') return;
      const lengthBefore = state.scratchpad.length;
      record(
        {
          type: 'agent:scratchpad:change',
          epoch: state.mark.epoch,
          lengthBefore,
          lengthAfter: lengthBefore + 1,
          added: 1,
          removed: 0,
        },
        { entry: whole },
      );
    },
    replaceScratchpad: (entries) => {
      const before = new Set(state.scratchpad.map((entry) => entry.index));
      const kept = entries.filter((entry) => before.has(entry.index)).length;
      record(
        {
          type: 'agent:scratchpad:change',
          epoch: state.mark.epoch + 1,
          lengthBefore: before.size,
          lengthAfter: entries.length,
          added: entries.length - kept,
          removed: before.size - kept,
        },
        { scratchpad: entries },
      );
    },
    adjust: (limits) => {
      const before = JSON.stringify(deadlinesBelow(state));
      record({ type: 'agent:adjusted', limits });
      armDeadline();
      if (JSON.stringify(deadlinesBelow(state)) !== before) tellDeadlines(state, host);
    },
    pause: () => {
      if (state.pausedAt !== null) return;
      record({ type: 'agent:paused' });
    },
    resume: () => {
      if (state.pausedAt === null) return;
      record({ type: 'agent:resumed' });
    },
    watchProgram: (at) => {
      watch = at;
    },
    program: () => watch?.view() ?? programOfState(state),
    timers: () => watch?.timers() ?? [],
  };
}

const WALL_CLOCK = 'agent:wall_clock_ms';
const ACTIVE = 'agent:active_ms';

/**
 * Longest timer, 20 days; one that comes early is armed again. JavaScript's own timers hold 24.8
 * days, and dates behind 2262 overflow the nanoseconds of a service.
 */
const MAX_TIMER_MS = 1_728_000_000;

/** The first limit on time that the clock has crossed at `now`, though no event has shown it yet. */
function firstLate(state: RunState, now: number): Breach | null {
  // Without any other statistic only limits on time can trip.
  const gauges = { [WALL_CLOCK]: now - state.startedAt, [ACTIVE]: activeMs(state, now) };
  const own = firstBreach(state.limits, { counters: {}, gauges });
  return own ?? lateDeadline(state.parent?.deadlines ?? [], now);
}

/** When the first limit on time will be crossed; null when there is none, or time stands still. */
function nextDeadline(state: RunState, now: number): number | null {
  const dues = state.limits.flatMap((limit) => {
    if (limit.onReach === 'refuse') return [];
    if (covers(limit, WALL_CLOCK)) return [state.startedAt + limit.max + 1];
    if (!covers(limit, ACTIVE) || isIdle(state)) return [];
    return [now + limit.max + 1 - activeMs(state, now)];
  });
  const above = nextInherited(state.parent?.deadlines ?? []);
  if (above !== null) dues.push(above);
  return dues.length === 0 ? null : Math.min(...dues);
}

/** Until when a run and those above it may run, as its children are told. */
export function deadlinesBelow({
  runId,
  head,
  limits,
  startedAt,
  parent,
}: RunState): readonly Deadline[] {
  return deadlinesOf({ runId, agent: head.spec.name }, limits, startedAt, parent?.deadlines ?? []);
}

/** Tells all children that live until when they may run. */
export function tellDeadlines(state: RunState, host: Host): void {
  const deadlines = deadlinesBelow(state);
  const message = { v: 1, kind: 'deadlines', number: state.seq, deadlines } as const;
  for (const { childId } of state.children ?? []) host.send({ to: 'child', childId, message });
}

/** What of a run its budgets are computed from. */
export function ledgerOf(state: RunState): Ledger {
  const { runId, head, limits, stats, leases = [], children = [] } = state;
  const { openCalls = [], openModels: models = [] } = state;
  const calls = openCalls.map(({ tool }) => tool);
  return { runId, agent: head.spec.name, limits, leases, children, stats, calls, models };
}

/** Whether the run is over, wherever it stands: a breach, or a cancel that waits. */
export function isStopped(run: Run, host: Host): boolean {
  return run.state.breach !== null || host.mailbox.peek().cancel !== null;
}

/** Whether an input waits that interrupts what is in flight. */
export function isInterrupted(host: Host): boolean {
  return host.mailbox.peek().waiting.some((input) => input.kind === 'interrupt');
}

/** Value of a statistic of the run. */
export function statOf(run: Run, key: string): number {
  return valueOf(run.state.stats, key);
}
