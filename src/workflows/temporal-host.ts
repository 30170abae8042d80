/**
 * The Host over Temporal: each call is an activity, and each child a child workflow.
 *
 * I1  No call rejects: failures become outcomes here, and a bug becomes the failure of the run.
 * I2  The transcript goes to the worker by a sink just before its model activity is scheduled.
 * I3  Events are published in one batch before the workflow waits for anything.
 * I4  Nothing here decides: time, retries and queues are in `attempts/activity-options.ts`.
 */
import { proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { ActivityRuntime, EverloopActivities } from '../activities/activity-types.ts';
import type { AgentEvent, EventPlace } from '../core/contract/events.ts';
import type { Overrun } from '../core/contract/messages.ts';
import { idBelow } from '../core/base/ids.ts';
import type { ChildOrder } from '../core/contract/host-order.ts';
import type { ProgressMessage } from '../core/contract/tree-messages.ts';
import type { Host, Link } from '../core/run/host.ts';
import type { Mailbox } from '../core/run/inbox.ts';
import type { Run } from '../core/run/run.ts';
import type { RunLog } from '../core/run/run-log.ts';
import { eventPlaceOf } from '../core/children/event-place.ts';
import { createWaits, type Waits } from '../core/run/waits.ts';
import { SLICE_OPTIONS } from './attempts/activity-options.ts';
import { callsOf } from './activity-calls.ts';
import { NO_CALLBACKS, type Callbacks } from './callbacks/callbacks.ts';
import { createChildRuns, type ChildRuns } from './children.ts';
import { createFlight, type Flight } from './flight.ts';
import { createComputing } from './overrun.ts';
import { createHeldCalls, type HeldCalls } from './attempts/held-calls.ts';
import {
  createOperatorCalls,
  createOperatorWait,
  type OperatorCalls,
} from './attempts/operator-calls.ts';
import { createRest } from './attempts/rests.ts';
import { createElsewhere } from './attempts/retry-elsewhere.ts';
import { createSpread } from './attempts/spread-pauses.ts';
import { probeOf, sinks } from './sinks.ts';
import { sizesOf } from '../core/base/size-limits.ts';
import { fitsHandover } from './start.ts';
import { currentSize, recorded } from './recorded/recorded.ts';
import { startTimer } from './timer.ts';
import { createAnnouncement, type Announcement } from './visibility.ts';

/** The Host of a workflow, and what its handlers may know of it. */
export interface TemporalHost extends Host {
  /** What is in flight, in words: `model gpt-5`, `tool search`. */
  inFlight(): readonly string[];
  /** Sends unpublished events to the worker's listeners; called before each wait and at the end. */
  flush(): void;
  /** Says in lists of runs for what the run waits now. */
  listWaits(): void;
  /** Sends the last report to the parent before the workflow closes without a Step. */
  sendLast(progress: ProgressMessage): Promise<void>;
}

/**
 * Fuel of the programs of a link after which a hand-over is due. A replay computes them again, within
 * the time-out of one workflow task, which is 10 s. A million takes a second at most, and 80 ms mostly.
 */
const PROGRAM_STEPS_OF_LINK = 5_000_000;

/** What a host is made of. */
export interface TemporalHostParts {
  readonly runtime: ActivityRuntime;
  readonly mailbox: Mailbox;
  readonly log: RunLog;
  /** What must not be computed again. Default: nothing. */
  readonly overrun?: () => Overrun | null;
  /** Which calls hold their workers. Default: no worker says so. */
  readonly heldCalls?: HeldCalls;
  /** Which calls wait for an operator. Default: they wait until they are aborted. */
  readonly operatorCalls?: OperatorCalls;
  /** Who is called back about events. Default: nobody. */
  readonly callbacks?: Callbacks;
  /** The tenant whose ledger grants the budgets of the run. Default: none does. */
  readonly tenant?: string | null;
  /** The run is a conversation, which goes on after a turn was aborted. Default false. */
  readonly outlivesAborts?: boolean;
  /** The run; null until it is made, after its host. Default: there is none. */
  readonly run?: () => Run | null;
  /** Called when a timer's callback throws: nothing awaits it, but it must still end the run. */
  readonly onBug: (error: unknown) => void;
}

/**
 * A Host over the activities of this worker fleet. Call it, and everything that uses it, inside a
 * cancellable scope of its own: an abort cancels that scope.
 */
export function createTemporalHost(parts: TemporalHostParts): TemporalHost {
  const { runtime, mailbox, log, onBug, run = () => null } = parts;
  const unpublished: AgentEvent[] = [];
  const announcement = createAnnouncement();
  const flush = createFlush(parts, announcement, () => unpublished.splice(0));
  const hearing = { onEnd: () => waits.wake(), onCancel: tellCancel };
  const flight = createFlight(hearing, parts.outlivesAborts);
  const timer = timersOf(flight, onBug);
  const waits = createWaits(timer);
  const published = publishedWaits(waits, flush, flight.isIdle);
  const sizes = sizesOf(runtime);
  const children = createChildRuns(onBug, { sizes, tenant: parts.tenant ?? null });
  const computing = createComputing(parts.overrun ?? (() => null));
  let programSteps = 0;
  const rest = createRest(published, run);
  const spread = createSpread(workflowInfo().runId);
  const elsewhere = createElsewhere({ runtime, rest, run, spread });
  let cancelDeadline = (): void => undefined;

  return {
    link: linkOf(parts, () => programSteps),
    mailbox,
    waits: published,
    now: recorded().now,
    computing: { run: computing.run, endSlice: () => endSlice(flight) },
    ...callsOf({
      runtime,
      elsewhere,
      rest,
      now: recorded().now,
      heldCalls: parts.heldCalls ?? createHeldCalls(),
      operator: createOperatorWait(published, parts.operatorCalls ?? createOperatorCalls()),
      run: (call) => (flush(), flight.run(call)),
    }),
    runChild: (order, cancel) => {
      flush();
      const end = flight.add(`agent ${order.input.agent}`);
      return children.run(withWait(order, runtime), cancel).then((ended) => (end(), ended));
    },
    send: children.send,
    sendLast: children.sendLast,
    isIdle: flight.isIdle,
    inFlight: flight.labels,
    abort: (abortId) => abort(flight, children, waits, abortId),
    setDeadline: (at, onDue) => {
      cancelDeadline();
      cancelDeadline = at === null ? () => undefined : timer(at, onDue);
    },
    publish: (event, entry) => {
      log.add(event, entry);
      unpublished.push(event);
      parts.callbacks?.hear(event);
      computing.passed(event.seq);
      if (event.type === 'agent:program:after') programSteps += event.steps;
      waits.wake();
    },
    flush,
    listWaits: () => announcement.list(run()?.state, mailbox.peek()),
  };
}

/** Tells the activities of this process that the run cancels them. */
function tellCancel(abortId?: string): void {
  sinks.cancels.tell(abortId);
}

/** Starts timers, which an abort of calls does not reach; the returned function cancels one. */
function timersOf(
  flight: Flight,
  onBug: TemporalHostParts['onBug'],
): (at: number, onDue: () => void) => () => void {
  return (at, onDue) => {
    const scope = flight.newScope();
    startTimer(scope, at - recorded().now(), onDue, onBug);
    return () => scope.cancel();
  };
}

/**
 * `waits`, before each of which events are sent. After one that no result has ended, the clock is
 * read: a message or a timer may have come days after the last result. So it is while a run without
 * calls gets messages: their tasks may say that a hand-over is due.
 */
function publishedWaits(waits: Waits, flush: () => void, isIdle: () => boolean): Waits {
  const { noted, readClock, isUnread } = recorded();
  const isClockDue = (): boolean => isIdle() && isUnread();
  return {
    wake: waits.wake,
    until: async (condition, deadline) => {
      flush();
      if (condition()) return;
      if (isClockDue()) await readClock();
      let read = noted();
      const readAgain = async (): Promise<void> => {
        await readClock();
        read = noted();
        waits.wake();
      };
      await waits.until(() => {
        if (condition()) return true;
        if (isClockDue()) void readAgain();
        return false;
      }, deadline);
      if (noted() === read) await readClock();
    },
  };
}

/** The child waits for a worker with its agent as long as its parent waits for what it needs. */
function withWait(order: ChildOrder, { elsewhereMs }: ActivityRuntime): ChildOrder {
  const { parent } = order.input;
  if (parent === undefined || elsewhereMs === undefined) return order;
  return { ...order, input: { ...order.input, parent: { ...parent, elsewhereMs } } };
}

/**
 * Sends what `takeEvents` gives, also to those who are called back, and says in lists of runs whether
 * this one waits for people.
 */
function createFlush(
  { run = () => null, mailbox, callbacks = NO_CALLBACKS }: TemporalHostParts,
  { announce }: Announcement,
  takeEvents: () => readonly AgentEvent[],
): () => void {
  return () => {
    announce(run()?.state, mailbox.peek());
    const events = takeEvents();
    if (events.length > 0) sinks.events.publish(events, placeOf(run()));
    callbacks.send();
  };
}

/** Where the run stands; its first events come before the host has the run. */
function placeOf(run: Run | null): EventPlace | undefined {
  if (run === null) return undefined;
  const { workflowId, root, runStartTime } = workflowInfo();
  // A hand-over that is decided has counted the next link already.
  const link = run.isClosed && !run.hasEnded ? run.state.link - 1 : run.state.link;
  return eventPlaceOf(run.state, link, {
    workflowId,
    rootWorkflowId: root?.workflowId ?? workflowId,
    linkStartedAt: runStartTime.getTime(),
    ...currentSize(),
  });
}

function linkOf({ runtime, mailbox }: TemporalHostParts, programSteps: () => number): Link {
  const sizes = sizesOf(runtime);
  const { has } = recorded();
  return {
    address: workflowInfo().workflowId,
    // The version of new runs changes while this one is pinned to its own.
    isHandoverDue: () =>
      has('suggested') || has('upgrade') || programSteps() >= PROGRAM_STEPS_OF_LINK,
    isFull: () => has('full'),
    sizes,
    fits: (state) => fitsHandover(state, mailbox.peek(), sizes.handover),
    probe: probeOf(runtime.workflows),
  };
}

function abort(flight: Flight, children: ChildRuns, waits: Waits, abortId?: string): void {
  if (abortId !== undefined) {
    flight.abort(abortId);
    children.abort(idBelow(workflowInfo().workflowId, abortId));
    return waits.wake();
  }
  waits.wake();
  if (flight.isIdle()) return;
  children.abort();
  flight.abort();
}

/** The wait between two slices of a program: an abort ends it. */
function endSlice({ run }: Flight): Promise<void> {
  const slices = proxyLocalActivities<EverloopActivities>(SLICE_OPTIONS);
  return run<void, void>({
    label: 'program',
    schedule: () => slices.readClock(),
    onResult: () => undefined,
    onFailure: () => undefined,
  });
}
