/**
 * The Host over Temporal: each call is an activity in a scope of its own.
 *
 * I1  All activities share one cancellable scope, that of the caller, until `abort` cancels it; then
 *     the next ones get a new one. A scope for each call would cost six promises, at 50 microseconds
 *     each (measured). The workflow's own cancellation reaches it too: what is in flight ends, and the
 *     mailbox says why.
 * I2  No call rejects: failures become outcomes here, and a bug becomes the failure of the run.
 * I3  The transcript goes to the worker by a sink just before its model activity is scheduled.
 * I4  Events are published before the workflow waits for anything, in one batch.
 * I5  Nothing here decides: time, retries and queues stand in `activity-options.ts`.
 */
import {
  CancellationScope,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  sleep,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import type { ActivityRuntime, EverloopActivities } from '../activities/activity-types.ts';
import type { AgentEvent } from '../core/agent/events.ts';
import type {
  Host,
  MayTryAgain,
  ModelLoss,
  ModelOrder,
  ModelOutcome,
  ToolEnd,
} from '../core/agent/host.ts';
import type { Mailbox } from '../core/agent/inbox.ts';
import type { RunLog } from '../core/agent/run-log.ts';
import type { ToolSpec } from '../core/agent/spec.ts';
import type { ToolOrder } from '../core/toolchain/outcome.ts';
import {
  CHECK_OPTIONS,
  judgeOptions,
  localToolOptions,
  MAX_MODEL_ATTEMPTS,
  modelOptions,
  toolOptions,
} from './activity-options.ts';
import {
  abortedWith,
  addEarlier,
  retryOf,
  toCheckOutcome,
  toJudgeOutcome,
  toModelOutcome,
  toToolResult,
} from './call-failures.ts';
import { createTranscriptFeed, sinks } from './sinks.ts';
import { fitsHandover } from './start.ts';

/** The Host of a workflow, and what its handlers may know of it. */
export interface TemporalHost extends Host {
  /** What is in flight, in words: `model gpt-5`, `tool search`. */
  inFlight(): readonly string[];
  /** Sends what was published to the worker's listeners; called before each wait, and at the end. */
  flush(): void;
  /** Looks again at what the loop waits for; called after each message. */
  wake(): void;
}

type ToolActivities = Pick<EverloopActivities, 'callTool' | 'searchTools'>;

/** Somebody in the loop who waits for something to hold, or for a time. */
interface Waiter {
  readonly until: () => boolean;
  readonly resolve: () => void;
  readonly timer: CancellationScope | null;
  isDue: boolean;
}

/** What a host is made of. */
export interface TemporalHostParts {
  readonly runtime: ActivityRuntime;
  readonly mailbox: Mailbox;
  readonly log: RunLog;
  /** Whether something waits for people or the outside, for lists of runs. Default: never. */
  readonly waitsForPeople?: () => boolean;
  /** Told what a timer's callback threw: nobody awaits it, and it must end the run all the same. */
  readonly onBug: (error: unknown) => void;
}

/**
 * A Host over the activities of this worker fleet. Call it, and all that uses it, inside a
 * cancellable scope of its own: see I1.
 */
export function createTemporalHost(parts: TemporalHostParts): TemporalHost {
  const { runtime, mailbox, log, onBug } = parts;
  const feed = createTranscriptFeed();
  const models = proxyActivities<EverloopActivities>(modelOptions(runtime));
  const judges = proxyActivities<EverloopActivities>(judgeOptions(runtime));
  const approvals = proxyLocalActivities<EverloopActivities>(CHECK_OPTIONS);
  const inFlight: string[] = [];
  let unpublished: AgentEvent[] = [];
  let waiting: readonly Waiter[] = [];
  let announced = workflowInfo().memo?.['waiting'] === true;
  const ambient = CancellationScope.current();
  // Beside the ambient scope, under the workflow's own: an abort of one does not reach the other.
  const newScope = (): CancellationScope =>
    new CancellationScope({
      cancellable: true,
      ...(ambient.parent === undefined ? {} : { parent: ambient.parent }),
    });
  let scope = ambient;
  let deadline: CancellationScope | null = null;

  // Lists of runs read the memo, for which they need no worker. An event of history on each change.
  const announce = (): void => {
    const waits = parts.waitsForPeople?.() ?? false;
    if (waits === announced) return;
    announced = waits;
    upsertMemo({ waiting: waits });
  };
  const flush = (): void => {
    announce();
    if (unpublished.length === 0) return;
    sinks.events.publish(unpublished);
    unpublished = [];
  };
  // The SDK's `condition` would add four promises to what a paused agent keeps in memory.
  const wake = (): void => {
    if (waiting.length === 0) return;
    const ready = waiting.filter((waiter) => waiter.isDue || waiter.until());
    if (ready.length === 0) return;
    waiting = waiting.filter((waiter) => !ready.includes(waiter));
    for (const { timer, resolve } of ready) {
      timer?.cancel();
      resolve();
    }
  };
  const start = <Result>(words: string, schedule: () => Promise<Result>): Promise<Result> => {
    flush();
    inFlight.push(words);
    return scope === ambient ? schedule() : scope.run(schedule);
  };
  const settle = (words: string): void => {
    inFlight.splice(inFlight.indexOf(words), 1);
    wake();
  };

  const byTool = new Map<string, ToolActivities>();
  const activitiesOf = (tool: ToolSpec): ToolActivities => {
    const known = byTool.get(tool.name);
    if (known !== undefined) return known;
    const activities = tool.local
      ? proxyLocalActivities<EverloopActivities>(localToolOptions(tool))
      : proxyActivities<EverloopActivities>(toolOptions(tool, runtime));
    byTool.set(tool.name, activities);
    return activities;
  };
  const runTool = (
    order: ToolOrder,
    tool: ToolSpec,
    activity: 'callTool' | 'searchTools',
  ): Promise<ToolEnd> => {
    const words = `tool ${tool.name}`;
    return start(words, () => activitiesOf(tool)[activity](order)).then(
      (result) => (settle(words), { result, endedAt: Date.now() }),
      (error: unknown) => (
        settle(words),
        { result: toToolResult(error, tool), endedAt: Date.now() }
      ),
    );
  };

  return {
    mailbox,
    now: () => Date.now(),
    inFlight: () => [...inFlight],
    callModel: (order, state, mayTryAgain) => {
      if (order.inline === undefined) feed(state);
      const words = `model ${order.model}`;
      // An abort replaces `scope`; what is tried again belongs to the one in which the call began.
      const own = scope;
      return start(words, () => models.callModel(order)).then(
        (outcome) => (settle(words), outcome),
        (error: unknown) =>
          tryAgain(order, toModelOutcome(error), retryOf(error), {
            scope: own,
            runtime,
            mayTryAgain,
          }).then((outcome) => (settle(words), outcome)),
      );
    },
    callTool: (order, tool) => runTool(order, tool, 'callTool'),
    searchTools: (order, tool) => runTool(order, tool, 'searchTools'),
    judgeAnswer: (order) =>
      start('judge', () => judges.judgeAnswer(order)).then(
        (result) => (settle('judge'), { kind: 'judged', result }),
        (error: unknown) => (settle('judge'), toJudgeOutcome(error)),
      ),
    needsApproval: (order, tool) => {
      const words = `approval check of ${tool.name}`;
      return start(words, () => approvals.needsApproval(order)).then(
        (needed) => (settle(words), { kind: 'known', needed }),
        (error: unknown) => (settle(words), toCheckOutcome(error)),
      );
    },
    checkLiterals: (order) => {
      const words = 'argument check';
      return start(words, () => approvals.checkLiterals(order)).then(
        (verdicts) => (settle(words), { kind: 'checked', verdicts }),
        (error: unknown) => (settle(words), toCheckOutcome(error)),
      );
    },
    isIdle: () => inFlight.length === 0,
    abort: () => {
      wake();
      if (inFlight.length === 0) return;
      const aborted = scope;
      scope = newScope();
      aborted.cancel();
    },
    waitUntil: (until, at) => {
      flush();
      return new Promise((resolve) => {
        if (until()) return resolve();
        const timer = at === undefined ? null : newScope();
        const waiter: Waiter = { until, resolve, timer, isDue: false };
        waiting = [...waiting, waiter];
        if (timer === null || at === undefined) return;
        const onDue = (): void => {
          waiter.isDue = true;
          wake();
        };
        startTimer(timer, at - Date.now(), onDue, onBug);
      });
    },
    setDeadline: (at, onDue) => {
      deadline?.cancel();
      deadline = at === null ? null : newScope();
      if (deadline !== null && at !== null) startTimer(deadline, at - Date.now(), onDue, onBug);
    },
    handoverDue: () => workflowInfo().continueAsNewSuggested,
    fitsHandover: (state) => fitsHandover(state, mailbox.peek()),
    publish: (event, entry) => {
      log.add(event, entry);
      unpublished.push(event);
      wake();
    },
    flush,
    wake,
  };
}

/** Runs `onDue` after `ms` unless `scope` is canceled before. */
function startTimer(
  scope: CancellationScope,
  ms: number,
  onDue: () => void,
  onBug: (error: unknown) => void,
): void {
  scope
    .run(() => sleep(Math.max(1, ms)))
    .then(onDue)
    .catch((error: unknown) => {
      // A canceled timer is one that was replaced.
      if (!isCancellation(error)) onBug(error);
    });
}

/** Where and how long a model call is tried again. */
interface Retrying {
  readonly scope: CancellationScope;
  readonly runtime: ActivityRuntime;
  readonly mayTryAgain: MayTryAgain;
}

/**
 * Begins a model call anew until one ends for good, see `retryAfterMs` of ModelFailureDetails, or the
 * limits have no room for another attempt.
 */
async function tryAgain(
  order: ModelOrder,
  failed: ModelLoss,
  waitMs: number | null,
  { scope, runtime, mayTryAgain }: Retrying,
): Promise<ModelOutcome> {
  let lost = failed;
  for (let nextMs = waitMs; nextMs !== null && lost.attempts < MAX_MODEL_ATTEMPTS;) {
    if (!mayTryAgain(lost)) return lost;
    const ms = nextMs;
    try {
      await scope.run(() => sleep(ms));
    } catch {
      // The wait was aborted: nothing else rejects it.
      return abortedWith(lost);
    }
    // The limits may have been lowered meanwhile.
    if (!mayTryAgain(lost)) return lost;
    const { attempts } = lost;
    const { callModel } = proxyActivities<EverloopActivities>(modelOptions(runtime, attempts));
    try {
      const outcome = await scope.run(() => callModel({ ...order, attemptsBefore: attempts }));
      return addEarlier(lost, outcome);
    } catch (error) {
      lost = addEarlier(lost, toModelOutcome(error, attempts));
      nextMs = retryOf(error);
    }
  }
  return lost;
}
