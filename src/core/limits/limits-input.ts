/**
 * Limits as users write them: their problems, and the list that a run checks, in which short forms
 * are keys and a limit replaces one on the same key.
 */
import type { LimitsInput } from '../contract/input.ts';
import { nearestName } from '../text/nearest.ts';
import { shown } from '../text/shown.ts';
import type { UsageProblem } from '../base/usage-error.ts';
import { isUnknownUsage, limitProblems } from './limit-problems.ts';
import { measuresUsage } from './usage-limits.ts';
import type { Limit } from '../contract/limit.ts';

/** Micro-dollars in a US dollar: costs are integers. */
const MICRO_USD_PER_USD = 1_000_000;

/** The key that each short form stands for, in the order in which short forms are added. */
export const SHORT_FORMS = {
  iterations: '$self:agent:iterations',
  inputTokens: 'agent:input_tokens',
  outputTokens: 'agent:output_tokens',
  totalTokens: 'agent:total_tokens',
  modelCalls: 'agent:model_calls',
  toolCalls: 'agent:tool_calls',
  programSteps: 'agent:program_steps',
  children: 'agent:children',
  questions: 'agent:questions',
  costUsd: 'agent:cost_microusd',
  wallClockMs: 'agent:wall_clock_ms',
  activeMs: 'agent:active_ms',
  depth: 'agent:depth',
} as const;

type ShortForm = keyof typeof SHORT_FORMS;

const SHORT_FORM_NAMES = Object.keys(SHORT_FORMS) as ShortForm[];

/** The list of limits, or all problems. */
export type CompiledLimits =
  | { readonly kind: 'limits'; readonly limits: readonly Limit[] }
  | { readonly kind: 'problems'; readonly problems: readonly UsageProblem[] };

/** `limits` of a live run, replaced by those of `input` on the same keys; for `adjust`. */
export function mergeLimits(
  limits: readonly Limit[],
  input: LimitsInput | undefined,
): CompiledLimits {
  const problems = inputProblems(input);
  if (problems.length > 0) return { kind: 'problems', problems };
  return { kind: 'limits', limits: applyLimits(limits, input) };
}

/** All problems of `input`, in the order in which it is written. */
export function inputProblems(input: unknown): readonly UsageProblem[] {
  if (input === undefined || input === 'unlimited') return [];
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    const message = `Expected \`limits\` to be 'unlimited' or an object, got ${shown(input)}. Write it as \`{ iterations: 20 }\`.`;
    return [{ code: 'limit_key', message }];
  }
  return Object.entries(input as { readonly [name: string]: unknown }).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (name === 'custom') return customProblems(value);
    if (name === 'onUnknownUsage') return isUnknownUsage(value) ? [] : [badUnknownUsage(value)];
    if (isShortForm(name)) return shortFormProblems(name, value);
    return [unknownShortForm(name)];
  });
}

function shortFormProblems(name: ShortForm, value: unknown): readonly UsageProblem[] {
  if (value === 'unlimited' || value === null) return [];
  const whole = name !== 'costUsd' && name !== 'wallClockMs' && name !== 'activeMs';
  const isNumber = whole ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (isNumber && (value as number) >= 0) return [];
  const expected = whole ? 'a whole number from 0 up' : 'a number from 0 up';
  const message = `Expected limit \`${name}\` to be ${expected} or 'unlimited', got ${shown(value)}. Change it.`;
  return [{ code: 'limit_key', message }];
}

function customProblems(value: unknown): readonly UsageProblem[] {
  if (Array.isArray(value)) return value.flatMap((limit) => limitProblems(limit));
  const message = `Expected limits \`custom\` to be a list of limits, got ${shown(value)}. Write it as \`[{ kind: 'exact', key: 'agent:tool_calls:search', max: 3 }]\`.`;
  return [{ code: 'limit_key', message }];
}

function unknownShortForm(name: string): UsageProblem {
  const near = nearestName(name, [...SHORT_FORM_NAMES, 'custom', 'onUnknownUsage']);
  const advice =
    near === undefined ? 'Write limits on other keys under `custom`.' : `Did you mean \`${near}\`?`;
  const names = [...SHORT_FORM_NAMES, 'custom', 'onUnknownUsage'].join(', ');
  const message = `Expected the names of limits to be among ${names}, got \`${name}\`. ${advice}`;
  return { code: 'limit_key', message };
}

function isShortForm(name: string): name is ShortForm {
  return Object.hasOwn(SHORT_FORMS, name);
}

/**
 * Applies one source without problems to `below`: replaces in place, adds at the end, removes
 * lifted limits.
 */
export function applyLimits(
  below: readonly Limit[],
  input: LimitsInput | undefined,
): readonly Limit[] {
  if (input === undefined) return below;
  if (input === 'unlimited') return [];
  let limits = below;
  for (const name of SHORT_FORM_NAMES) {
    const value = input[name];
    if (value === undefined) continue;
    const key = SHORT_FORMS[name];
    limits =
      value === 'unlimited' || value === null
        ? limits.filter((limit) => limit.kind !== 'exact' || limit.key !== key)
        : withShortForm(limits, name, value);
  }
  return withUnknownUsage(withCustom(limits, input.custom ?? []), input);
}

/** Limits on tokens and cost say what this source says, unless it says it for one of them. */
function withUnknownUsage(
  limits: readonly Limit[],
  { onUnknownUsage, custom = [] }: Exclude<LimitsInput, string>,
): readonly Limit[] {
  if (onUnknownUsage === undefined) return limits;
  return limits.map((limit) => {
    const isSaid = custom.includes(limit) && limit.onUnknownUsage !== undefined;
    return isSaid || !measuresUsage(limit) ? limit : { ...limit, onUnknownUsage };
  });
}

function badUnknownUsage(value: unknown): UsageProblem {
  const message = `Expected \`onUnknownUsage\` to be 'estimate', 'warn' or 'end', got ${shown(value)}. Change it.`;
  return { code: 'limit_key', message };
}

function withShortForm(limits: readonly Limit[], name: ShortForm, value: number): readonly Limit[] {
  const key = SHORT_FORMS[name];
  const max = name === 'costUsd' ? Math.round(value * MICRO_USD_PER_USD) : value;
  const replaced = limits.find((limit) => limit.kind === 'exact' && limit.key === key);
  return replaceGroup(limits, [asSet({ ...replaced, kind: 'exact', key, max })]);
}

/** A limit that somebody has set is no default, whatever it says. */
function asSet({ byDefault: _byDefault, ...limit }: Limit): Limit {
  return limit;
}

/** Limits of one source may share a key; together they replace those of the source below. */
function withCustom(below: readonly Limit[], custom: readonly Limit[]): readonly Limit[] {
  const ids = new Set(custom.map(idOf));
  return [...ids].reduce(
    (limits, id) => replaceGroup(limits, custom.filter((limit) => idOf(limit) === id).map(asSet)),
    below,
  );
}

function idOf({ kind, key }: Limit): string {
  return `${kind} ${key}`;
}

/** Puts `group`, limits on one key, in place of the first limit on that key, or at the end. */
function replaceGroup(limits: readonly Limit[], group: readonly Limit[]): readonly Limit[] {
  const ids = group.map(idOf);
  const isSame = (limit: Limit): boolean => ids.includes(idOf(limit));
  const place = limits.findIndex(isSame);
  if (place === -1) return [...limits, ...group];
  return [...limits.slice(0, place), ...group, ...limits.slice(place).filter((x) => !isSame(x))];
}
