/**
 * What a model call that is about to start may cost: it may start when its prompt and a little
 * output fit into every budget of its run, and its output is capped at what the smallest still
 * pays. So a call cannot overrun a budget, except by a prompt that is longer than estimated.
 */
import { exactSum } from '../base/exact-sum.ts';
import { costMicroUsd, outputForCost } from '../model/cost.ts';
import { noUsage } from '../model/usage.ts';
import type { Breach } from '../contract/limit.ts';
import type { EstimatedUsage, Price, TokenUsage } from '../contract/model.ts';
import type { Numbers } from '../contract/stats.ts';
import { boundsOf, breachOf, committed, restOf, type Bound, type Ledger } from './ledger.ts';

/** A model call that is about to start. */
export interface CallPlan {
  readonly model: string;
  /** Estimated. */
  readonly promptTokens: number;
  readonly price?: Price | undefined;
  /** The most output that its entry allows; undefined: the provider decides. */
  readonly ownMaxTokens?: number | undefined;
  /** Others may start beside it: it leaves them half, unless it needs more. */
  readonly shares: boolean;
}

/** What is reserved for a call, or the budget that has no room for it. */
export type CallCover =
  | {
      readonly kind: 'covered';
      /** What it may spend at most, by key. */
      readonly needs: Numbers;
      /** Set when a budget pays less output than the entry allows: that is all it may write. */
      readonly cap?: { readonly tokens: number; readonly bound: Bound };
    }
  | { readonly kind: 'short'; readonly bound: Bound };

/** Tokens of output without which a call is not worth its prompt. */
const LEAST_OUTPUT = 256;

/** Tokens of output that most replies keep within. */
const USUAL_OUTPUT = 1_024;

/** Tokens of output with which a call can leave half to others. */
const PLENTY_OUTPUT = 4_096;

/** What a call needs to be started, by key. */
export function leastNeeds(plan: CallPlan): Numbers {
  return needsFor(plan, Math.min(LEAST_OUTPUT, plan.ownMaxTokens ?? Infinity));
}

/** What a call needs so that its output is hardly ever cut, by key. */
export function usualNeeds(plan: CallPlan): Numbers {
  return needsFor(plan, Math.min(USUAL_OUTPUT, plan.ownMaxTokens ?? Infinity));
}

/** Whether a budget of `ledger` is about tokens or cost of the model of `plan`. */
export function mustCover(ledger: Ledger, plan: Pick<CallPlan, 'model'>): boolean {
  return boundsOf(ledger).some(({ limit }) => baseKeyOf(limit.key, plan.model) !== null);
}

/** How much of each budget a call gets. */
export function coverOf(ledger: Ledger, plan: CallPlan): CallCover {
  const own = plan.ownMaxTokens ?? Infinity;
  let paid: { readonly tokens: number; readonly bound: Bound } | null = null;
  for (const bound of boundsOf(ledger)) {
    const base = baseKeyOf(bound.limit.key, plan.model);
    if (base === null) continue;
    const tokens = sharedOutput(plan, base, restOf(ledger, bound));
    if (tokens < (paid?.tokens ?? Infinity)) paid = { tokens, bound };
  }
  if (paid === null) return { kind: 'covered', needs: needsFor(plan, own === Infinity ? 0 : own) };
  if (paid.tokens < Math.min(LEAST_OUTPUT, own)) return { kind: 'short', bound: paid.bound };
  const needs = needsFor(plan, Math.min(own, paid.tokens));
  return paid.tokens < own ? { kind: 'covered', needs, cap: paid } : { kind: 'covered', needs };
}

/** The breach of a budget that has no room for a call, or that cut its reply. */
export function shortBreach(ledger: Ledger, bound: Bound, needs: Numbers): Breach {
  const breach = breachOf(ledger, bound);
  const wanted = breach.value + (needs[bound.limit.key] ?? 0);
  return { ...breach, attempted: Math.max(wanted, breach.limit.max + 1) };
}

/** Whether `needs` do not fit only because of model calls in flight in the run itself. */
export function isHeldByCalls(ledger: Ledger, needs: Numbers): boolean {
  if ((ledger.covers ?? []).length === 0) return false;
  const free = { ...ledger, covers: [] };
  const fits = (on: Ledger): boolean =>
    boundsOf(on).every(
      (bound) => committed(on, bound) + (needs[bound.limit.key] ?? 0) <= bound.max,
    );
  return !fits(ledger) && fits(free);
}

/** Whether model calls in flight hold what a child asks for of bounds `ids`, or what it misses. */
export function isGrantHeld(
  ledger: Ledger,
  ids: readonly string[],
  missing: Numbers = {},
): boolean {
  if ((ledger.covers ?? []).length === 0) return false;
  const free = { ...ledger, covers: [] };
  return boundsOf(ledger).some((bound) => {
    const rest = restOf(ledger, bound);
    const isShort = rest < Math.max(1, missing[bound.id] ?? 0);
    return ids.includes(bound.id) && isShort && restOf(free, bound) > rest;
  });
}

/** How much is missing of each lease that has no room for `needs`, by the id of the lease. */
export function missingOf(ledger: Ledger, needs: Numbers): Numbers {
  return Object.fromEntries(
    ledger.leases.flatMap((lease) => {
      const need = committed(ledger, lease) + (needs[lease.limit.key] ?? 0);
      return need > lease.granted ? [[lease.id, need - lease.granted]] : [];
    }),
  );
}

/** What attempts have spent, as needs of a call of `model`, with what is estimated as limits do. */
export function spentNeeds(
  model: string,
  usage: TokenUsage,
  estimated: EstimatedUsage = NO_ESTIMATE,
): Numbers {
  const { totalTokens, outputTokens = 0, costMicroUsd: cost } = estimated;
  const total = exactSum(usage.inputTokens, usage.outputTokens);
  return withModel(model, {
    'agent:input_tokens': exactSum(usage.inputTokens, totalTokens - outputTokens),
    'agent:output_tokens': exactSum(usage.outputTokens, outputTokens),
    'agent:total_tokens': exactSum(total, totalTokens),
    'agent:cost_microusd': exactSum(usage.costMicroUsd, cost),
  });
}

const NO_ESTIMATE: EstimatedUsage = { totalTokens: 0, costMicroUsd: 0 };

function needsFor(plan: CallPlan, output: number): Numbers {
  const usage = { ...noUsage, inputTokens: plan.promptTokens, outputTokens: output };
  const costMicroUsdOfCall = costMicroUsd(usage, worstPrice(plan.price));
  return spentNeeds(plan.model, { ...usage, costMicroUsd: costMicroUsdOfCall });
}

function withModel(model: string, needs: Numbers): Numbers {
  const named = Object.entries(needs).map(([key, need]) => [`${key}:${model}`, need] as const);
  return { ...needs, ...Object.fromEntries(named) };
}

/** Output that `rest` of a budget pays beside the prompt; half of it if that is plenty. */
function sharedOutput(plan: CallPlan, key: string, rest: number): number {
  if (!plan.shares) return outputPaid(plan, key, rest);
  const half = outputPaid(plan, key, Math.floor(rest / 2));
  return half >= PLENTY_OUTPUT ? half : outputPaid(plan, key, rest);
}

/** Negative when the prompt alone does not fit. */
function outputPaid({ promptTokens, price }: CallPlan, key: string, rest: number): number {
  switch (key) {
    case 'agent:input_tokens':
      return rest >= promptTokens ? Infinity : -1;
    case 'agent:output_tokens':
      return rest;
    case 'agent:total_tokens':
      return rest - promptTokens;
    default:
      return outputForCost(rest, promptTokens, worstPrice(price));
  }
}

const COVERED: readonly string[] = [
  'agent:input_tokens',
  'agent:output_tokens',
  'agent:total_tokens',
  'agent:cost_microusd',
];

/** The statistic that `key` limits, for all models or for `model`; null: none that calls move. */
function baseKeyOf(key: string, model: string): string | null {
  return COVERED.find((base) => key === base || key === `${base}:${model}`) ?? null;
}

/** What a prompt costs at most: neither what a cache serves nor its exact length is known before. */
function worstPrice(price: Price | undefined): Price | undefined {
  if (price === undefined) return undefined;
  const all = [price, ...(price.tiers ?? [])];
  return {
    input: Math.max(
      ...all.flatMap(({ input, cachedInput = 0, cacheWrite = 0 }) => [
        input,
        cachedInput,
        cacheWrite,
      ]),
    ),
    output: Math.max(...all.map(({ output }) => output)),
  };
}
