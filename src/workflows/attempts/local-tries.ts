/**
 * Calls that a worker expects to be quick: each is tried once as a local activity, then as a regular
 * one under the same id.
 *
 * I1  Which tools are quick is recorded with the reply that makes the calls, so a replay tries the
 *     same calls in the same way.
 * I2  A workflow task stays open while local activities run, and messages and queries wait for it. So
 *     all local tries of one task have `LOCAL_TRIES_MS` together.
 * I3  A try that its time ended is no attempt: the tool only reads. One in which the tool failed is.
 */
import {
  ApplicationFailure,
  isCancellation,
  proxyLocalActivities,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { ActivityRuntime, EverloopActivities } from '../../activities/activity-types.ts';
import type { ToolSpec } from '../../core/contract/spec.ts';
import { localTryOptions } from './activity-options.ts';
import { causeOf } from './call-failures.ts';
import { isLoss } from './losses.ts';
import { activityOf, type ToolActivity } from './tried-tool.ts';

/** The time of the local tries of a workflow task together. A steer must take effect in 1.5 s. */
export const LOCAL_TRIES_MS = 800;

/** With less time left, a call is not tried here. */
const LEAST_MS = 50;

/** Which calls of a run are tried as local activities. */
export interface LocalTries {
  /** A model has replied: the calls that follow are of this turn. `quick`: the tools to try here. */
  readonly replied: (quick: readonly string[] | undefined) => void;
  /** The first attempt of a call of `tool`; `regular` is its activity. */
  readonly first: (
    tool: ToolSpec,
    summary: { readonly summary?: string },
    regular: ToolActivity,
  ) => ToolActivity;
}

/** No reply yet. `now`: in the workflow, it moves when an activity ends. */
export function createLocalTries(
  { toolQueue }: ActivityRuntime,
  now: () => number = () => Date.now(),
): LocalTries {
  let quick: ReadonlySet<string> = new Set();
  /** When the first local try of this task began, as far as that is known; null: none has. */
  let since: number | null = null;
  let openTries = 0;
  const leftMs = (): number => LOCAL_TRIES_MS - (since === null ? 0 : now() - since);
  // What a regular activity returns comes with a new task.
  const nextTask = (): void => {
    if (openTries === 0) since = null;
  };
  const tryHere = async (activity: ToolActivity, order: Order): Promise<Result> => {
    since ??= now();
    openTries += 1;
    try {
      return await activity(order);
    } finally {
      openTries -= 1;
    }
  };
  return {
    replied: (names = []) => {
      quick = new Set(toolQueue === undefined ? names : []);
      nextTask();
    },
    first: (tool, summary, regular) => {
      if (tool.auto !== true || !quick.has(tool.name)) return regular;
      const later: ToolActivity = (order) => regular(order).finally(nextTask);
      return async (order) => {
        const ms = leftMs();
        if (ms < LEAST_MS) return later(order);
        const options = { ...localTryOptions(ms), ...summary };
        const local = activityOf(tool, proxyLocalActivities<EverloopActivities>(options));
        try {
          return await tryHere(local, order);
        } catch (error) {
          if (isEnd(error)) throw error;
          return later(order);
        }
      };
    },
  };
}

type Order = Parameters<ToolActivity>[0];
type Result = Awaited<ReturnType<ToolActivity>>;

/** Whether the failure of a local try is that of the call: it was stopped, lost, or its tool failed. */
function isEnd(error: unknown): boolean {
  const cause = causeOf(error);
  if (cause instanceof TimeoutFailure) return false;
  if (isCancellation(error) || isLoss(error)) return true;
  return cause instanceof ApplicationFailure && cause.type === 'tool_failed';
}
