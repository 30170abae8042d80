import type { Limit } from '../contract/limit.ts';

/**
 * The defaults of most modes, in the order in which they are checked. They stop runs that go in
 * circles, not long runs: three failures of one kind in a row mean that the model does not
 * understand the feedback, a hundred iterations that it makes no progress.
 */
export const DEFAULT_LIMITS: readonly Limit[] = [
  { kind: 'exact', key: '$self:agent:iterations', max: 100 },
  { kind: 'exact', key: 'agent:format_parse_error_consecutive', max: 3 },
  { kind: 'exact', key: 'agent:toolchain_parse_error_consecutive', max: 3 },
  { kind: 'exact', key: 'agent:section_parse_error_consecutive', max: 3 },
  { kind: 'exact', key: 'agent:tool_calls_error_consecutive', max: 3 },
  { kind: 'exact', key: 'agent:code_executions_error_consecutive', max: 3 },
  // At the eighth: the model was warned at the fifth, sixth and seventh.
  { kind: 'exact', key: 'agent:repeated_calls', max: 7 },
  { kind: 'exact', key: '$self:agent:answer_rejected_total', max: 10 },
  { kind: 'exact', key: 'agent:termination_parse_error_consecutive', max: 3 },
  // A deeper or wider tree is a loop of agents that call each other. One more child is refused and
  // the model reads why, so the work done is not lost.
  { kind: 'exact', key: 'agent:depth', max: 5, onReach: 'refuse' },
  { kind: 'exact', key: 'agent:children', max: 100, onReach: 'refuse' },
];

/**
 * The limit on cost of a root whose models all have prices: a dollar pays for hours of most work, and
 * a run that nobody watches cannot spend a hundred.
 */
export const DEFAULT_COST_LIMIT: Limit = {
  kind: 'exact',
  key: 'agent:cost_microusd',
  max: 1_000_000,
  byDefault: true,
};

/** Streaks and rejections that `maxTurns` bounds in modes where turns are for mistakes. */
const MISTAKES: readonly string[] = [
  'agent:toolchain_parse_error_consecutive',
  'agent:code_executions_error_consecutive',
  '$self:agent:answer_rejected_total',
  'agent:termination_parse_error_consecutive',
];

/** The defaults of a mode whose turns are there to repair mistakes. */
export const REPAIR_LIMITS: readonly Limit[] = DEFAULT_LIMITS.filter(
  ({ key }) => !MISTAKES.includes(key),
);

/** The limits that say that they are a default; undefined if there are none. */
export function limitsByDefault(limits: readonly Limit[]): readonly Limit[] | undefined {
  const found = limits.filter(({ byDefault }) => byDefault === true);
  return found.length === 0 ? undefined : found;
}
