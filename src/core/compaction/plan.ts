/**
 * Plans what a strategy would do to a scratchpad, as a value. No strategy changes history, system,
 * examples or task; none drops a pinned entry; none makes the list longer; none would change
 * anything if it ran twice in a row.
 */
import { type Entry, isPinned } from '../contract/entry.ts';
import type { CompactionPlan, PlanInput } from './compaction-plan.ts';
import type { StrategySpec } from '../contract/compaction.ts';
import { maskEntries } from './mask.ts';
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

/** All pinned entries and the last `keep` (1 or more) others, in order; null if all stay. */
export function slideWindow(entries: readonly Entry[], keep: number): readonly Entry[] | null {
  const loose = entries.filter((entry) => !isPinned(entry));
  if (loose.length <= keep) return null;
  const dropped = new Set(loose.slice(0, loose.length - keep));
  return entries.filter((entry) => !dropped.has(entry));
}
