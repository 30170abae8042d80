/**
 * The effect of each event on the statistics, as one table. A new key is a new row. Rules are
 * applied in order; a counter moves before its gauges.
 */
import { exactSum } from '../base/exact-sum.ts';
import { isOwnEvent, type AgentEvent, type EventType } from '../contract/events.ts';
import type { ReportedStats } from '../contract/outcome.ts';
import type { ProgramOutcome } from '../contract/report.ts';
import { change, type Numbers, type StatChange, type Stats } from '../contract/stats.ts';

type EventOf<Type extends EventType> = Extract<AgentEvent, { readonly type: Type }>;
type Rules = {
  readonly [Type in EventType]?: (event: EventOf<Type>, stats: Stats) => readonly StatChange[];
};

/** A counter, and its share by model, tool or validator. */
function countBoth(key: string, by: number, name: string): StatChange[] {
  return [count(key, by), count(`${key}:${name}`, by)];
}

function count(key: string, by = 1): StatChange {
  return { kind: 'count', key, by };
}

function rise(key: string, by = 1): StatChange {
  return { kind: 'rise', key, by };
}

function set(key: string, value: number): StatChange {
  return { kind: 'set', key, value };
}

/** Counts attempts whose worker was lost. */
function lost(losses = 0): StatChange[] {
  return losses === 0 ? [] : [count('agent:lost_attempts', losses)];
}

const FAILED_CALLS: readonly string[] = ['error', 'unknown', 'rejected', 'refused'];

const RULES: Rules = {
  'agent:execution:before': (event) => [set('agent:depth', event.depth)],
  'agent:iteration:before': (_event, stats) => [
    count('agent:iterations'),
    ...Object.keys(stats.gauges)
      .filter((key) => LAST_ITERATION.test(key))
      .map((key) => set(key, 0)),
  ],
  'agent:model_call:after': ({ model, usage, attempts, losses, estimated, unreported, ...ran }) => {
    const { hosted = {}, unpricedCalls } = ran;
    const total = exactSum(usage.inputTokens, usage.outputTokens);
    return [
      ...countBoth('agent:model_calls', 1, model),
      ...countBoth('agent:model_call_retries', Math.max(0, attempts - 1), model),
      ...lost(losses),
      ...countBoth('agent:input_tokens', usage.inputTokens, model),
      ...countBoth('agent:output_tokens', usage.outputTokens, model),
      ...countBoth('agent:total_tokens', total, model),
      ...countBoth('agent:input_tokens_cached', usage.cachedInputTokens, model),
      ...countBoth('agent:reasoning_tokens', usage.reasoningTokens, model),
      ...countBoth('agent:cost_microusd', usage.costMicroUsd, model),
      ...(estimated === undefined
        ? []
        : [
            ...countBoth('agent:estimated_tokens', estimated.totalTokens, model),
            ...countBoth('agent:estimated_cost', estimated.costMicroUsd, model),
            ...(estimated.outputTokens === undefined
              ? []
              : countBoth('agent:estimated_output_tokens', estimated.outputTokens, model)),
          ]),
      ...Object.entries(hosted).flatMap(([tool, by]) => countBoth('agent:hosted_calls', by, tool)),
      ...(unpricedCalls === undefined ? [] : [count('agent:hosted_calls_unpriced', unpricedCalls)]),
      ...(unreported === undefined ? [] : countBoth('agent:unreported_calls', 1, model)),
      ...riseBoth('agent:input_tokens_last_iteration', usage.inputTokens, model),
      ...riseBoth('agent:output_tokens_last_iteration', usage.outputTokens, model),
      ...riseBoth('agent:total_tokens_last_iteration', total, model),
    ];
  },
  'agent:parse_error': ({ family }) => [
    count(`agent:${family}_parse_error_total`),
    rise(`agent:${family}_parse_error_consecutive`),
  ],
  'agent:turn:read': ({ kind, family }) => [
    ...(family === 'format' ? [] : [set('agent:format_parse_error_consecutive', 0)]),
    ...(kind === 'calls' || kind === 'program'
      ? [set('agent:toolchain_parse_error_consecutive', 0)]
      : []),
  ],
  'agent:section:read': () => [set('agent:section_parse_error_consecutive', 0)],
  'agent:answer:judged': ({ outcome, ...reports }) => [
    ...(outcome === 'unfit' ? [] : [set('agent:termination_parse_error_consecutive', 0)]),
    ...reported(reports),
  ],
  'agent:guarded': (reports) => reported(reports),
  'agent:validator:result': ({ validator, accepted }) =>
    accepted
      ? []
      : [count('agent:answer_rejected_total'), count(`agent:answer_rejected_by:${validator}`)],
  'agent:tool_call:after': (
    { tool, outcome, started, losses, inProgram, repeats, ...reports },
    stats,
  ) => {
    const failed = FAILED_CALLS.includes(outcome);
    // Calls of a program do not count: it may try a hundred pages and half of them may be missing.
    // Only the program's own failure is part of a streak.
    const streaks = inProgram !== true;
    const streak = 'agent:tool_calls_error_consecutive';
    return [
      ...(started ? countBoth('agent:tool_calls', 1, tool) : []),
      ...lost(losses),
      ...(failed
        ? [
            count('agent:tool_calls_error_total'),
            count(`agent:tool_calls_error:${tool}`),
            ...(streaks ? [rise(streak), rise(`${streak}:${tool}`)] : []),
          ]
        : []),
      ...(outcome === 'ok' ? [set(streak, 0), set(`${streak}:${tool}`, 0)] : []),
      ...(streaks && outcome !== 'canceled' ? repeated(stats, repeats) : []),
      ...reported(reports),
    ];
  },
  'agent:program:after': ({ outcome, steps }) =>
    outcome === 'refused'
      ? []
      : [
          count('agent:code_executions'),
          count('agent:program_steps', steps),
          ...programStreak(outcome),
        ],
  'agent:child:spawn': () => [count('agent:children')],
  'agent:child:report': ({ added }) => inherited(added),
  'agent:child:complete': ({ added }) => inherited(added),
  'agent:input': (_event, stats) => repeated(stats),
  'agent:question:asked': () => [count('agent:questions')],
  'agent:approval:requested': () => [count('agent:approvals_requested')],
  'agent:approval:decided': ({ decision }) =>
    decision === 'deny' ? [count('agent:approvals_denied')] : [],
  'agent:scratchpad:change': ({ lengthAfter }) => [set('agent:scratchpad_length', lengthAfter)],
  'agent:compaction': () => [count('agent:compactions')],
};

/** The streak of equal calls; most runs have none, and no such gauge. */
function repeated({ gauges }: Stats, repeats = 0): StatChange[] {
  const key = 'agent:repeated_calls';
  return (gauges[key] ?? 0) === repeats ? [] : [set(key, repeats)];
}

/** A canceled program is neither a failure nor a success of its author. */
function programStreak(outcome: ProgramOutcome | 'canceled'): StatChange[] {
  const streak = 'agent:code_executions_error_consecutive';
  switch (outcome) {
    case 'error':
    case 'failed':
      return [count('agent:code_executions_error'), rise(streak)];
    case 'value':
    case 'returned':
      return [set(streak, 0)];
    case 'canceled':
      return [];
  }
}

const LAST_ITERATION = /^agent:(?:input|output|total)_tokens_last_iteration(?::|$)/;

/** `stats` after `event`. Pure; counters never fall. */
export function tally(stats: Stats, event: AgentEvent): Stats {
  return change(stats, changesOf(stats, event));
}

/** The changes that `event` makes to `stats`, in order. */
export function changesOf(stats: Stats, event: AgentEvent): readonly StatChange[] {
  if (isOwnEvent(event)) return reported(event);
  // The table pairs each type with its rule, which an index by a union cannot express.
  const rule = RULES[event.type] as
    ((event: AgentEvent, stats: Stats) => readonly StatChange[]) | undefined;
  return rule === undefined ? [] : rule(event, stats);
}

function inherited(added: Numbers): StatChange[] {
  return Object.entries(added).map(([key, by]) => ({ kind: 'inherit', key, by }));
}

function riseBoth(key: string, by: number, name: string): StatChange[] {
  return [rise(key, by), rise(`${key}:${name}`, by)];
}

function reported({ counts = {}, gauges = {}, raised = {} }: ReportedStats): StatChange[] {
  return [
    ...Object.entries(counts).map(([key, by]) => count(key, by)),
    ...Object.entries(gauges).map(([key, value]) => set(key, value)),
    ...Object.entries(raised).map(([key, by]) => rise(key, by)),
  ];
}
