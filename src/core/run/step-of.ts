/** Makes the Step of a run from its state and its ending. */
import { explainBreach } from '../limits/breach.ts';
import { EMPTY_MEMORY } from '../../lisp.ts';
import { EMPTY_STATS, SELF_PREFIX, valueOf, type Stats } from '../contract/stats.ts';
import { defined } from '../base/defined.ts';
import { totalStats } from '../conversation/records.ts';
import { modeOf } from '../modes/modes.ts';
import { withLastText } from './last-text.ts';
import type { Ending } from './ending.ts';
import type { RunState } from './run-state.ts';
import type { Step, StepMemory, StepStatus, StepTrace, Usage } from '../contract/step.ts';

/** The totals of a run and its descendants, from its statistics. */
export function usageOf(stats: Stats): Usage {
  const value = (key: string): number => valueOf(stats, `agent:${key}`);
  const totalTokens = value('estimated_tokens');
  const outputTokens = value('estimated_output_tokens') || undefined;
  const costMicroUsd = value('estimated_cost');
  return {
    inputTokens: value('input_tokens'),
    outputTokens: value('output_tokens'),
    totalTokens: value('total_tokens'),
    cachedInputTokens: value('input_tokens_cached'),
    reasoningTokens: value('reasoning_tokens'),
    costMicroUsd: value('cost_microusd'),
    modelCalls: value('model_calls'),
    modelCallRetries: value('model_call_retries'),
    toolCalls: value('tool_calls'),
    durationMs: value('wall_clock_ms'),
    ...defined({
      unpricedCalls: value('hosted_calls_unpriced') || undefined,
      estimated: totalTokens > 0 ? defined({ totalTokens, outputTokens, costMicroUsd }) : undefined,
    }),
  };
}

/** The status and the reason of an ending. */
export function outcomeOf(ending: Ending): {
  readonly status: StepStatus;
  readonly reason: string;
} {
  switch (ending.kind) {
    case 'success':
      return { status: 'success', reason: ending.reason ?? 'answered' };
    case 'canceled':
      return { status: 'canceled', reason: ending.reason };
    case 'limit_exceeded':
      return { status: 'limit_exceeded', reason: ending.breach.key };
    case 'error':
      return { status: 'error', reason: ending.code };
    case 'compaction_failed':
      return { status: 'compaction_failed', reason: 'compaction_failed' };
  }
}

/** One sentence for people about an ending; undefined when there is nothing to say. */
export function messageOf(ending: Ending, iteration: number): string | undefined {
  switch (ending.kind) {
    case 'success':
      return undefined;
    case 'canceled':
      return ending.message === '' ? undefined : ending.message;
    case 'limit_exceeded':
      return explainBreach(ending.breach);
    case 'error':
      // A failure before the first iteration is about the input of the run.
      return iteration === 0 || ending.isVerbatim === true
        ? ending.cause
        : `iteration ${iteration}: ${ending.cause}`;
    case 'compaction_failed':
      return `compaction after iteration ${iteration}: ${ending.cause}`;
  }
}

/** Limits on replies that could not be used. */
const PARSE_ERRORS = /^(?:\$self:)?agent:[a-z]+_parse_error_/;

/** The message of the Step: with the last text of a model whose replies could not be used. */
function stepMessage(state: RunState, ending: Ending): string | undefined {
  const message = messageOf(ending, state.iteration);
  if (message === undefined || ending.kind !== 'limit_exceeded') return message;
  if (!PARSE_ERRORS.test(ending.breach.key)) return message;
  const { lastProblem = '', lastUnusable = '' } = state;
  const named = lastProblem === '' ? message : `${message}. The last reply: ${lastProblem}`;
  return withLastText(named, lastUnusable);
}

/**
 * The data of an error; if a limit ended the run, the problems of its last program. Of an eval that
 * ended early, the tries until then.
 */
function detailsOf(state: RunState, ending: Ending): Pick<Step, 'details'> {
  if (ending.kind === 'error' && ending.details !== undefined) return { details: ending.details };
  const isEval = state.head.spec.evaluation !== undefined;
  if (isEval && ending.kind !== 'success' && state.data !== null) return { details: state.data };
  const { memory } = modeOf(state.head.spec);
  if (ending.kind !== 'limit_exceeded' || memory === undefined) return {};
  const problems = memory.problems(state.data);
  return problems.length === 0 ? {} : { details: { problems } };
}

/** The memory that a run leaves; empty if no programs could run. */
function memoryOf({ program, head }: RunState): StepMemory {
  // A custom loop may run programs in any mode.
  const hasPrograms = head.spec.program !== undefined || program?.last !== undefined;
  return hasPrograms ? (program?.memory ?? EMPTY_MEMORY) : {};
}

/** The call of the parent that started the run. */
function parentOf({ parent }: RunState): Pick<StepTrace, 'parent'> {
  if (parent === undefined) return {};
  const { workflowId, runId, agent, callId } = parent;
  return { parent: { workflowId, runId, agent, callId } };
}

/**
 * The Step of a run that ended in `state`; of a conversation, with the statistics of all its turns.
 * `stats`: those of one turn.
 */
export function stepOf(
  state: RunState,
  ending: Ending,
  trace: StepTrace,
  stats: Stats = totalStats(state),
): Step {
  const { spec } = state.head;
  const message = stepMessage(state, ending);
  const usage = usageOf(stats);
  return {
    v: 1,
    runId: state.runId,
    agent: spec.name,
    mode: spec.mode,
    ...outcomeOf(ending),
    value: ending.kind === 'success' ? ending.value : null,
    ...defined({ message }),
    ...detailsOf(state, ending),
    signature: spec.signature?.text ?? null,
    fieldDescriptions: spec.fieldDescriptions ?? {},
    usage: {
      ...usage,
      ...defined({
        schemaUsed: modeOf(spec).requestsJson && usage.modelCalls > 0 ? (true as const) : undefined,
        fallbackUsed: ending.kind === 'success' ? ending.fallbackUsed : undefined,
      }),
    },
    stats,
    ...defined({ exceededLimit: state.breach ?? undefined }),
    memory: memoryOf(state),
    notes: state.program?.notes ?? [],
    iterations: valueOf(stats, `${SELF_PREFIX}agent:iterations`),
    children: state.childEnds ?? [],
    ...defined({ unknownCalls: state.unknownCalls, sources: state.sources }),
    trace: { ...trace, ...defined({ forkedFrom: state.fork?.origin }), ...parentOf(state) },
    ...(ending.kind === 'success' ? ending.passedOn : {}),
  };
}

/** The Step of a run that ended before its first event. */
export function unstartedStep(
  agent: string,
  reason: string,
  message: string,
  trace: StepTrace,
): Step {
  return {
    v: 1,
    runId: trace.firstExecutionId,
    agent,
    mode: 'react',
    status: reason === 'canceled' ? 'canceled' : 'error',
    value: null,
    reason,
    message,
    signature: null,
    fieldDescriptions: {},
    usage: usageOf(EMPTY_STATS),
    stats: EMPTY_STATS,
    memory: {},
    notes: [],
    iterations: 0,
    children: [],
    trace,
  };
}
