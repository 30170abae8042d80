/**
 * All time-outs, retries and cancellation types of activities, in one table with their reasons.
 * Only this file has duration strings; everywhere else a time is a number of milliseconds.
 */
import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import type { ActivityRuntime } from '../../activities/activity-types.ts';
import {
  DEATHS_BEFORE_APART,
  isRepeatedByService,
  LATE_LOSS_PAUSES_MS,
  MAX_CHECK_ATTEMPTS,
  MAX_JUDGE_ATTEMPTS,
  MAX_MODEL_ATTEMPTS,
  maxToolAttempts,
} from '../../core/attempt/attempts.ts';
import type { ToolSpec } from '../../core/contract/spec.ts';
import { defined } from '../../core/base/defined.ts';
import { spreadMs, type Spread } from './spread-pauses.ts';

/**
 * The default of a canceled activity is TRY_CANCEL: the workflow goes on at once and the usage of
 * the canceled call is lost. Waiting costs about a second and keeps every sum exact.
 */
const WAIT = 'WAIT_CANCELLATION_COMPLETED' as const;

/** Reads the agent definition: no I/O to speak of, so one try and a short deadline. */
export const LOAD_OPTIONS: LocalActivityOptions = {
  startToCloseTimeout: '10s',
  retry: { maximumAttempts: 1 },
};

/**
 * Replays the source of a fork. A history of the largest size takes less than a minute. Whoever loses
 * workers over and over waits longer each time: ten minutes are some twenty of them. What is no loss
 * fails for good, see `loadForkActivity`.
 */
export const FORK_OPTIONS: ActivityOptions = {
  startToCloseTimeout: '2m',
  scheduleToCloseTimeout: '10m',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '500ms', maximumInterval: '30s' },
};

/** Looks at a moment of a run, for a client that waits for it. */
export const MOMENT_OPTIONS: ActivityOptions = {
  startToCloseTimeout: '90s',
  heartbeatTimeout: '10s',
  retry: { maximumAttempts: 3, initialInterval: '500ms' },
};

/** Quick checks of a call before it runs: no I/O to speak of, but a user's function may fail. */
export const CHECK_OPTIONS: LocalActivityOptions = {
  startToCloseTimeout: '5s',
  cancellationType: WAIT,
  retry: { maximumAttempts: MAX_CHECK_ATTEMPTS, initialInterval: '100ms' },
};

/** The empty activity between two slices of a program: it is tried until it succeeds. */
export const SLICE_OPTIONS: LocalActivityOptions = {
  startToCloseTimeout: '10s',
  cancellationType: WAIT,
  retry: { initialInterval: '100ms' },
};

/**
 * A model may think for a long time: the heartbeat detects a dead worker, not this deadline.
 * `attemptsBefore`: attempts that other activities made for the same call.
 */
export function modelOptions(runtime: ActivityRuntime, attemptsBefore = 0): ActivityOptions {
  return {
    startToCloseTimeout: '30m',
    heartbeatTimeout: runtime.heartbeatMs,
    cancellationType: WAIT,
    // After a lost worker the next try comes at once. A provider's error names its own delay in the
    // failure: from 1 s, doubling to 30 s, or what Retry-After says.
    retry: {
      maximumAttempts: MAX_MODEL_ATTEMPTS - attemptsBefore,
      initialInterval: '100ms',
      maximumInterval: '30s',
    },
    ...defined({ taskQueue: runtime.modelQueue }),
  };
}

/** What it means that the service ends an attempt at its deadline. */
export type AtDeadline =
  /** The worker stalled: the activity answers the time-out of a tool itself. */
  | 'loss'
  /** The provider or the validators took too long. */
  | 'failure';

/**
 * One attempt, which the workflow begins: what failed is its to judge. After five losses the service
 * repeats what is lost, since that writes no events, and a call must not fill the history.
 */
export function attemptOptions(
  options: ActivityOptions,
  losses: number,
  atDeadline: AtDeadline,
): ActivityOptions {
  if (!isRepeatedByService(losses)) return { ...options, retry: { maximumAttempts: 1 } };
  const final = atDeadline === 'loss' ? [UNREGISTERED] : [UNREGISTERED, DEADLINE];
  return { ...options, retry: { ...LATE_RETRY, nonRetryableErrorTypes: final } };
}

/** The SDK's failure of a worker that does not have the activity: the workflow waits for another. */
export const UNREGISTERED = 'NotFoundError';

/** The service's name for the time-out of an attempt. */
const DEADLINE = 'TemporalTimeout:StartToClose';

const LATE_RETRY: NonNullable<ActivityOptions['retry']> = {
  initialInterval: LATE_LOSS_PAUSES_MS.first,
  backoffCoefficient: 2,
  maximumInterval: LATE_LOSS_PAUSES_MS.most,
};

/** Added to a tool's own time: the activity answers a time-out itself, with the tool's name. */
const TOOL_GRACE_MS = 10_000;

/** A tool's own deadline and retries; a `once` tool has a single try whatever happens. */
export function toolOptions(tool: ToolSpec, runtime: ActivityRuntime, losses = 0): ActivityOptions {
  const mayWait = tool.isolate !== undefined || losses >= DEATHS_BEFORE_APART;
  return {
    // An isolated call may wait for a free thread or process as long as it may run.
    startToCloseTimeout: tool.timeoutMs * (mayWait ? 2 : 1) + TOOL_GRACE_MS,
    heartbeatTimeout: runtime.heartbeatMs,
    cancellationType: WAIT,
    retry: retryOf(tool),
    ...defined({ taskQueue: runtime.toolQueue }),
  };
}

/** The heartbeats of calls that are known to hold their worker. */
const PATIENT_HEARTBEATS_MS: readonly number[] = [15_000, 60_000];

/**
 * With a heartbeat for a call that holds its worker for `heldMs`: a longer one lets it end, but a
 * worker that dies is noticed later. So the others keep the short one.
 */
export function withHeartbeatFor(
  options: ActivityOptions,
  { heartbeatMs }: ActivityRuntime,
  heldMs: number,
): ActivityOptions {
  if (heldMs === 0) return options;
  const enough = PATIENT_HEARTBEATS_MS.find((ms) => ms > heldMs * 1.2);
  const patient = enough ?? Math.max(...PATIENT_HEARTBEATS_MS);
  return { ...options, heartbeatTimeout: Math.max(patient, heartbeatMs) };
}

/** A quick read: one event instead of six, no heartbeat; a lost result is read again. */
export function localToolOptions(tool: ToolSpec): LocalActivityOptions {
  return {
    startToCloseTimeout: tool.timeoutMs + 1_000,
    cancellationType: WAIT,
    retry: retryOf(tool),
  };
}

/** One try of a read that the worker expects to be quick; in `ms` it has begun and ended. */
export function localTryOptions(ms: number): LocalActivityOptions {
  return {
    startToCloseTimeout: ms,
    scheduleToCloseTimeout: ms,
    cancellationType: WAIT,
    retry: { maximumAttempts: 1 },
  };
}

function retryOf(tool: ToolSpec): NonNullable<ActivityOptions['retry']> {
  return {
    maximumAttempts: maxToolAttempts(tool),
    initialInterval: tool.retry.initialMs,
    backoffCoefficient: tool.retry.factor,
  };
}

/**
 * The same call on any worker. By default the service hands an activity to the worker that asks for
 * it, if that one serves its queue.
 */
export function onAnyWorker(options: ActivityOptions): ActivityOptions {
  return { ...options, allowEagerDispatch: false };
}

/** A quick check again, on any worker that runs tools: the worker of the workflow lacks the tool. */
export function checkElsewhereOptions(runtime: ActivityRuntime): ActivityOptions {
  return {
    startToCloseTimeout: '10s',
    cancellationType: WAIT,
    retry: { maximumAttempts: MAX_CHECK_ATTEMPTS, initialInterval: '100ms' },
    ...defined({ taskQueue: runtime.toolQueue }),
  };
}

/**
 * Looks for a worker that has the agent of a run: the service tries one after another, which adds
 * nothing to the history. Infinity: for ever. `spread` keeps runs out of step.
 */
export function loadElsewhereOptions(elsewhereMs: number, spread: Spread): ActivityOptions {
  return {
    startToCloseTimeout: '10s',
    retry: {
      initialInterval: spreadMs(500, spread),
      backoffCoefficient: 2,
      maximumInterval: spreadMs(10_000, spread),
    },
    ...defined({
      scheduleToCloseTimeout: Number.isFinite(elsewhereMs) ? elsewhereMs : undefined,
    }),
  };
}

/** Validators are functions of users: retried like tools, then the run ends `validator_failed`. */
export function judgeOptions(runtime: ActivityRuntime): ActivityOptions {
  return {
    startToCloseTimeout: '5m',
    heartbeatTimeout: runtime.heartbeatMs,
    cancellationType: WAIT,
    retry: { maximumAttempts: MAX_JUDGE_ATTEMPTS, initialInterval: '1s' },
  };
}

/** The archive only serves readers, so a run does not wait forever for a full disk. */
export function archiveOptions(runtime: ActivityRuntime): ActivityOptions {
  return {
    startToCloseTimeout: '5m',
    heartbeatTimeout: runtime.heartbeatMs,
    retry: { maximumAttempts: 5, initialInterval: '1s' },
  };
}

/**
 * A callback is tried for a day, as Standard Webhooks advises, at 5 s and then at twice the wait
 * before, up to ten minutes: a receiver that was down hears within ten minutes of being up again. An
 * attempt has 15 s; the rest is for a worker that is lost.
 */
export const CALLBACK_OPTIONS: ActivityOptions = {
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: '24h',
  retry: { initialInterval: '5s', backoffCoefficient: 2, maximumInterval: '10m' },
};
