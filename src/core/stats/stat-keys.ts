/**
 * The statistics that the loop itself keeps, as one table. `tally` writes them, limits check their
 * keys against the table, and docs/limits.md is generated from it.
 *
 * A counter only rises, reaches every ancestor, and has a twin `$self:{key}` with the run's own
 * share. A gauge goes up and down and stays local.
 */
import { SELF_PREFIX } from '../contract/stats.ts';

/** Whether a statistic only rises and is summed over a tree, or moves freely and is local. */
export type StatKind = 'counter' | 'gauge';

/** What the name after the last colon of a key identifies; `none`: the key has no name. */
export type StatPer = 'none' | 'model' | 'tool' | 'validator';

/** One row of the table. */
export interface StatKeyRow {
  /** Without `$self:` and without the name of a model, a tool or a validator. */
  readonly key: string;
  readonly kind: StatKind;
  /** The forms in which the key exists: `none` alone, the others as `{key}:{name}`. */
  readonly per: readonly StatPer[];
  /** When and by how much it moves; for the docs. */
  readonly meaning: string;
  /** True if a limit on it may have `onReach: 'refuse'`, which refuses single pieces of work. */
  readonly refusable?: true;
}

/** Prefix of every key that only the loop may write. */
export const AGENT_PREFIX = 'agent:';

/** All statistics of the loop, counters first. To add one, add a row. */
export const STAT_KEYS: readonly StatKeyRow[] = [
  counter('agent:iterations', '1 when an iteration begins'),
  counter('agent:model_calls', '1 per model call, failed ones too', 'none', 'model'),
  counter('agent:model_call_retries', 'attempts of a model call beyond its first', 'none', 'model'),
  counter('agent:input_tokens', 'tokens read, cached ones included', 'none', 'model'),
  counter('agent:output_tokens', 'tokens written, reasoning included', 'none', 'model'),
  counter('agent:total_tokens', 'input and output tokens', 'none', 'model'),
  counter('agent:input_tokens_cached', 'the part of input from a cache', 'none', 'model'),
  counter('agent:reasoning_tokens', 'the part of output that is reasoning', 'none', 'model'),
  counter('agent:cost_microusd', 'micro-dollars: 1 USD is 1,000,000', 'none', 'model'),
  counter(
    'agent:estimated_tokens',
    'estimate of what nobody reported; limits on input and all tokens count it',
    'none',
    'model',
  ),
  counter(
    'agent:estimated_output_tokens',
    'the part of these that was written; limits on output count it',
    'none',
    'model',
  ),
  counter('agent:estimated_cost', 'the cost of these; limits on cost count it', 'none', 'model'),
  counter(
    'agent:unreported_calls',
    '1 per reply without usage, if a limit on tokens or cost needs it',
    'none',
    'model',
  ),
  counter('agent:hosted_calls', '1 per call of a tool that its provider ran', 'none', 'tool'),
  counter('agent:hosted_calls_unpriced', 'those of them that are in no price'),
  refusable('agent:tool_calls', '1 per call that ran, whatever its outcome', 'none', 'tool'),
  counter(
    'agent:tool_calls_error_total',
    '1 per call that ended as error, unknown, rejected or refused',
  ),
  counter('agent:tool_calls_error', 'the same for one tool', 'tool'),
  counter('agent:lost_attempts', 'attempts of model and tool calls whose worker was lost'),
  counter('agent:format_parse_error_total', '1 per reply without readable sections'),
  counter('agent:toolchain_parse_error_total', '1 per batch of unreadable calls'),
  counter('agent:termination_parse_error_total', '1 per reply with unfit answers'),
  counter('agent:section_parse_error_total', '1 per unreadable structured section'),
  counter('agent:answer_rejected_total', '1 per answer that a validator rejected'),
  counter('agent:answer_rejected_by', 'the same for one validator', 'validator'),
  refusable('agent:code_executions', '1 per program'),
  counter('agent:code_executions_error', '1 per program that failed'),
  counter('agent:program_steps', 'fuel that programs used'),
  counter('agent:compactions', '1 per compaction'),
  refusable('agent:children', '1 per child run'),
  refusable('agent:questions', '1 per question to a person'),
  counter('agent:approvals_requested', '1 per call that a person was asked to approve'),
  counter('agent:approvals_denied', '1 per call that a person denied'),
  gauge('agent:format_parse_error_consecutive', 'replies without readable sections in a row'),
  gauge(
    'agent:toolchain_parse_error_consecutive',
    'batches of unreadable calls in a row; 0 again at a turn with calls or a program',
  ),
  gauge(
    'agent:section_parse_error_consecutive',
    'unreadable structured sections in a row; 0 again when one was read',
  ),
  gauge(
    'agent:termination_parse_error_consecutive',
    'replies with unfit answers in a row; 0 again when an answer was accepted or rejected',
  ),
  gauge(
    'agent:tool_calls_error_consecutive',
    'failed calls in a row, as they end, without calls of programs; 0 again at a success',
    'none',
    'tool',
  ),
  gauge(
    'agent:repeated_calls',
    'replies in a row with an equal call and an equal result, from the second on; 0 again at another call or an input',
  ),
  gauge('agent:code_executions_error_consecutive', 'failed programs in a row'),
  gauge(
    'agent:input_tokens_last_iteration',
    'input tokens of the iteration, 0 when one begins',
    'none',
    'model',
  ),
  gauge(
    'agent:output_tokens_last_iteration',
    'output tokens of the iteration, 0 when one begins',
    'none',
    'model',
  ),
  gauge(
    'agent:total_tokens_last_iteration',
    'all tokens of the iteration, 0 when one begins',
    'none',
    'model',
  ),
  gauge('agent:scratchpad_length', 'entries that the next model call sees'),
  gauge('agent:wall_clock_ms', 'time since the run began, waits and pauses included'),
  gauge('agent:active_ms', 'the same without pauses and waits for people'),
  {
    ...gauge('agent:depth', '0 for a root, one more than its parent for a child'),
    refusable: true,
  },
];

/** What the table says about a key. */
export interface StatKeyInfo {
  readonly row: StatKeyRow;
  /** Whether the key names the run's own share. */
  readonly self: boolean;
  /** The model, tool or validator after the last colon, if there is one. */
  readonly name?: string;
}

/** The key of the run's own share of `key`; a key that already has the prefix is unchanged. */
export function self(key: string): string {
  return isSelf(key) ? key : SELF_PREFIX + key;
}

/** Whether `key` names the run's own share of a counter. */
export function isSelf(key: string): boolean {
  return key.startsWith(SELF_PREFIX);
}

/** `key` without the prefix of the run's own share. */
export function withoutSelf(key: string): string {
  return isSelf(key) ? key.slice(SELF_PREFIX.length) : key;
}

/** The row for `key`, or undefined if the loop keeps no such statistic. */
export function statKeyInfo(key: string): StatKeyInfo | undefined {
  const base = withoutSelf(key);
  for (const row of STAT_KEYS) {
    if (base === row.key && row.per.includes('none')) return { row, self: isSelf(key) };
    const name = base.slice(row.key.length + 1);
    const named = row.per.some((per) => per !== 'none');
    if (named && name !== '' && base.startsWith(`${row.key}:`)) {
      return { row, self: isSelf(key), name };
    }
  }
  return undefined;
}

/** The rows that a prefix limit on `prefix` can watch. */
export function statRowsUnder(prefix: string): readonly StatKeyRow[] {
  const base = withoutSelf(prefix);
  return STAT_KEYS.filter((row) => {
    if (row.per.includes('none') && row.key.startsWith(base)) return true;
    const named = `${row.key}:`;
    return (
      row.per.some((per) => per !== 'none') && (named.startsWith(base) || base.startsWith(named))
    );
  });
}

function counter(key: string, meaning: string, ...per: readonly StatPer[]): StatKeyRow {
  return { key, kind: 'counter', per: per.length === 0 ? ['none'] : per, meaning };
}

function refusable(key: string, meaning: string, ...per: readonly StatPer[]): StatKeyRow {
  return { ...counter(key, meaning, ...per), refusable: true };
}

function gauge(key: string, meaning: string, ...per: readonly StatPer[]): StatKeyRow {
  return { ...counter(key, meaning, ...per), kind: 'gauge' };
}
