/** Estimates of usage that nobody reports. */
import { defined } from '../base/defined.ts';
import { exactSum } from '../base/exact-sum.ts';
import type { EstimatedUsage, Price } from '../contract/model.ts';
import { costMicroUsd } from './cost.ts';
import { noUsage } from './usage.ts';

/** What so many tokens come to; nothing of the prompt is taken for cached. */
export function estimatedUsage(
  inputTokens: number,
  outputTokens: number,
  price: Price | undefined,
): EstimatedUsage {
  const cost = costMicroUsd({ ...noUsage, inputTokens, outputTokens }, price);
  return { totalTokens: exactSum(inputTokens, outputTokens), costMicroUsd: cost };
}

/** The sum of two estimates; undefined: nothing. */
export function addEstimates(
  left: EstimatedUsage | undefined,
  right: EstimatedUsage | undefined,
): EstimatedUsage | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const { outputTokens: written = 0 } = left;
  const outputTokens = exactSum(written, right.outputTokens ?? 0);
  return defined({
    totalTokens: exactSum(left.totalTokens, right.totalTokens),
    outputTokens: outputTokens === 0 ? undefined : outputTokens,
    costMicroUsd: exactSum(left.costMicroUsd, right.costMicroUsd),
  });
}
