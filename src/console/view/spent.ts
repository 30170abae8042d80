/** What a run has spent, in words. */
import type { Usage } from '../../core/contract/step.ts';
import { moneyText, numberText } from './amounts.ts';

/**
 * The parts of `770 tokens`, `$0.00032`, `+ about 463 tokens, $0.00012 not reported`. The last is an
 * estimate, which limits count and sums do not. A run none of whose calls said so has no tokens. Tokens that cost nothing had a model without a
 * price.
 */
export function spentTexts({
  totalTokens,
  costMicroUsd,
  modelCalls,
  estimated,
  unpricedCalls,
}: Pick<
  Usage,
  'totalTokens' | 'costMicroUsd' | 'modelCalls' | 'estimated' | 'unpricedCalls'
>): readonly string[] {
  const isSilent = totalTokens === 0 && modelCalls > 0;
  const known = isSilent
    ? ['tokens not reported']
    : [
        `${numberText(totalTokens)} tokens`,
        costMicroUsd === 0 && totalTokens > 0
          ? 'cost unknown'
          : `${unpricedCalls === undefined ? '' : '≥ '}${moneyText(costMicroUsd)}`,
      ];
  if (estimated === undefined) return known;
  const cost = estimated.costMicroUsd === 0 ? '' : `, ${moneyText(estimated.costMicroUsd)}`;
  return [...known, `+ about ${numberText(estimated.totalTokens)} tokens${cost} not reported`];
}
