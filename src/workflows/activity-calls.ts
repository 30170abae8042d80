/**
 * The calls of a host that are activities. A call on a worker that lacks what it needs waits for
 * another one, see `attempts/retry-elsewhere.ts`.
 */
import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { ActivityRuntime, EverloopActivities } from '../activities/activity-types.ts';
import type {
  ApprovalOutcome,
  JudgeOutcome,
  LiteralsOutcome,
  ModelOutcome,
  ToolEnd,
} from '../core/contract/host-outcome.ts';
import type {
  JudgeResult,
  LiteralFindings,
  LiteralVerdict,
  ToolResult,
} from '../core/contract/outcome.ts';
import type { ToolSpec } from '../core/contract/spec.ts';
import type { Host } from '../core/run/host.ts';
import { SEARCH_TOOL } from '../core/tool-search/query.ts';
import {
  attemptOptions,
  CHECK_OPTIONS,
  checkElsewhereOptions,
  judgeOptions,
  localToolOptions,
  modelOptions,
  onAnyWorker,
  toolOptions,
} from './attempts/activity-options.ts';
import { toCheckOutcome, toToolResult } from './attempts/call-failures.ts';
import type { OperatorWait } from './attempts/operator-calls.ts';
import type { OpenCall, RunCall } from './attempts/open-call.ts';
import type { HeldCalls } from './attempts/held-calls.ts';
import type { Elsewhere } from './attempts/retry-elsewhere.ts';
import { retryModelCall } from './attempts/retry-model.ts';
import type { Rest } from './attempts/rests.ts';
import { createTranscriptFeed } from './sinks.ts';
import { triedModelCall } from './attempts/tried-model.ts';
import { triedJudgement, triedToolCall } from './attempts/tried-tool.ts';
import { createTryCall } from './attempts/try-again.ts';

/** The calls of a host that are activities. */
export type Calls = Pick<
  Host,
  'callModel' | 'callTool' | 'judgeAnswer' | 'needsApproval' | 'checkLiterals'
>;

/** What the calls need from their host. */
export interface CallParts {
  readonly runtime: ActivityRuntime;
  readonly run: RunCall;
  readonly elsewhere: Elsewhere;
  readonly rest: Rest;
  readonly heldCalls: HeldCalls;
  readonly operator: OperatorWait;
  /** False in a link that began when the service still made all attempts; see `limitsAtOnce`. */
  readonly isNew: boolean;
}

/** The calls that are activities. */
export function callsOf(parts: CallParts): Calls {
  const older = callsTriedByService(parts);
  return parts.isNew ? { ...older, ...triedCalls(parts) } : older;
}

/** The calls whose attempts the workflow begins. */
function triedCalls(parts: CallParts): Pick<Calls, 'callModel' | 'callTool' | 'judgeAnswer'> {
  const { runtime, heldCalls } = parts;
  const feed = createTranscriptFeed();
  const tryCall = createTryCall(parts);
  const { callModel: first } = proxyActivities<EverloopActivities>(
    attemptOptions(modelOptions(runtime), 0, 'failure'),
  );
  const { here } = createToolActivities(runtime);
  return {
    callModel: (order, state, options) => {
      if (order.inline === undefined) feed(state);
      return tryCall(triedModelCall(order, options, { runtime, first }));
    },
    callTool: (order, tool, { abortId } = {}) => {
      const local = tool.local ? here(tool) : null;
      const end = heldCalls.begin(order.callId);
      const heldMs = (): number => heldCalls.heldMs(order.callId);
      const call = triedToolCall(order, tool, { runtime, local, abortId, heldMs });
      return tryCall(call).then((result) => {
        end();
        return { result, endedAt: Date.now() };
      });
    },
    judgeAnswer: (order) => tryCall(triedJudgement(order, runtime)),
  };
}

/** All calls, as links have them in which the service makes the attempts. */
function callsTriedByService({ runtime, run, elsewhere }: CallParts): Calls {
  const feed = createTranscriptFeed();
  const models = proxyActivities<EverloopActivities>(modelOptions(runtime));
  const judges = proxyActivities<EverloopActivities>(judgeOptions(runtime));
  const checks = proxyLocalActivities<EverloopActivities>(CHECK_OPTIONS);
  const anyJudges = proxyActivities<EverloopActivities>(onAnyWorker(judgeOptions(runtime)));
  const anyChecks = proxyActivities<EverloopActivities>(
    onAnyWorker(checkElsewhereOptions(runtime)),
  );
  const toolActivities = createToolActivities(runtime);
  /** Reads a failure, after a wait for a worker that has what the call needs. */
  const anywhere =
    <Result, Outcome>(
      again: () => Promise<Result>,
      onResult: (result: Result) => Outcome,
      onFailure: (error: unknown) => Outcome,
      isLocal = false,
    ) =>
    (error: unknown, open: OpenCall): Outcome | Promise<Outcome> =>
      elsewhere.retry(error, { ...open, again, isLocal })?.then(onResult, onFailure) ??
      onFailure(error);
  return {
    callModel: (order, state, { abortId, ...retries }) => {
      if (order.inline === undefined) feed(state);
      return run<ModelOutcome, ModelOutcome>({
        label: `model ${order.model}`,
        abortId,
        schedule: () => models.callModel(order),
        onResult: (outcome) => outcome,
        onFailure: (error, open) =>
          retryModelCall(order, error, { ...open, ...retries, runtime, elsewhere }),
      });
    },
    callTool: (order, tool, { abortId } = {}) => {
      const ended = (result: ToolResult): ToolEnd => ({ result, endedAt: Date.now() });
      return run<ToolResult, ToolEnd>({
        label: `tool ${tool.name}`,
        abortId,
        schedule: () => toolActivities.here(tool)(order),
        onResult: ended,
        onFailure: anywhere(
          () => toolActivities.anywhere(tool)(order),
          ended,
          (error) => ended(toToolResult(error, tool)),
          tool.local,
        ),
      });
    },
    judgeAnswer: (order) =>
      run<JudgeResult, JudgeOutcome>({
        label: 'judge',
        schedule: () => judges.judgeAnswer(order),
        onResult: judged,
        onFailure: anywhere(() => anyJudges.judgeAnswer(order), judged, toCheckOutcome),
      }),
    needsApproval: (order, tool) =>
      run<boolean, ApprovalOutcome>({
        label: `approval check of ${tool.name}`,
        schedule: () => checks.needsApproval(order),
        onResult: approval,
        onFailure: anywhere(() => anyChecks.needsApproval(order), approval, toCheckOutcome, LOCAL),
      }),
    checkLiterals: (order) =>
      run<readonly (LiteralVerdict | LiteralFindings)[], LiteralsOutcome>({
        label: 'argument check',
        schedule: () => checks.checkLiterals(order),
        onResult: literals,
        onFailure: anywhere(() => anyChecks.checkLiterals(order), literals, toCheckOutcome, LOCAL),
      }),
  };
}

/** The first try is a local activity. */
const LOCAL = true;

function judged(result: JudgeResult): JudgeOutcome {
  return { kind: 'judged', result };
}

function approval(needed: boolean): ApprovalOutcome {
  return { kind: 'known', needed };
}

function literals(checked: readonly (LiteralVerdict | LiteralFindings)[]): LiteralsOutcome {
  return {
    kind: 'checked',
    verdicts: checked.filter((one) => one.kind !== 'literal'),
    literals: checked.filter((one) => one.kind === 'literal'),
  };
}

type ToolActivity = EverloopActivities['callTool'];

/** The activity of a tool: of quick reads on this worker, or on any that runs tools. */
interface ToolActivities {
  readonly here: (tool: ToolSpec) => ToolActivity;
  readonly anywhere: (tool: ToolSpec) => ToolActivity;
}

/**
 * The activity of each tool. Searches have one of their own, so that histories distinguish them.
 */
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
