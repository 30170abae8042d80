/**
 * The calls of a host that are activities: how each attempt is scheduled. What follows from its failure
 * is in `core/attempt`, and carried out by `attempts/try-again.ts`.
 */
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { ActivityOptions } from '@temporalio/workflow';
import type { ActivityRuntime, EverloopActivities } from '../activities/activity-types.ts';
import { LOCAL_TRY_BYTES } from '../core/attempt/attempts.ts';
import {
  afterModelFailure,
  modelEnd,
  nextModelOrder,
  NO_MODEL_TRIED,
  type TriedModel,
} from '../core/attempt/model-attempts.ts';
import { NOTHING_TRIED, orderAfter } from '../core/attempt/table.ts';
import { afterJudgeFailure, afterToolFailure, toolEnd } from '../core/attempt/tool-attempts.ts';
import { defined } from '../core/base/defined.ts';
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { JudgeOutcome, ModelOutcome, UnfailedOutcome } from '../core/contract/host-outcome.ts';
import type { JudgeOrder, JudgeResult, ToolOrder, ToolResult } from '../core/contract/outcome.ts';
import type { ToolSpec } from '../core/contract/spec.ts';
import type { Host, ModelCallOptions } from '../core/run/host.ts';
import { summaryLine } from '../core/text/summary.ts';
import {
  attemptOptions,
  judgeOptions,
  localToolOptions,
  modelOptions,
  onAnyWorker,
  toolOptions,
  withHeartbeatFor,
} from './attempts/activity-options.ts';
import type { HeldCalls } from './attempts/held-calls.ts';
import {
  activityOf,
  createLocalTries,
  type LocalTries,
  type ToolActivity,
} from './attempts/local-tries.ts';
import { quickChecks, type QuickChecks } from './attempts/quick-checks.ts';
import { createTryCall, type TriedCall, type TryParts } from './attempts/try-again.ts';
import { createTranscriptFeed } from './sinks.ts';

/** What the calls need from their host. */
export interface CallParts extends TryParts {
  readonly runtime: ActivityRuntime;
  readonly heldCalls: HeldCalls;
}

/** The calls that are activities. The worker gets the transcript before its model is asked. */
export function callsOf(
  parts: CallParts,
): Pick<Host, 'callModel' | 'callTool' | 'judgeAnswer'> & QuickChecks {
  const { runtime, heldCalls, now } = parts;
  const feed = createTranscriptFeed();
  const tryCall = createTryCall(parts);
  const localTries = createLocalTries(runtime);
  // Workers go by what the run began with, not by what they have themselves.
  const sized = defined({ blobs: runtime.blobs });
  return {
    ...quickChecks(runtime, tryCall),
    callModel: (order, state, options) => {
      if (order.inline === undefined) feed(state);
      const call = modelCall({ ...order, ...sized }, options, parts);
      if (order.purpose !== 'reply') return tryCall(call);
      return tryCall({
        ...call,
        onResult: (result, tried) => {
          localTries.replied(result.kind === 'reply' ? result.local : undefined);
          return call.onResult(result, tried);
        },
      });
    },
    callTool: (order, tool, { abortId, summary } = {}) => {
      const end = heldCalls.begin(order.callId);
      const heldMs = (): number => heldCalls.heldMs(order.callId);
      const first = firstTry(tool, { runtime, localTries }, summary);
      const tries = { runtime, first, abortId, summary, heldMs };
      return tryCall(toolCall({ ...order, ...sized }, tool, tries)).then((result) => {
        end();
        return { result, endedAt: now() };
      });
    },
    judgeAnswer: (order) => tryCall(judgement(order, runtime)),
  };
}

/** The activities of one attempt; `isElsewhere`: not on the worker that asks for it. */
function activitiesFor(options: ActivityOptions, isElsewhere: boolean): EverloopActivities {
  return proxyActivities<EverloopActivities>(isElsewhere ? onAnyWorker(options) : options);
}

/** A model call whose attempts the workflow begins. */
function modelCall(
  order: ModelOrder,
  options: ModelCallOptions,
  { runtime, now }: Pick<CallParts, 'runtime' | 'now'>,
): TriedCall<UnfailedOutcome, ModelOutcome, TriedModel> {
  const { abortId, hasFallback } = options;
  const { model, purpose } = order;
  const summary = summaryLine(purpose === 'reply' ? model : `${model} for ${purpose}`);
  // Reads run beside a reply only where the workers of models run tools.
  const { reads: _reads, ...others } = order;
  const mayRead = runtime.toolQueue === undefined && runtime.modelQueue === undefined;
  const asked = { ...(mayRead ? order : others), ...defined({ abortId }) };
  return {
    label: `model ${model}`,
    abortId,
    before: NO_MODEL_TRIED,
    ...defined({ hasFallback }),
    schedule: (tried, isElsewhere) => {
      const attempt = attemptOptions(modelOptions(runtime), tried.losses, 'failure');
      const next = orderAfter(nextModelOrder(options, asked, tried), tried);
      return activitiesFor({ ...attempt, summary }, isElsewhere).callModel(next);
    },
    onResult: (result, tried) => modelEnd(tried, result),
    onFailure: (failure, tried) => afterModelFailure(options, tried, failure, now()),
  };
}

/** Where and as which activity a tool call is tried. */
interface ToolTries {
  readonly runtime: ActivityRuntime;
  /** The activity of the first attempt; of a quick read, a local one. */
  readonly first: ToolActivity;
  readonly abortId: string | undefined;
  /** The call in one line; see `ToolCallOptions`. */
  readonly summary: string | undefined;
  /** How long this call is known to hold a worker, in ms. */
  readonly heldMs: () => number;
}

/** A tool call whose attempts the workflow begins. */
function toolCall(
  order: ToolOrder,
  tool: ToolSpec,
  { runtime, first, abortId, summary, heldMs }: ToolTries,
): TriedCall<ToolResult, ToolResult> {
  // A local activity is repeated by its own worker, so what it ends with is final, unless its result
  // has no room in the task. Its tool only reads, so it may run again.
  let isHere = tool.local;
  const { attemptsBefore: attempts = 0, callId } = order;
  return {
    label: `tool ${tool.name}`,
    abortId,
    callId,
    before: { ...NOTHING_TRIED, attempts },
    schedule: (tried, isElsewhere) => {
      const isFirst = tried.attempts + tried.losses === 0 && !isElsewhere;
      if (isFirst && isHere === tool.local) return first(order);
      isHere = false;
      const patient = withHeartbeatFor(toolOptions(tool, runtime, tried.losses), runtime, heldMs());
      const attempt = attemptOptions(patient, tried.losses, 'loss');
      const activities = activitiesFor({ ...attempt, ...defined({ summary }) }, isElsewhere);
      return activityOf(tool, activities)(orderAfter(order, tried));
    },
    onResult: toolEnd,
    onFailure: (failure, tried) => {
      const next = afterToolFailure(tool, tried, failure, isHere);
      if (next.kind === 'again') isHere = false;
      return next;
    },
  };
}

/**
 * The activity of the first attempt of a tool: of a local read, on this worker; of one that the
 * worker expects to be quick, here for a moment.
 */
function firstTry(
  tool: ToolSpec,
  { runtime, localTries }: { readonly runtime: ActivityRuntime; readonly localTries: LocalTries },
  summary: string | undefined,
): ToolActivity {
  const shown = defined({ summary });
  if (tool.local) {
    const options = { ...localToolOptions(tool), ...shown };
    const local = activityOf(tool, proxyLocalActivities<EverloopActivities>(options));
    const localBytes = tool.maxResultBytes + LOCAL_TRY_BYTES;
    return (order) => local({ ...order, localBytes });
  }
  const options = { ...attemptOptions(toolOptions(tool, runtime), 0, 'loss'), ...shown };
  const regular = activityOf(tool, proxyActivities<EverloopActivities>(options));
  return localTries.first(tool, shown, regular);
}

/** A judgement whose attempts the workflow begins. */
function judgement(
  order: JudgeOrder,
  runtime: ActivityRuntime,
): TriedCall<JudgeResult, JudgeOutcome> {
  const summary = summaryLine(order.validators.join(', ') || 'schema');
  return {
    label: 'judge',
    before: NOTHING_TRIED,
    schedule: (tried, isElsewhere) => {
      const attempt = attemptOptions(judgeOptions(runtime), tried.losses, 'failure');
      const activities = activitiesFor({ ...attempt, summary }, isElsewhere);
      return activities.judgeAnswer(orderAfter(order, tried));
    },
    onResult: (result) => ({ kind: 'judged', result }),
    onFailure: (failure, tried) => afterJudgeFailure(tried, failure),
  };
}
