/** The attempts of a tool call and of a judgement: which failures another one follows. */
import {
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  proxyActivities,
} from '@temporalio/workflow';
import { defined } from '../../core/base/defined.ts';
import type { FailureType } from '../../core/base/failure-types.ts';
import type { ActivityRuntime, EverloopActivities } from '../../activities/activity-types.ts';
import { judgeRetryMs, MAX_JUDGE_ATTEMPTS, toolRetryMs } from '../../core/contract/attempts.ts';
import type { JudgeOutcome } from '../../core/contract/host-outcome.ts';
import type {
  JudgeOrder,
  JudgeResult,
  ToolOrder,
  ToolResult,
} from '../../core/contract/outcome.ts';
import type { ToolSpec } from '../../core/contract/spec.ts';
import { canceledCallText, unknownOutcomeText } from '../../core/toolchain/call-texts.ts';
import { summaryLine } from '../../core/text/summary.ts';
import { SEARCH_TOOL } from '../../core/tool-search/query.ts';
import {
  attemptOptions,
  isRepeatedByService,
  judgeOptions,
  lossPauseMs,
  onAnyWorker,
  toolOptions,
  withHeartbeatFor,
} from './activity-options.ts';
import {
  causeOf,
  isUnstarted,
  lackOf,
  toCheckOutcome,
  toToolResult,
  WaitAborted,
} from './call-failures.ts';
import { isGivenBack, isLoss, isToolLoss, neverBegan } from './losses.ts';
import { after } from './tried-model.ts';
import type { Failed, OperatorNeeded, Tried, TriedCall } from './try-again.ts';

/** The activity of a tool. */
export type ToolActivity = EverloopActivities['callTool'];

/** Where and as which activity a tool call is tried. */
export interface ToolTries {
  readonly runtime: ActivityRuntime;
  /** The activity of the first attempt; of a quick read, a local one. */
  readonly first: ToolActivity;
  readonly abortId: string | undefined;
  /** The call in one line; see `ToolCallOptions`. */
  readonly summary: string | undefined;
  /** How long this call is known to hold a worker, in ms. */
  readonly heldMs: () => number;
}

const NO_LOSSES = { losses: 0, givenBack: 0 } as const;

/** A tool call whose attempts the workflow begins. */
export function triedToolCall(
  order: ToolOrder,
  tool: ToolSpec,
  { runtime, first, abortId, summary, heldMs }: ToolTries,
): TriedCall<ToolResult, ToolResult> {
  // A local activity is repeated by its own worker, so what it ends with is final, unless its result
  // has no room in the task. Its tool only reads, so it may run again.
  let isHere = tool.local;
  const { attemptsBefore: attempts } = order;
  return {
    ...defined({ before: attempts === undefined ? undefined : { attempts, ...NO_LOSSES } }),
    label: `tool ${tool.name}`,
    abortId,
    schedule: (tried, isElsewhere) => {
      const isFirst = tried.attempts + tried.losses === 0 && !isElsewhere;
      if (isFirst && isHere === tool.local) return first(order);
      isHere = false;
      const patient = withHeartbeatFor(toolOptions(tool, runtime, tried.losses), runtime, heldMs());
      const attempt = {
        ...attemptOptions(patient, tried.losses, 'loss'),
        ...defined({ summary }),
      };
      const options = isElsewhere ? onAnyWorker(attempt) : attempt;
      return activityOf(tool, proxyActivities<EverloopActivities>(options))(after(order, tried));
    },
    onResult: (result, tried) => ({ ...result, ...lossesOf(tried.losses + (result.losses ?? 0)) }),
    onFailure: (error, tried) => {
      if (!isHere) {
        return operatorNeeded(error, tried, { order, tool }) ?? failedTool(error, tried, tool);
      }
      if (!isOfType(error, 'not_local')) return final(toToolResult(error, tool));
      isHere = false;
      const aborted = (): ToolResult => stoppedTool(new WaitAborted(), tried, tool);
      return { kind: 'again', tried, inMs: 0, waitsFor: 'a task with more room', aborted };
    },
  };
}

/** The activity of a tool; searches have one of their own, so that histories distinguish them. */
export function activityOf(
  { name, effect }: ToolSpec,
  activities: EverloopActivities,
): ToolActivity {
  if (name === SEARCH_TOOL) return activities['searchTools'];
  return activities[effect === 'once' ? 'callToolOnce' : 'callTool'];
}

function final<Outcome>(outcome: Outcome): Failed<Outcome> {
  return { kind: 'final', outcome };
}

/** What it means that a worker refuses to try the call again; null for any other failure. */
function operatorNeeded(
  error: unknown,
  before: Tried,
  { order, tool }: { readonly order: ToolOrder; readonly tool: ToolSpec },
): OperatorNeeded<ToolResult> | null {
  if (!isOfType(error, 'operator_needed')) return null;
  const tried = withLossesOf(error, before);
  const aborted = (): ToolResult => stoppedTool(new WaitAborted(), tried, tool);
  return { kind: 'operator', callId: order.callId, tried, aborted };
}

/** What the failure of an attempt of a tool means for its call. */
export function failedTool(error: unknown, tried: Tried, tool: ToolSpec): Failed<ToolResult> {
  if (isCancellation(error) || error instanceof WaitAborted) {
    return final(stoppedTool(error, tried, tool));
  }
  const before = withLossesOf(error, tried);
  const aborted = (now: Tried) => (): ToolResult => stoppedTool(new WaitAborted(), now, tool);
  if (isToolLoss(error) && (tool.effect !== 'once' || neverBegan(error))) {
    const givenBack = before.givenBack + (isGivenBack(error) ? 1 : 0);
    const now = { ...before, losses: before.losses + 1, givenBack };
    return { kind: 'again', tried: now, inMs: lossPauseMs(now.losses), aborted: aborted(now) };
  }
  const now = { ...before, attempts: before.attempts + 1 };
  const { attempts } = now;
  const of = tool.effect === 'once' ? 1 : tool.retry.attempts;
  if (isOfType(error, 'tool_failed') && attempts < of) {
    const failure = { message: causeOf(error).message, of };
    const inMs = toolRetryMs(tool, attempts);
    return { kind: 'again', tried: now, inMs, failure, aborted: aborted(now) };
  }
  const result = toToolResult(error, tool);
  return final({
    ...result,
    ...(result.started ? { attempts } : {}),
    ...lossesOf(now.losses),
  });
}

/**
 * The result of a call that was stopped. What was lost may have taken effect, unless the tool only
 * reads or is `once` and never began.
 */
function stoppedTool(error: unknown, { attempts, losses }: Tried, tool: ToolSpec): ToolResult {
  const isWaiting = error instanceof WaitAborted;
  const canceled = { outcome: 'canceled', error: canceledCallText } as const;
  const unknown = { outcome: 'unknown', error: unknownOutcomeText(tool.name) } as const;
  const lost = lossesOf(losses);
  const ran = { attempts: Math.max(1, attempts), started: true, ...lost };
  const unbegun = { attempts: 0, started: false, ...lost };
  const isUnbegun = isWaiting || isUnstarted(causeOf(error));
  switch (tool.effect) {
    case 'once':
      // The service may have lost an attempt that began.
      return isUnbegun && (isWaiting || !isRepeatedByService(losses))
        ? { ...canceled, ...unbegun }
        : { ...unknown, ...ran };
    case 'idempotent':
      if (losses > 0) return { ...unknown, ...ran };
      return { ...canceled, ...(isUnbegun && attempts === 0 ? unbegun : ran) };
    case 'read':
      return { ...canceled, ...(isUnbegun && attempts + losses === 0 ? unbegun : ran) };
  }
}

function lossesOf(losses: number): { readonly losses?: number } {
  return defined({ losses: losses === 0 ? undefined : losses });
}

/** What was tried, with what the activity says of losses before its last attempt. */
function withLossesOf(error: unknown, tried: Tried): Tried {
  const cause = causeOf(error);
  if (!(cause instanceof ApplicationFailure)) return tried;
  const { losses = 0, givenBack = 0 } = (cause.details?.[0] ?? {}) as Partial<Tried>;
  return {
    ...tried,
    losses: tried.losses + losses,
    givenBack: tried.givenBack + givenBack,
  };
}

function isOfType(error: unknown, type: FailureType): boolean {
  const cause = causeOf(error);
  return cause instanceof ApplicationFailure && cause.type === type;
}

/** A judgement whose attempts the workflow begins. */
export function triedJudgement(
  order: JudgeOrder,
  runtime: ActivityRuntime,
): TriedCall<JudgeResult, JudgeOutcome> {
  return {
    label: 'judge',
    schedule: (tried, isElsewhere) => {
      const attempt = {
        ...attemptOptions(judgeOptions(runtime), tried.losses, 'failure'),
        summary: summaryLine(order.validators.join(', ') || 'schema'),
      };
      const options = isElsewhere ? onAnyWorker(attempt) : attempt;
      const { judgeAnswer } = proxyActivities<EverloopActivities>(options);
      return judgeAnswer(after(order, tried));
    },
    onResult: (result) => ({ kind: 'judged', result }),
    onFailure: failedJudgement,
  };
}

/** What the failure of an attempt to judge means for the judgement. */
export function failedJudgement(error: unknown, tried: Tried): Failed<JudgeOutcome> {
  const aborted = (): JudgeOutcome => ({ kind: 'aborted' });
  if (isLoss(error)) {
    const losses = tried.losses + 1;
    return { kind: 'again', tried: { ...tried, losses }, inMs: lossPauseMs(losses), aborted };
  }
  const attempts = tried.attempts + 1;
  const of = MAX_JUDGE_ATTEMPTS;
  const isStopped = isCancellation(error) || !(error instanceof ActivityFailure);
  if (isStopped || lackOf(error) !== null || attempts >= of) {
    return final(toCheckOutcome(error));
  }
  const failure = { message: causeOf(error).message, of };
  const now = { ...tried, attempts };
  return { kind: 'again', tried: now, inMs: judgeRetryMs(attempts), failure, aborted };
}
