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
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  sleep,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type {
  ActivityRuntime,
  EverloopActivities,
  ModelFailureDetails,
} from '../activities/activity-types.ts';
import type { AgentEvent } from '../core/agent/events.ts';
import type { Host, JudgeOutcome, ModelOutcome, ToolEnd } from '../core/agent/host.ts';
import type { Mailbox } from '../core/agent/inbox.ts';
import type { RunLog } from '../core/agent/run-log.ts';
import type { ToolSpec } from '../core/agent/spec.ts';
import { noUsage } from '../core/model/usage.ts';
import {
  canceledCallText,
  toolErrorText,
  toolTimeoutText,
  unknownOutcomeText,
} from '../core/toolchain/call-texts.ts';
import type { ToolOrder, ToolResult } from '../core/toolchain/outcome.ts';
import { judgeOptions, localToolOptions, modelOptions, toolOptions } from './activity-options.ts';
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

/** What a host is made of. */
export interface TemporalHostParts {
  readonly runtime: ActivityRuntime;
  readonly mailbox: Mailbox;
  readonly log: RunLog;
}

/**
 * A Host over the activities of this worker fleet. Call it, and all that uses it, inside a
 * cancellable scope of its own: see I1.
 */
export function createTemporalHost({ runtime, mailbox, log }: TemporalHostParts): TemporalHost {
  const feed = createTranscriptFeed();
  const models = proxyActivities<EverloopActivities>(modelOptions(runtime));
  const judges = proxyActivities<EverloopActivities>(judgeOptions(runtime));
  const inFlight: string[] = [];
  let unpublished: AgentEvent[] = [];
  let waiting: { readonly until: () => boolean; readonly resolve: () => void } | null = null;
  const ambient = CancellationScope.current();
  // Beside the ambient scope, under the workflow's own: an abort of one does not reach the other.
  const newScope = (): CancellationScope =>
    new CancellationScope({
      cancellable: true,
      ...(ambient.parent === undefined ? {} : { parent: ambient.parent }),
    });
  let scope = ambient;
  let deadline: CancellationScope | null = null;

  const flush = (): void => {
    if (unpublished.length === 0) return;
    sinks.events.publish(unpublished);
    unpublished = [];
  };
  // The SDK's `condition` would add four promises to what a paused agent keeps in memory.
  const wake = (): void => {
    if (waiting?.until() !== true) return;
    waiting.resolve();
    waiting = null;
  };
  const start = <Result>(words: string, schedule: () => Promise<Result>): Promise<Result> => {
    flush();
    inFlight.push(words);
    return scope === ambient ? schedule() : scope.run(schedule);
  };
  const settle = (words: string): void => {
    inFlight.splice(inFlight.indexOf(words), 1);
  };

  const runTool = (
    order: ToolOrder,
    tool: ToolSpec,
    activity: 'callTool' | 'searchTools',
  ): Promise<ToolEnd> => {
    const tools = tool.local
      ? proxyLocalActivities<EverloopActivities>(localToolOptions(tool))
      : proxyActivities<EverloopActivities>(toolOptions(tool, runtime));
    const words = `tool ${tool.name}`;
    return start(words, () => tools[activity](order)).then(
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
    callModel: (order, state) => {
      feed(state);
      const words = `model ${order.model}`;
      return start(words, () => models.callModel(order)).then(
        (outcome) => (settle(words), outcome),
        (error: unknown) => (settle(words), toModelOutcome(error)),
      );
    },
    callTool: (order, tool) => runTool(order, tool, 'callTool'),
    searchTools: (order, tool) => runTool(order, tool, 'searchTools'),
    judgeAnswer: (order) =>
      start('judge', () => judges.judgeAnswer(order)).then(
        (result) => (settle('judge'), { kind: 'judged', result }),
        (error: unknown) => (settle('judge'), toJudgeOutcome(error)),
      ),
    abort: () => {
      wake();
      if (inFlight.length === 0) return;
      const aborted = scope;
      scope = newScope();
      aborted.cancel();
    },
    waitUntil: (until) => {
      flush();
      return new Promise((resolve) => {
        waiting = { until, resolve };
        wake();
      });
    },
    setDeadline: (at, onDue) => {
      deadline?.cancel();
      deadline = at === null ? null : newScope();
      if (deadline !== null && at !== null) startTimer(deadline, at - Date.now(), onDue);
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
function startTimer(scope: CancellationScope, ms: number, onDue: () => void): void {
  scope
    .run(() => sleep(Math.max(1, ms)))
    .then(onDue, (error: unknown) => {
      // A canceled timer is one that was replaced.
      if (!isCancellation(error)) throw error;
    });
}

function toModelOutcome(error: unknown): ModelOutcome {
  if (isCancellation(error)) {
    return { kind: 'aborted', usage: noUsage, usageKnown: false, attempts: 1 };
  }
  const cause = causeOf(error);
  return {
    kind: 'failed',
    code: codeOf(cause),
    message: cause.message,
    usage: noUsage,
    usageKnown: false,
    attempts: 1,
    ...detailsOf(cause),
  };
}

/** What a call that failed for good had cost: in its failure, or in the last heartbeat of a lost worker. */
function detailsOf(cause: Error): Partial<ModelFailureDetails> {
  if (cause instanceof ApplicationFailure) {
    return (cause.details?.[0] ?? {}) as Partial<ModelFailureDetails>;
  }
  if (!(cause instanceof TimeoutFailure)) return {};
  return (cause.lastHeartbeatDetails ?? {}) as Partial<ModelFailureDetails>;
}

const MODEL_CODES: readonly string[] = [
  'model_error',
  'model_auth',
  'model_request_refused',
  'context_too_long',
];

function codeOf(cause: Error): string {
  const type = cause instanceof ApplicationFailure ? cause.type : undefined;
  return type != null && MODEL_CODES.includes(type) ? type : 'model_error';
}

function toToolResult(error: unknown, tool: ToolSpec): ToolResult {
  const cause = causeOf(error);
  const common = { attempts: 1, started: true };
  if (tool.effect === 'once') {
    // Lost heartbeat, time-out, killed worker, shutdown: all mean unknown, not failed.
    return { outcome: 'unknown', error: unknownOutcomeText(tool.name), ...common };
  }
  if (isCancellation(error)) {
    return { outcome: 'canceled', error: canceledCallText, ...common };
  }
  const text =
    cause instanceof TimeoutFailure
      ? toolTimeoutText(tool.name, tool.timeoutMs)
      : toolErrorText(cause.message);
  return { outcome: 'error', error: text, ...common };
}

function toJudgeOutcome(error: unknown): JudgeOutcome {
  if (isCancellation(error)) return { kind: 'aborted' };
  return { kind: 'failed', message: causeOf(error).message };
}

/** What the activity failed of: Temporal wraps it once. */
function causeOf(error: unknown): Error {
  if (error instanceof ActivityFailure && error.cause !== undefined) return error.cause;
  return error instanceof Error ? error : new Error(String(error));
}
