/**
 * A run in progress: its state, and `record`, through which everything that happens goes.
 *
 * I1  `record` is synchronous and whole: state, statistics, limits, publication. Nobody else has to
 *     remember to count, to check or to publish.
 * I2  Everybody sees the cause before the limit: the event is published first, then the breach.
 * I3  A breach by value aborts what is in flight; a breach by a check before work does not.
 */
import { firstBreach } from '../limits/breach.ts';
import type { Breach, Limit } from '../limits/limit.ts';
import { valueOf } from '../stats/stats.ts';
import type { Entry } from '../transcript/entry.ts';
import type { AgentEvent, EventBody } from './events.ts';
import type { Host } from './host.ts';
import { activeMs, apply, type Carried, type RunState } from './run-state.ts';

/** A run in progress. `state` is always the newest; read it again after each wait. */
export interface Run {
  readonly state: RunState;
  /** Records one event: apply, check limits, publish. */
  record(body: EventBody, carried?: Carried): void;
  /** Records a breach that a check before work found; what is in flight goes on. */
  breach(breach: Breach): void;
  /** Appends an entry to the history, and with `to: 'both'` to the scratchpad. */
  append(entry: Omit<Entry, 'index'>, to: 'history' | 'both'): void;
  /** Replaces the limits; acts at once, also on a deadline that is running. */
  adjust(limits: readonly Limit[]): void;
  /** Stops before the next iteration; what is in flight ends normally. */
  pause(): void;
  /** Goes on. */
  resume(): void;
}

/** A run that begins with `state` and acts on `host`. */
export function createRun(initial: RunState, host: Host): Run {
  let state = initial;

  const publishOne = (body: EventBody, carried: Carried): void => {
    const starts = body.type === 'agent:iteration:before';
    const event: AgentEvent = {
      ...body,
      seq: state.seq + 1,
      runId: state.runId,
      agent: state.head.spec.name,
      agentPath: state.agentPath,
      at: host.now(),
      iteration: starts ? state.iteration + 1 : state.iteration,
      depth: state.depth,
    };
    state = apply(state, event, carried);
    host.publish(
      event,
      event.type === 'agent:iteration_history:change' ? carried.entry : undefined,
    );
  };

  const record = (body: EventBody, carried: Carried = {}): void => {
    publishOne(body, carried);
    checkLimits();
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
    host.setDeadline(nextDeadline(state, host.now()), () => {
      if (state.breach !== null) return;
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
    record,
    breach: (breach) => {
      if (state.breach === null) publishOne({ type: 'agent:limit_exceeded', ...breach }, {});
    },
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
    adjust: (limits) => {
      record({ type: 'agent:adjusted', limits });
      armDeadline();
    },
    pause: () => {
      if (state.pausedAt !== null) return;
      record({ type: 'agent:paused' });
      armDeadline();
    },
    resume: () => {
      if (state.pausedAt === null) return;
      record({ type: 'agent:resumed' });
      armDeadline();
    },
  };
}

const TIME_KEYS: readonly string[] = ['agent:wall_clock_ms', 'agent:active_ms'];

/** The first limit on time that the clock has crossed at `now`, though no event has shown it yet. */
function firstLate(state: RunState, now: number): Breach | null {
  const stats = {
    counters: {},
    gauges: {
      'agent:wall_clock_ms': now - state.startedAt,
      'agent:active_ms': activeMs(state, now),
    },
  };
  return firstBreach(
    state.limits.filter((limit) => TIME_KEYS.includes(limit.key)),
    stats,
  );
}

/** When the first limit on time will be crossed; null when there is none, or time stands still. */
function nextDeadline(state: RunState, now: number): number | null {
  const dues = state.limits.flatMap((limit) => {
    if (limit.onReach === 'refuse') return [];
    if (limit.key === 'agent:wall_clock_ms') return [state.startedAt + limit.max + 1];
    if (limit.key !== 'agent:active_ms' || state.pausedAt !== null) return [];
    return [now + limit.max + 1 - activeMs(state, now)];
  });
  return dues.length === 0 ? null : Math.min(...dues);
}

/** Whether the run is over, wherever it stands: a breach, or a cancel that waits. */
export function isStopped(run: Run, host: Host): boolean {
  return run.state.breach !== null || host.mailbox.peek().cancel !== null;
}

/** Value of a statistic of the run. */
export function statOf(run: Run, key: string): number {
  return valueOf(run.state.stats, key);
}
