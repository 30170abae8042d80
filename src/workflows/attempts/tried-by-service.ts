/**
 * Calls in links that began when the service still made all attempts of an activity. These links
 * keep their commands until their next hand-over; see `limitsAtOnce` of `Link`.
 */
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { ActivityRuntime, EverloopActivities } from '../../activities/activity-types.ts';
import type { JudgeOutcome, ModelOutcome, ToolEnd } from '../../core/contract/host-outcome.ts';
import type { JudgeResult, ToolResult } from '../../core/contract/outcome.ts';
import type { ToolSpec } from '../../core/contract/spec.ts';
import type { Host } from '../../core/run/host.ts';
import { SEARCH_TOOL } from '../../core/tool-search/query.ts';
import {
  judgeOptions,
  localToolOptions,
  modelOptions,
  onAnyWorker,
  toolOptions,
} from './activity-options.ts';
import { toCheckOutcome, toToolResult } from './call-failures.ts';
import type { RunCall } from './open-call.ts';
import { onFailureElsewhere, type Elsewhere } from './retry-elsewhere.ts';
import { retryModelCall } from './retry-model.ts';
import type { ToolActivity } from './tried-tool.ts';

/** The calls of a host that may have several attempts. */
export type TriedCalls = Pick<Host, 'callModel' | 'callTool' | 'judgeAnswer'>;

/** What these calls need from their host. */
export interface ServiceParts {
  readonly runtime: ActivityRuntime;
  readonly run: RunCall;
  readonly elsewhere: Elsewhere;
}

/** The calls whose attempts the service makes. */
export function callsTriedByService({ runtime, run, elsewhere }: ServiceParts): TriedCalls {
  const models = proxyActivities<EverloopActivities>(modelOptions(runtime));
  const judges = proxyActivities<EverloopActivities>(judgeOptions(runtime));
  const anyJudges = proxyActivities<EverloopActivities>(onAnyWorker(judgeOptions(runtime)));
  const toolActivities = createToolActivities(runtime);
  return {
    callModel: (order, _state, { abortId, ...retries }) =>
      run<ModelOutcome, ModelOutcome>({
        label: `model ${order.model}`,
        abortId,
        schedule: () => models.callModel(order),
        onResult: (outcome) => outcome,
        onFailure: (error, open) =>
          retryModelCall(order, error, { ...open, ...retries, runtime, elsewhere }),
      }),
    callTool: (order, tool, { abortId } = {}) => {
      const ended = (result: ToolResult): ToolEnd => ({ result, endedAt: Date.now() });
      return run<ToolResult, ToolEnd>({
        label: `tool ${tool.name}`,
        abortId,
        schedule: () => toolActivities.here(tool)(order),
        onResult: ended,
        onFailure: onFailureElsewhere(elsewhere, {
          again: () => toolActivities.anywhere(tool)(order),
          isLocal: tool.local,
          onResult: ended,
          onFailure: (error) => ended(toToolResult(error, tool)),
        }),
      });
    },
    judgeAnswer: (order) =>
      run<JudgeResult, JudgeOutcome>({
        label: 'judge',
        schedule: () => judges.judgeAnswer(order),
        onResult: judged,
        onFailure: onFailureElsewhere(elsewhere, {
          again: () => anyJudges.judgeAnswer(order),
          onResult: judged,
          onFailure: toCheckOutcome,
        }),
      }),
  };
}

function judged(result: JudgeResult): JudgeOutcome {
  return { kind: 'judged', result };
}

/** The activity of a tool: of quick reads on this worker, or on any that runs tools. */
interface ToolActivities {
  readonly here: (tool: ToolSpec) => ToolActivity;
  readonly anywhere: (tool: ToolSpec) => ToolActivity;
}

/** The activity of each tool. These links know no `callToolOnce`. */
function createToolActivities(runtime: ActivityRuntime): ToolActivities {
  const known = new Map<string, ToolActivity>();
  const pick = (tool: ToolSpec, activities: EverloopActivities): ToolActivity =>
    activities[tool.name === SEARCH_TOOL ? 'searchTools' : 'callTool'];
  return {
    anywhere: (tool) =>
      pick(tool, proxyActivities<EverloopActivities>(onAnyWorker(toolOptions(tool, runtime)))),
    here: (tool) => {
      const found = known.get(tool.name);
      if (found !== undefined) return found;
      const activity = tool.local
        ? pick(tool, proxyLocalActivities<EverloopActivities>(localToolOptions(tool)))
        : pick(tool, proxyActivities<EverloopActivities>(toolOptions(tool, runtime)));
      known.set(tool.name, activity);
      return activity;
    },
  };
}
