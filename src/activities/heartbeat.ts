/**
 * The heartbeat of an activity. It tells the service that the worker is alive, and the service's
 * answer tells the worker of a cancel. A cancel that a workflow of this process has decided is heard
 * without it; see `heard-cancels.ts`.
 *
 * Each heartbeat is a request to the service, and an action on a bill. So they come only as often as
 * recovery needs: see {@link rhythmOf}.
 */
import { CancelledFailure, Context } from '@temporalio/activity';
import type { HeartbeatDetails } from './activity-types.ts';
import { NO_CANCELS, type HeardCancels } from './heard-cancels.ts';

/** When an activity beats, in ms. */
export interface Rhythm {
  readonly firstMs: number;
  readonly everyMs: number;
}

/** Most calls of tools, and quick replies, end before this and never beat. */
const FIRST_BEAT_MS = 2_000;

/** The part of a time-out after which the first beat comes at the latest; the rest is for delays. */
const FIRST_PART = 0.5;

/** The rhythm where the service expects none. */
const WITHOUT_TIMEOUT_MS = 15_000;

/**
 * The rhythm for a heartbeat time-out: the first beat after 2 s, or half of a short time-out, and one
 * in each third of it from then on. So two beats in a row may be lost or late.
 */
export function rhythmOf(timeoutMs: number = WITHOUT_TIMEOUT_MS): Rhythm {
  return {
    firstMs: Math.min(FIRST_BEAT_MS, timeoutMs * FIRST_PART),
    everyMs: Math.round(timeoutMs / 3),
  };
}

/**
 * The part of a time-out after which a wait for the start was long: the service may count it, and
 * the first beat must not come on top of it.
 */
const LONG_WAIT_PART = 0.2;

/** What is sent with heartbeats, and who hears that one came too late. */
export interface HeartbeatOptions {
  /** Default: the number of the service. */
  readonly details?: HeartbeatDetails;
  /**
   * Adds to the details of each heartbeat what changes. `moment.isEntry`: nothing has begun.
   * `moment.aheadMs`: half of the time to the next one, in which work goes on unseen.
   */
  readonly more?: (moment: BeatMoment) => object;
  /**
   * Called when no heartbeat could be sent for so long that the service may have given up: JavaScript
   * was blocked. The activity ends only after it.
   */
  readonly onLate?: (lateMs: number) => Promise<void>;
  /** Cancels that workflows of this process tell; default: none. */
  readonly cancels?: HeardCancels;
  /** The id under which the call can be aborted alone; absent: it cannot. */
  readonly abortId?: string | undefined;
}

/** When a heartbeat is sent. */
export interface BeatMoment {
  readonly isEntry: boolean;
  readonly aheadMs: number;
}

/** What an activity gets that beats. */
export interface Beating {
  /** Aborted by the service, by the worker, or by the workflow in the same process. */
  readonly signal: AbortSignal;
  /** Sends a heartbeat now. */
  readonly beat: () => void;
}

/** The part of the heartbeat's time after which a heartbeat counts as late. */
const LATE_PART = 0.8;

/** Runs `run` in the current activity, with heartbeats until it settles. */
export async function withHeartbeat<T>(
  run: (beating: Beating) => Promise<T>,
  options: HeartbeatOptions = {},
): Promise<T> {
  const context = Context.current();
  const { info, cancellationSignal } = context;
  // Local activities have no heartbeat: they run inside the workflow task.
  if (info.isLocal) return run({ signal: cancellationSignal, beat: () => undefined });
  const { details = { attempts: info.attempt }, more = () => ({}), onLate } = options;
  const { heartbeatTimeoutMs = Infinity } = info;
  const { firstMs, everyMs } = rhythmOf(info.heartbeatTimeoutMs);
  let last = performance.now();
  const checkLate = async (): Promise<void> => {
    const lateMs = performance.now() - last;
    if (lateMs > heartbeatTimeoutMs * LATE_PART) await onLate?.(lateMs);
  };
  const beat = (isEntry = false): void => {
    void checkLate();
    last = performance.now();
    context.heartbeat({ ...details, ...more({ isEntry, aheadMs: everyMs / 2 }) });
  };
  if (queueMs() > heartbeatTimeoutMs * LONG_WAIT_PART) beat(true);
  let timer = setTimeout(function again() {
    beat();
    timer = setTimeout(again, everyMs);
  }, firstMs);
  const { signal, forget } = heardSignal(context, options);
  try {
    return await run({ signal, beat: () => beat() });
  } finally {
    forget();
    clearTimeout(timer);
    await checkLate();
  }
}

/** How long the current activity waited for this worker, in ms, as far as the clocks agree. */
export function queueMs(): number {
  return Math.max(0, Date.now() - Context.current().info.currentAttemptScheduledTimestampMs);
}

/** A signal that is also aborted by a cancel that is heard in this process. */
function heardSignal(
  { info, cancellationSignal }: Context,
  { cancels = NO_CANCELS, abortId }: HeartbeatOptions,
): { readonly signal: AbortSignal; readonly forget: () => void } {
  const own = new AbortController();
  const stop = (): void => own.abort(cancellationSignal.reason);
  if (cancellationSignal.aborted) stop();
  else cancellationSignal.addEventListener('abort', stop, { once: true });
  const unlisten = cancels.listen({ executionId: info.workflowExecution?.runId, abortId }, () =>
    own.abort(new CancelledFailure('CANCELLED')),
  );
  return {
    signal: own.signal,
    forget: () => {
      cancellationSignal.removeEventListener('abort', stop);
      unlisten();
    },
  };
}

/**
 * Whether the service or the worker stopped the current activity (shutdown, pause, reset), so that
 * it is to be retried. False for a cancel by a user.
 */
export function isStoppedByService(): boolean {
  const details = Context.current().cancellationDetails;
  return details?.workerShutdown === true || details?.paused === true || details?.reset === true;
}

/**
 * Whether the service gave up the activity of a context: its heartbeats came too late, or its run has
 * ended.
 */
export function isGivenUp({ cancellationDetails: details }: Context): boolean {
  return details?.notFound === true || details?.timedOut === true;
}
