/**
 * Summaries: which entries a model is to summarise, and the scratchpad with its summary. The texts
 * of the request are in `order-request.ts`, where the model is called.
 */
import { isPinned, type Entry } from '../contract/entry.ts';
import type { CompactionPlan, PlanInput } from './compaction-plan.ts';
import type { MessageRange, StrategySpec } from '../contract/compaction.ts';

type SummarizeSpec = Extract<StrategySpec, { readonly kind: 'summarize' }>;

/**
 * Summarises all entries except pinned ones and the last `keepRecent`, together with all earlier
 * summaries. There is nothing to do if there are no such entries.
 */
export function planSummary(
  { keepRecent, models }: SummarizeSpec,
  { entries, iteration, nextEpoch }: PlanInput,
): CompactionPlan {
  const pinned = entries.filter(isPinned);
  const loose = entries.filter((entry) => !isPinned(entry));
  const earlier = loose.filter(isSummary);
  const rest = loose.filter((entry) => !isSummary(entry));
  const activity = rest.slice(0, Math.max(0, rest.length - keepRecent));
  if (activity.length === 0) return { kind: 'nothing' };
  const kept = rest.slice(activity.length);
  return {
    kind: 'ask',
    models,
    earlier: rangesOf(entries, new Set(earlier)),
    activity: rangesOf(entries, new Set(activity)),
    conclude: (text) => [summaryEntry(text, iteration, nextEpoch), ...pinned, ...kept],
  };
}

function isSummary(entry: Entry): boolean {
  return entry.origin === 'compacted_synthetic';
}

/** The entry of a summary. Its index is negative, because it has no place in the history. */
function summaryEntry(text: string, iteration: number, epoch: number): Entry {
  const sections = [{ name: 'summary', content: text }];
  return {
    index: -epoch,
    iteration,
    origin: 'compacted_synthetic',
    messages: [{ role: 'user', parts: [{ type: 'sections', sections }] }],
  };
}

/** The places of the messages of `chosen` among those of `entries`; neighbours are one range. */
function rangesOf(entries: readonly Entry[], chosen: ReadonlySet<Entry>): readonly MessageRange[] {
  const ranges: [from: number, until: number][] = [];
  let at = 0;
  for (const entry of entries) {
    const until = at + entry.messages.length;
    const last = ranges.at(-1);
    if (chosen.has(entry)) {
      if (last?.[1] === at) last[1] = until;
      else ranges.push([at, until]);
    }
    at = until;
  }
  return ranges;
}
