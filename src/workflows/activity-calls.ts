/** The calls of a host that are activities: how each is tried, in this link of the run. */
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { ActivityRuntime, EverloopActivities } from '../activities/activity-types.ts';
import { defined } from '../core/base/defined.ts';
import { LOCAL_TRY_BYTES } from '../core/contract/attempts.ts';
import type { ToolSpec } from '../core/contract/spec.ts';
import type { Host } from '../core/run/host.ts';
import { attemptOptions, localToolOptions, toolOptions } from './attempts/activity-options.ts';
import type { HeldCalls } from './attempts/held-calls.ts';
import type { RunCall } from './attempts/open-call.ts';
import type { OperatorWait } from './attempts/operator-calls.ts';
import { createLocalTries, type LocalTries } from './attempts/local-tries.ts';
import { quickChecks, type QuickChecks } from './attempts/quick-checks.ts';
import type { Rest } from './attempts/rests.ts';
import type { Elsewhere } from './attempts/retry-elsewhere.ts';
import { triedModelCall } from './attempts/tried-model.ts';
import {
  activityOf,
  triedJudgement,
  triedToolCall,
  type ToolActivity,
} from './attempts/tried-tool.ts';
import { createTryCall } from './attempts/try-again.ts';
import { recorded } from './recorded/recorded.ts';
import { createTranscriptFeed } from './sinks.ts';

/** What the calls need from their host. */
export interface CallParts {
  readonly runtime: ActivityRuntime;
  readonly run: RunCall;
  readonly elsewhere: Elsewhere;
  readonly rest: Rest;
  readonly heldCalls: HeldCalls;
  readonly operator: OperatorWait;
}

/** The calls of a host that may have several attempts. */
type TriedCalls = Pick<Host, 'callModel' | 'callTool' | 'judgeAnswer'>;

/** The calls that are activities. The worker gets the transcript before its model is asked. */
export function callsOf(parts: CallParts): TriedCalls & QuickChecks {
  const { callModel, callTool, ...others } = triedCalls(parts);
  const feed = createTranscriptFeed();
  // Workers go by what the run began with, not by what they have themselves.
  const sized = defined({ blobs: parts.runtime.blobs });
  return {
    ...quickChecks(parts),
    ...others,
    callModel: (order, state, options) => {
      if (order.inline === undefined) feed(state);
      return callModel({ ...order, ...sized }, state, options);
    },
    callTool: (order, tool, options) => callTool({ ...order, ...sized }, tool, options),
  };
}

/** The calls whose attempts the workflow begins. */
function triedCalls(parts: CallParts): TriedCalls {
  const { runtime, heldCalls } = parts;
  const tryCall = createTryCall(parts);
  const localTries = createLocalTries(runtime);
  return {
    callModel: (order, _state, options) => {
      const call = triedModelCall(order, options, runtime);
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
      return tryCall(triedToolCall(order, tool, tries)).then((result) => {
        end();
        return { result, endedAt: recorded().now() };
      });
    },
    judgeAnswer: (order) => tryCall(triedJudgement(order, runtime)),
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
