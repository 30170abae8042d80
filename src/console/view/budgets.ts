/** The bars of a run's budgets, tightest first, in words. */
import { defined } from '../../core/base/defined.ts';
import { SELF_PREFIX, valueOf, type Stats } from '../../core/contract/stats.ts';
import type { Limit } from '../../core/contract/limit.ts';
import type { BudgetLine } from '../../core/contract/messages.ts';
import type { Unit } from './amounts.ts';
import type { IterationView } from './iteration-view.ts';

/** One limit and its use. */
export interface BudgetBar {
  /** The key of the limit. */
  readonly key: string;
  /** `Cost`, `Model calls`, `Calls of search`. */
  readonly label: string;
  readonly unit: Unit;
  /** By the run and, as of their last reports, by all runs below. */
  readonly used: number;
  /** For live children, beyond `used`. */
  readonly reserved: number;
  readonly max: number;
  /** `used / max`; over 1 after a breach. */
  readonly share: number;
  /** `warm` from 70 %, `hot` from 90 %. */
  readonly tone: 'calm' | 'warm' | 'hot';
  /** The agent whose limit it is, if it is an ancestor's. */
  readonly ancestor?: string;
  readonly byDefault?: true;
}

const LABELS: Readonly<Record<string, readonly [label: string, unit: Unit]>> = {
  'agent:iterations': ['Iterations', 'count'],
  'agent:model_calls': ['Model calls', 'count'],
  'agent:model_call_retries': ['Model retries', 'count'],
  'agent:input_tokens': ['Input tokens', 'count'],
  'agent:output_tokens': ['Output tokens', 'count'],
  'agent:total_tokens': ['Tokens', 'count'],
  'agent:input_tokens_cached': ['Cached tokens', 'count'],
  'agent:reasoning_tokens': ['Reasoning tokens', 'count'],
  'agent:cost_microusd': ['Cost', 'usd'],
  'agent:tool_calls': ['Tool calls', 'count'],
  'agent:tool_calls_error_total': ['Failed calls', 'count'],
  'agent:tool_calls_error_consecutive': ['Failed calls in a row', 'count'],
  'agent:format_parse_error_consecutive': ['Unreadable replies in a row', 'count'],
  'agent:toolchain_parse_error_consecutive': ['Unreadable calls in a row', 'count'],
  'agent:section_parse_error_consecutive': ['Unreadable sections in a row', 'count'],
  'agent:termination_parse_error_consecutive': ['Unfit answers in a row', 'count'],
  'agent:code_executions': ['Programs', 'count'],
  'agent:code_executions_error_consecutive': ['Failed programs in a row', 'count'],
  'agent:program_steps': ['Fuel', 'count'],
  'agent:children': ['Children', 'count'],
  'agent:depth': ['Depth', 'count'],
  'agent:questions': ['Questions', 'count'],
  'agent:repeated_calls': ['Repeated calls', 'count'],
  'agent:compactions': ['Compactions', 'count'],
  'agent:wall_clock_ms': ['Time', 'ms'],
  'agent:active_ms': ['Active time', 'ms'],
  'agent:answer_rejected_total': ['Rejected answers', 'count'],
};

/** The label of a key and its unit; a key of the user is its own label. */
export function labelOf(key: string): readonly [label: string, unit: Unit] {
  const isOwn = key.startsWith(SELF_PREFIX);
  const base = isOwn ? key.slice(SELF_PREFIX.length) : key;
  const [label, unit] = labelOfBase(base);
  return [isOwn ? `${label}, own` : label, unit];
}

function labelOfBase(key: string): readonly [label: string, unit: Unit] {
  const known = Object.hasOwn(LABELS, key) ? LABELS[key] : undefined;
  if (known !== undefined) return known;
  const at = key.lastIndexOf(':');
  const base = key.slice(0, at);
  const row = Object.hasOwn(LABELS, base) ? LABELS[base] : undefined;
  if (row === undefined)
    return [key.startsWith('agent:') ? key.slice(6).replaceAll('_', ' ') : key, 'count'];
  return [`${row[0]} of ${key.slice(at + 1)}`, row[1]];
}

/**
 * The bars of `lines`, tightest first. A limit that counts the run alone is called so only beside one
 * that counts all below.
 */
export function barsOfLines(lines: readonly BudgetLine[]): readonly BudgetBar[] {
  const keys = new Set(lines.map(({ key }) => key));
  return sorted(
    lines.map(({ key, origin, max, used, reserved, byDefault }) => {
      const bar = barOf(key, used, reserved, max);
      const base = key.startsWith(SELF_PREFIX) ? key.slice(SELF_PREFIX.length) : key;
      const isAlone = base !== key && !keys.has(base);
      return {
        ...bar,
        label: isAlone ? labelOf(base)[0] : bar.label,
        ...defined({ ancestor: origin === 'self' ? undefined : origin.agent, byDefault }),
      };
    }),
  );
}

/** Limits of what a run is, and not of what it uses: no bar fills up. */
const NOT_USED_UP: ReadonlySet<string> = new Set(['agent:depth']);

/** The use of a run's own `limits`, from its statistics. */
export function linesOfLimits(limits: readonly Limit[], stats: Stats): readonly BudgetLine[] {
  return limits
    .filter(({ kind, key }) => kind === 'exact' && !NOT_USED_UP.has(key))
    .map(({ key, max, byDefault }) => {
      const used = valueOf(stats, key);
      const line = { key, origin: 'self' as const, max, used, reserved: 0 };
      return { ...line, free: Math.max(0, max - used), ...defined({ byDefault }) };
    });
}

/** The values that limits had before they were changed, by key, oldest first. */
export function changedLimits(
  views: readonly IterationView[],
): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  const known = new Map<string, number>();
  for (const { key, max } of views.flatMap(({ marks }) =>
    marks.flatMap((mark) => mark.limits ?? []),
  )) {
    const before = known.get(key);
    if (before !== undefined && before !== max) {
      found.set(key, [...(found.get(key) ?? []), before]);
    }
    known.set(key, max);
  }
  return found;
}

/** Whether a bar tells something: a guard against failures does so once there was one. */
export function isTelling({ key, used }: BudgetBar): boolean {
  return used > 0 || !/error|repeated|retries|rejected/.test(key);
}

function barOf(key: string, used: number, reserved: number, max: number): BudgetBar {
  const [label, unit] = labelOf(key);
  const share = max > 0 ? used / max : used > 0 ? Infinity : 0;
  const tone = share >= 0.9 ? 'hot' : share >= 0.7 ? 'warm' : 'calm';
  return { key, label, unit, used, reserved, max, share, tone };
}

function sorted(bars: readonly BudgetBar[]): readonly BudgetBar[] {
  const weight = ({ share, used, reserved, max }: BudgetBar): number =>
    Math.max(share, max > 0 ? (used + reserved) / max : 0);
  return bars.toSorted((a, b) => weight(b) - weight(a) || (a.label < b.label ? -1 : 1));
}
