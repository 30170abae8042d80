/** What is missing of an eval that ended early. */
import type { EvalResult } from './eval-plan.ts';

/** How much of the plan was tried, if that is not all; undefined otherwise. */
export function partialText({ rows, tries }: Omit<EvalResult, 'v'>): string | undefined {
  const unjudged = rows.filter(({ isJudged }) => isJudged === false).length;
  if (rows.length >= tries && unjudged === 0) return undefined;
  const without = unjudged === 0 ? '' : `, ${unjudged} of them without a verdict`;
  return `Partial: ${rows.length} of ${tries} tries ended${without}.`;
}
