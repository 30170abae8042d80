/** The cost of a call in whole micro-dollars, by integer arithmetic. */
import { defined } from '../base/defined.ts';
import { exactSum } from '../base/exact-sum.ts';
import type { HostedPrice, Price, Reply, TokenUsage } from '../contract/model.ts';
import { type TokenCounts, readReportedCost, readUsage } from './usage.ts';

/** Prices are integers in millionths of a micro-dollar per token. */
const priceScale = 1_000_000;

/**
 * Micro-dollars for `usage` at `price`, rounded up; 0 without a price. Exact: a price is rounded
 * once, to 1e-6, and the rest is integer arithmetic, so 0.1 + 0.2 never shows in a bill.
 *
 * Plain input is the input without the tokens read from and written to the cache. If a report has
 * more of these than input, there is no plain input.
 *
 * @example
 * costMicroUsd({ ...counts, inputTokens: 1000, outputTokens: 10 }, { input: 0.15, output: 0.6 }) //
 * 156
 */
export function costMicroUsd(usage: TokenCounts, price: Price | undefined): number {
  if (price === undefined) return 0;
  const { input, output, cachedInput = input, cacheWrite = input } = tierOf(price, usage);
  const plainTokens = Math.max(
    0,
    usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteTokens,
  );
  const scaled =
    BigInt(plainTokens) * scaledPrice(input) +
    BigInt(usage.cachedInputTokens) * scaledPrice(cachedInput) +
    BigInt(usage.cacheWriteTokens) * scaledPrice(cacheWrite) +
    BigInt(usage.outputTokens) * scaledPrice(output);
  const scale = BigInt(priceScale);
  return exactSum(Number((scaled + scale - 1n) / scale), 0);
}

/**
 * Tokens of output that `microUsd` pay beside a prompt; negative when the prompt alone costs more.
 */
export function outputForCost(
  microUsd: number,
  promptTokens: number,
  price: Price | undefined,
): number {
  if (price === undefined) return Infinity;
  const left =
    BigInt(microUsd) * BigInt(priceScale) - BigInt(promptTokens) * scaledPrice(price.input);
  if (left < 0n) return -1;
  const output = scaledPrice(price.output);
  return output === 0n ? Infinity : Number(left / output);
}

/**
 * Usage with its cost; `known` is false if the provider reported nothing, or what cannot be, which
 * `problem` names.
 */
export interface PricedUsage {
  readonly usage: TokenUsage;
  readonly known: boolean;
  readonly problem?: string;
}

/** The usage in a provider's report, with the cost that it states or else the cost at `price`. */
export function priceUsage(raw: unknown, price: Price | undefined): PricedUsage {
  const { usage, known, problem: ofCounts } = readUsage(raw);
  const { cost, problem: ofCost } = readReportedCost(raw);
  const problem = ofCounts ?? ofCost;
  return {
    usage: {
      ...usage,
      costMicroUsd:
        ofCounts === undefined && cost !== undefined ? cost : costMicroUsd(usage, price),
    },
    // A cost beside counts that cannot be is worth as little as these.
    known: known || (cost !== undefined && problem === undefined),
    ...defined({ problem }),
  };
}

/** `reply` with the fees of the tools that its provider ran; those without a price are counted. */
export function withFees(reply: Reply, price: HostedPrice | undefined): Reply {
  const calls = hostedCalls(reply);
  const fees = calls.map((tool) => feeOf(tool, price));
  const unpricedCalls = fees.filter((fee) => fee === undefined).length;
  const micro = fees.reduce((sum: number, fee = 0) => sum + Math.round(fee * 1_000_000), 0);
  if (calls.length === 0) return reply;
  const { usage } = reply;
  // Usage that is not known is all zero.
  const fee = reply.usageKnown ? micro : 0;
  const costMicroUsd = exactSum(usage.costMicroUsd, fee);
  return {
    ...reply,
    usage: { ...usage, costMicroUsd },
    ...defined({ unpricedCalls: unpricedCalls === 0 ? undefined : unpricedCalls }),
  };
}

/** The tool of each call that the provider ran itself. */
export function hostedCalls({ parts, ran = {} }: Reply): readonly string[] {
  const counted = Object.entries(ran).flatMap(([tool, times]) =>
    Array.from({ length: Math.min(times, MAX_COUNTED) }, () => tool),
  );
  return [...parts.flatMap((part) => (part.type === 'hosted_call' ? [part.tool] : [])), ...counted];
}

/** A provider says how often it ran a tool; more than this is none. */
const MAX_COUNTED = 1_000;

/** USD for a call of hosted tool `tool`; undefined: not known. */
export function feeOf(tool: string, price: HostedPrice | undefined): number | undefined {
  if (typeof price !== 'object') return price;
  return Object.hasOwn(price, tool) ? price[tool] : undefined;
}

/** The price of a request with this input. */
function tierOf(price: Price, { inputTokens }: TokenCounts): Omit<Price, 'tiers'> {
  return price.tiers?.findLast(({ above }) => inputTokens > above) ?? price;
}

function scaledPrice(usdPerMillion: number): bigint {
  return BigInt(Math.round(usdPerMillion * priceScale));
}
