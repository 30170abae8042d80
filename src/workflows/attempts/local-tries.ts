/**
 * Calls that a worker expects to be quick: each is tried once as a local activity, then as a regular
 * one under the same id.
 *
 * I1  Which tools are quick is recorded with the reply that makes the calls, so a replay tries the
 *     same calls in the same way.
 * I2  A workflow task stays open while local activities run, and messages and queries wait for it. So
 *     all local tries of one task have `LOCAL_TRIES_MS` together. Their results leave with the
 *     completion of the task, which is bounded; so are their number and the size of each.
 * I3  A try that its time ended is no attempt: the tool only reads. One in which the tool failed is.
 */
import { proxyLocalActivities } from '@temporalio/workflow';
import type { ActivityRuntime, EverloopActivities } from '../../activities/activity-types.ts';
import { LOCAL_TRY_BYTES, MOST_LOCAL_TRIES } from '../../core/attempt/attempts.ts';
import { stepAfter } from '../../core/attempt/table.ts';
import type { ToolSpec } from '../../core/contract/spec.ts';
import { SEARCH_TOOL } from '../../core/tool-search/query.ts';
import { localTryOptions } from './activity-options.ts';
import { failureOf } from './read-failure.ts';
import { recorded } from '../recorded/recorded.ts';

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
  now: () => number = () => recorded().now(),
): LocalTries {
  let quick: ReadonlySet<string> = new Set();
  const budget = createTryBudget(now);
  return {
    replied: (names = []) => {
      quick = new Set(toolQueue === undefined ? names : []);
      budget.nextTask();
    },
    first: (tool, summary, regular) => {
      if (tool.auto !== true || !quick.has(tool.name)) return regular;
      // What a regular activity returns comes with a new task.
      const later: ToolActivity = (order) => regular(order).finally(budget.nextTask);
      return async (order) => {
        const ms = budget.begin();
        if (ms === null) return later(order);
        const options = { ...localTryOptions(ms), ...summary };
        const local = activityOf(tool, proxyLocalActivities<EverloopActivities>(options));
        try {
          return await local({ ...order, localBytes: LOCAL_TRY_BYTES }).finally(budget.end);
        } catch (error) {
          if (isEnd(error)) throw error;
          return later(order);
        }
      };
    },
  };
}

/** Whether the failure of a local try is that of the call: it was stopped, lost, or its tool failed. */
function isEnd(error: unknown): boolean {
  const { kind, isTimeout } = failureOf(error);
  if (isTimeout === true) return false;
  const step = stepAfter('read', kind);
  return step === 'stop' || step === 'repeat' || step === 'retry';
}

/** The activity of a tool. */
export type ToolActivity = EverloopActivities['callTool'];

/** The activity of a tool; searches have one of their own, so that histories distinguish them. */
export function activityOf(
  { name, effect }: ToolSpec,
  activities: EverloopActivities,
): ToolActivity {
  if (name === SEARCH_TOOL) return activities['searchTools'];
  return activities[effect === 'once' ? 'callToolOnce' : 'callTool'];
}

/** The time of the local tries of a workflow task together. A steer must take effect in 1.5 s. */
export const LOCAL_TRIES_MS = 800;

/** With less time left, a call is not tried. */
const LEAST_MS = 50;

/** The budget of the tries of a task. */
export interface TryBudget {
  /** Begins a try that has so many milliseconds; null: there is no room for one. */
  readonly begin: () => number | null;
  /** A try has ended. */
  readonly end: () => void;
  /** Something has come that a new task brought. While tries are open, it is still the same one. */
  readonly nextTask: () => void;
}

/** The budget of a first task. `now`: in the workflow, it moves when an activity ends. */
export function createTryBudget(now: () => number): TryBudget {
  /** When the first try of this task began, as far as that is known; null: none has. */
  let since: number | null = null;
  let begun = 0;
  let open = 0;
  return {
    begin: () => {
      const ms = LOCAL_TRIES_MS - (since === null ? 0 : now() - since);
      if (ms < LEAST_MS || begun >= MOST_LOCAL_TRIES) return null;
      since ??= now();
      begun += 1;
      open += 1;
      return ms;
    },
    end: () => {
      open -= 1;
    },
    nextTask: () => {
      if (open > 0) return;
      since = null;
      begun = 0;
    },
  };
}
