import type { Limit } from '../contract/limit.ts';

/**
 * The limits of an agent that sets none, in the order in which they are checked. They stop runs
 * that go in circles, not runs that work long: three failures of one kind in a row mean that the
 * model does not understand the feedback, a hundred iterations that it does not get anywhere.
 */
export const DEFAULT_LIMITS: readonly Limit[] = [
  { kind: 'exact', key: '$self:agent:iterations', max: 100 },
  { kind: 'exact', key: 'agent:format_parse_error_consecutive', max: 3 },
  { kind: 'exact', key: 'agent:toolchain_parse_error_consecutive', max: 3 },
  { kind: 'exact', key: 'agent:section_parse_error_consecutive', max: 3 },
  { kind: 'exact', key: 'agent:tool_calls_error_consecutive', max: 3 },
  { kind: 'exact', key: 'agent:code_executions_error_consecutive', max: 3 },
  { kind: 'exact', key: '$self:agent:answer_rejected_total', max: 10 },
  { kind: 'exact', key: 'agent:termination_parse_error_consecutive', max: 3 },
  // A tree deeper or wider than this is a loop of agents that call each other; one more child is
  // refused, and the model reads so, since the work done is not lost by that.
  { kind: 'exact', key: 'agent:depth', max: 5, onReach: 'refuse' },
  { kind: 'exact', key: 'agent:children', max: 100, onReach: 'refuse' },
];

/** Limits on mistakes, which modes with turns for repairs do not need. */
const MISTAKES: readonly string[] = [
  'agent:toolchain_parse_error_consecutive',
  'agent:code_executions_error_consecutive',
  '$self:agent:answer_rejected_total',
  'agent:termination_parse_error_consecutive',
];

/** The defaults. Where turns are there to repair mistakes, a few mistakes are no reason to stop. */
export function defaultLimitsOf(turnsAreRepairs: boolean): readonly Limit[] {
  if (!turnsAreRepairs) return DEFAULT_LIMITS;
  return DEFAULT_LIMITS.filter(({ key }) => !MISTAKES.includes(key));
}
