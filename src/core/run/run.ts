/**
 * A run in progress: its state, and `record`, which records everything that happens.
 *
 * I1  `record` is synchronous and complete: state, statistics, limits, publication. No other code
 *     has to count, check or publish.
 * I2  A cause is published before its limit: first the event, then the breach.
 * I3  A breach that a statistic shows aborts what is in flight; a breach that a check before work
 *     finds does not.
 * I4  The event that ends a link of the chain (`execution:after`, `execution:handover`) is its
 *     last: no limit, deadline or message is recorded after it. A run whose hand-over failed may
 *     still end.
 */
import { defined } from '../base/defined.ts';
import { unkeptLimit } from '../limits/usage-limits.ts';
import { covers, firstBreach, wouldCross } from '../limits/breach.ts';
import type { Breach, Limit } from '../contract/limit.ts';
import type { Reply } from '../contract/model.ts';
import { valueOf, type Numbers } from '../contract/stats.ts';
import type { Turn } from '../contract/turn.ts';
import { tally } from '../stats/tally.ts';
import { deadlinesOf, lateDeadline, nextInherited } from '../tree/inherit.ts';
import type { Deadline } from '../contract/lease.ts';
import { blockingLease, reservedOf, type Ledger } from '../tree/ledger.ts';
import type { Entry } from '../contract/entry.ts';
import type { AgentEvent, EventBody, OwnEventBody } from '../contract/events.ts';
import { leaving } from './ending.ts';
import type { Host } from './host.ts';
import { activeMs, isIdle } from './idle-state.ts';
import type { ProgramView } from '../contract/report.ts';
import { wellFormed } from '../text/well-formed.ts';
import { programOfState, type OpenReply } from './view.ts';
import { apply, isBetweenTurns, type Carried, type RunState } from './run-state.ts';

/** How to look at a running program. */
export interface ProgramWatch {
  view(): ProgramView;
  timers(): readonly number[];
}

/** A run in progress. `state` is always the newest; read it again after each wait. */
export interface Run {
  readonly state: RunState;
  readonly host: Host;
  /** What its budgets are computed from. */
  readonly ledger: Ledger;
  /** Whether `execution:after` is recorded. */
  readonly hasEnded: boolean;
  /** Whether the event that ends this link of the chain is recorded (I4). */
  readonly isClosed: boolean;
  /** Whether the run must end: a breach, or a cancel that waits. */
  isStopped(): boolean;
  /** Whether an input waits to interrupt what is in flight. */
  isInterrupted(): boolean;
  /** Whether work in progress must be left: the run is stopped or interrupted. */
  mustLeave(): boolean;
  /** Records one event: apply, check limits, publish. */
  record(body: EventBody | OwnEventBody, carried?: Carried): void;
  /** Records a breach that a check before work found; what is in flight goes on. */
  breach(breach: Breach): void;
  /**
   * The first limit that one more of `keys` would cross in addition to `pending`: of the run's own
   * limits, then of its leases. What is reserved for children counts.
   */
  readonly wouldCross: (keys: readonly string[], pending?: Numbers) => Breach | null;
  /** Whether recording `body` would cross a limit of the run's own; nothing is recorded. */
  wouldBreach(body: EventBody): boolean;
  /** Appends an entry to the history, and with `to: 'both'` to the scratchpad. */
  append(entry: Omit<Entry, 'index'>, to: 'history' | 'both'): void;
  /** Replaces the scratchpad and starts a new epoch; the history keeps all. */
  replaceScratchpad(entries: readonly Entry[]): void;
  /** Replaces the limits; takes effect at once, even for a deadline that is already set. */
  adjust(limits: readonly Limit[], by?: string): void;
  /** Begins no iteration and no effect but timers; what is in flight ends normally. */
  pause(by?: string): void;
  /** Ends a pause. */
  resume(by?: string): void;
  /** Sets the view of the running program; null: none runs. */
  watchProgram(watch: ProgramWatch | null): void;
  /** The program that runs, else the last one; null when there was none. */
  program(): ProgramView | null;
  /** When the timers of the running program end, in milliseconds since 1970. */
  timers(): readonly number[];
  /** Shows a reply of the open iteration before the transcript has it, and how it was read. */
  showReply(reply: Reply, turn?: Turn): void;
  /** The reply that was shown last; null: there was none in this link. */
  shownReply(): OpenReply | null;
}

/** The parts of a run that change. */
interface Progress {
  readonly host: Host;
  state: RunState;
  hasEnded: boolean;
  isClosed: boolean;
  watch: ProgramWatch | null;
  shownReply: OpenReply | null;
}

/** A run that begins with `state` and acts on `host`. */
export function createRun(state: RunState, host: Host): Run {
  const progress = startProgress(state, host);
  const isStopped = (): boolean =>
    progress.state.breach !== null || host.mailbox.peek().cancel !== null;
  const isInterrupted = (): boolean =>
    host.mailbox.peek().waiting.some((input) => input.kind === 'interrupt');
  const record: Run['record'] = (body, carried) => recordEvent(progress, body, carried);
  setDeadline(progress);
  return {
    host,
    get state() {
      return progress.state;
    },
    get ledger() {
      return ledgerOf(progress.state);
    },
    get hasEnded() {
      return progress.hasEnded;
    },
    get isClosed() {
      return progress.isClosed;
    },
    isStopped,
    isInterrupted,
    mustLeave: () => isStopped() || isInterrupted(),
    record,
    breach: (breach) => {
      if (progress.state.breach === null) publishBreach(progress, breach);
    },
    wouldCross: (keys, pending) => limitInTheWay(progress.state, keys, pending),
    wouldBreach: (body) => {
      const { limits, stats } = progress.state;
      return firstBreach(limits, tally(stats, eventOf(progress, body))) !== null;
    },
    append: (entry, to) => {
      const whole = { index: progress.state.historyLength, ...entry };
      record({ type: 'agent:iteration_history:change', index: whole.index }, { entry: whole });
      if (to === 'both') record(appendedEvent(progress.state), { entry: whole });
    },
    replaceScratchpad: (entries) =>
      record(replacedEvent(progress.state, entries), { scratchpad: entries }),
    adjust: (limits, by) => {
      const before = JSON.stringify(deadlinesBelow(progress.state));
      record({ type: 'agent:adjusted', limits, ...defined({ by }) });
      setDeadline(progress);
      if (JSON.stringify(deadlinesBelow(progress.state)) !== before) sendDeadlines(progress);
    },
    pause: (by) => {
      if (progress.state.pausedAt === null) record({ type: 'agent:paused', ...defined({ by }) });
    },
    resume: (by) => resume(progress, by),
    watchProgram: (watch) => {
      progress.watch = watch;
    },
    program: () => progress.watch?.view() ?? programOfState(progress.state),
    timers: () => progress.watch?.timers() ?? [],
    showReply: (reply, turn) => showReply(progress, reply, turn),
    shownReply: () => progress.shownReply,
  };
}

function startProgress(state: RunState, host: Host): Progress {
  return { host, state, hasEnded: false, isClosed: false, watch: null, shownReply: null };
}

function showReply(progress: Progress, reply: Reply, turn: Turn | undefined): void {
  const { iteration } = progress.state;
  progress.shownReply = { iteration, reply, ...defined({ turn }) };
}

function resume(progress: Progress, by?: string): void {
  const { pausedAt } = progress.state;
  if (pausedAt === null) return;
  const waitedMs = progress.host.now() - pausedAt;
  recordEvent(progress, { type: 'agent:resumed', waitedMs, ...defined({ by }) });
}

function eventOf({ state, host }: Progress, body: EventBody | OwnEventBody): AgentEvent {
  return {
    ...body,
    seq: state.seq + 1,
    runId: state.runId,
    agent: state.head.spec.name,
    agentPath: state.agentPath,
    at: host.now(),
    iteration: body.type === 'agent:iteration:before' ? state.iteration + 1 : state.iteration,
    depth: state.depth,
  };
}

function publish(progress: Progress, body: EventBody | OwnEventBody, carried: Carried): void {
  const event = eventOf(progress, body);
  progress.state = apply(progress.state, event, carried);
  const isEntry = event.type === 'agent:iteration_history:change';
  progress.host.publish(event, isEntry ? carried.entry : undefined);
}

function publishBreach(progress: Progress, breach: Breach): void {
  publish(progress, { type: 'agent:limit_exceeded', ...breach }, {});
}

function recordEvent(
  progress: Progress,
  body: EventBody | OwnEventBody,
  carried: Carried = {},
): void {
  const ends = body.type === 'agent:execution:after';
  if (progress.isClosed && !ends) return;
  const before = progress.state;
  // Cutting a text may split a surrogate pair, which readers in other processes would see changed.
  publish(progress, wellFormed(body), wellFormed(carried));
  progress.hasEnded ||= ends;
  progress.isClosed = ends || body.type === 'agent:execution:handover';
  if (progress.isClosed) return;
  checkLimits(progress);
  // While the run is idle its active time does not rise, so its deadline changes.
  const { state } = progress;
  const isOther = state.parent !== before.parent || state.startedAt !== before.startedAt;
  if (isIdle(state) !== isIdle(before) || isOther) setDeadline(progress);
}

function checkLimits(progress: Progress): void {
  const { state, host } = progress;
  if (state.breach !== null || isBetweenTurns(state)) return;
  const { limits, stats } = state;
  const found = firstBreach(limits, stats) ?? unkeptLimit(limits, stats);
  if (found === null) return;
  publishBreach(progress, found);
  host.abort();
}

/** Events set the gauges of time; while none comes, the deadline checks the limits on time. */
function setDeadline(progress: Progress): void {
  const { host } = progress;
  const due = nextDeadline(progress.state, host.now());
  const at = due === null ? null : Math.min(due, host.now() + MAX_TIMER_MS);
  host.setDeadline(at, () => {
    if (progress.isClosed || progress.state.breach !== null) return;
    if (isBetweenTurns(progress.state)) return;
    const late = firstLate(progress.state, host.now());
    if (late === null) return setDeadline(progress);
    publishBreach(progress, late);
    host.abort();
  });
}

function limitInTheWay(
  state: RunState,
  keys: readonly string[],
  pending: Numbers | undefined,
): Breach | null {
  const ledger = ledgerOf(state);
  const reserved = (limit: Limit): number => reservedOf(ledger, limit);
  const own = wouldCross(state.limits, state.stats, keys, pending, reserved);
  return own ?? blockingLease(ledger, keys, pending);
}

type ScratchpadChange = Extract<EventBody, { readonly type: 'agent:scratchpad:change' }>;

function appendedEvent({ mark, scratchpad }: RunState): ScratchpadChange {
  const lengthBefore = scratchpad.length;
  return {
    type: 'agent:scratchpad:change',
    epoch: mark.epoch,
    lengthBefore,
    lengthAfter: lengthBefore + 1,
    added: 1,
    removed: 0,
  };
}

function replacedEvent(
  { mark, scratchpad }: RunState,
  entries: readonly Entry[],
): ScratchpadChange {
  const before = new Set(scratchpad.map((entry) => entry.index));
  const kept = entries.filter((entry) => before.has(entry.index)).length;
  return {
    type: 'agent:scratchpad:change',
    epoch: mark.epoch + 1,
    lengthBefore: before.size,
    lengthAfter: entries.length,
    added: entries.length - kept,
    removed: before.size - kept,
  };
}

const WALL_CLOCK = 'agent:wall_clock_ms';
const ACTIVE = 'agent:active_ms';

/**
 * The longest timer, 20 days; when it ends early it is set again. JavaScript's own timers hold 24.8
 * days, and dates after 2262 overflow the nanoseconds of the service.
 */
export const MAX_TIMER_MS = 1_728_000_000;

/** The first limit on time that is crossed at `now`, even if no event has shown it yet. */
function firstLate(state: RunState, now: number): Breach | null {
  // Without any other statistic only limits on time can trip.
  const gauges = { [WALL_CLOCK]: now - state.startedAt, [ACTIVE]: activeMs(state, now) };
  const own = firstBreach(state.limits, { counters: {}, gauges });
  return own ?? lateDeadline(state.parent?.deadlines ?? [], now);
}

/**
 * When the first limit on time will be crossed; null when there is none, or while the time does not
 * count.
 */
function nextDeadline(state: RunState, now: number): number | null {
  if (isBetweenTurns(state)) return null;
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

/** The deadlines of a run and its ancestors, as its children get them. */
export function deadlinesBelow(state: RunState): readonly Deadline[] {
  const { runId, head, limits, startedAt, parent } = state;
  return deadlinesOf({ runId, agent: head.spec.name }, limits, startedAt, parent?.deadlines ?? []);
}

/** Sends all live children the deadlines of the run and its ancestors. */
export function sendDeadlines({ state, host }: Pick<Run, 'state' | 'host'>): void {
  const deadlines = deadlinesBelow(state);
  const message = { v: 1, kind: 'deadlines', number: state.seq, deadlines } as const;
  for (const { childId } of state.children ?? []) host.send({ to: 'child', childId, message });
}

/** What the budgets of a run are computed from. */
export function ledgerOf(state: RunState): Ledger {
  const { runId, head, limits, stats, leases = [], children = [] } = state;
  const { openCalls = [], openModels: models = [], covers: open = [] } = state;
  const calls = openCalls.map(({ tool }) => tool);
  const covers = open.map(({ needs }) => needs);
  return { runId, agent: head.spec.name, limits, leases, children, stats, calls, models, covers };
}

/** Leaves the iteration when a cancel, a breach or an interrupting input waits. */
export function leaveIfAsked(run: Run): void {
  if (run.isStopped()) throw leaving({ kind: 'stopped' });
  if (run.isInterrupted()) throw leaving({ kind: 'interrupted' });
}

/** Value of a statistic of the run. */
export function statOf(run: Run, key: string): number {
  return valueOf(run.state.stats, key);
}
