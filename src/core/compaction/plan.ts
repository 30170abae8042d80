/**
 * Plans what a strategy would do to a scratchpad, as a value. No strategy changes history, system,
 * examples or task; none drops a pinned entry; none makes the list longer; none would change
 * anything if it ran twice in a row.
 */
import type { Entry } from '../contract/entry.ts';
import type { CompactionPlan, PlanInput } from './compaction-plan.ts';
import type { StrategySpec } from '../contract/compaction.ts';
import { maskEntries } from './mask.ts';
import { slideWindow } from './sliding-window.ts';
import { planSummary } from './summarize.ts';

type PlannersByKind = {
  readonly [Kind in StrategySpec['kind']]: (
    spec: Extract<StrategySpec, { readonly kind: Kind }>,
    input: PlanInput,
  ) => CompactionPlan;
};

const PLANNERS: PlannersByKind = {
  sliding_window: ({ keep }, { entries }) => replacing(slideWindow(entries, keep)),
  mask: (spec, { entries, tools }) => replacing(maskEntries(entries, spec, tools)),
  summarize: (spec, input) => planSummary(spec, input),
};

/** What `strategy` would do to the scratchpad. */
export function planOf(strategy: StrategySpec, input: PlanInput): CompactionPlan {
  // The table pairs each kind with its planner, which an index by a union cannot express.
  const plan = PLANNERS[strategy.kind] as (spec: StrategySpec, input: PlanInput) => CompactionPlan;
  return plan(strategy, input);
}

function replacing(entries: readonly Entry[] | null): CompactionPlan {
  return entries === null ? { kind: 'nothing' } : { kind: 'replace', entries };
}
