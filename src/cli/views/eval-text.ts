/** The table of an eval as text. Pure. */
import type { EvalSummary, Estimate } from '../../core/evaluation/eval-table.ts';
import { cellText, tableText } from '../terminal/text.ts';

/** Outcomes and means of each variant, then the differences from the first one with their intervals. */
export function evalText(table: readonly EvalSummary[]): string {
  const means = tableText(
    ['VARIANT', 'PASSED', 'RATE', 'SCORE', 'TOKENS', 'COST', 'TURNS'],
    table.map(({ variant, tries, passed, passRate, score, tokens, costMicroUsd, turns }) => [
      cellText(variant),
      `${passed} of ${tries}`,
      shareText(passRate),
      score === undefined ? '' : score.toFixed(2),
      tokens.toFixed(0),
      dollars(costMicroUsd),
      turns.toFixed(1),
    ]),
  );
  const compared = table.filter(({ difference }) => difference !== undefined);
  if (compared.length === 0) return means;
  const differences = tableText(
    [`MINUS ${cellText(table[0]?.variant ?? '')}`, 'RATE', 'TOKENS', 'COST', 'TURNS'],
    compared.map(({ variant, difference: than }) => [
      cellText(variant),
      ...(than === undefined
        ? []
        : [
            shareText(than.passRate),
            estimateText(than.tokens, (value) => value.toFixed(0)),
            estimateText(than.costMicroUsd, dollars),
            estimateText(than.turns, (value) => value.toFixed(1)),
          ]),
    ]),
  );
  return `${means}\n\n${differences}\n\nIn brackets: 95 % intervals. Differences are of equal parts and tries.`;
}

function shareText(share: Estimate): string {
  return estimateText(share, (value) => `${(value * 100).toFixed(0)} %`);
}

function estimateText({ mean, low, high }: Estimate, text: (value: number) => string): string {
  if (low === null || high === null) return text(mean);
  return `${text(mean)} [${text(low)}, ${text(high)}]`;
}

function dollars(costMicroUsd: number): string {
  const sign = costMicroUsd < 0 ? '-' : '';
  return `${sign}$${(Math.abs(costMicroUsd) / 1_000_000).toFixed(4)}`;
}
