/**
 * The limits with which a run ended, from its events in the archive: the newest `agent:adjusted` has
 * them, or else the first event.
 *
 * I1  No worker is asked. Without all events in the archive, the limits are not known.
 * I2  They are read once by a client, from the end, a page at a time.
 */
import type { Json } from '../../core/base/json.ts';
import type { AgentEvent } from '../../core/contract/events.ts';
import type { Limit } from '../../core/contract/limit.ts';
import type { BudgetLine } from '../../core/contract/messages.ts';
import type { Step } from '../../core/contract/step.ts';
import { budgetLines } from '../../core/run/tree-view.ts';
import type { ArchiveReader } from './chain-reader.ts';
import type { KeptLinks } from './kept-links.ts';

/** Where to read. */
export interface EndedLimitsSource {
  readonly archive: ArchiveReader | undefined;
  readonly kept: KeptLinks;
}

/** Events of a page. */
const PAGE = 1_000;

/** The limits of the run that ended with `step`; null: the archive does not have its events. */
export async function limitsOfEnded(
  { archive, kept }: EndedLimitsSource,
  { runId, trace }: Step,
): Promise<readonly Limit[] | null> {
  const { chain } = trace;
  if (archive === undefined) return null;
  const key = `${runId}/limits`;
  const known = kept.find(key, 0);
  if (known !== undefined) return known.items as unknown as readonly Limit[];
  for (let until = chain.events; until > 0; until -= PAGE) {
    const from = Math.max(0, until - PAGE);
    const read = await archive.read(runId, 'events', from, until);
    const events = read as unknown as readonly AgentEvent[];
    if (events.length < until - from) return null;
    const limits = events.findLast(hasLimits)?.limits;
    if (limits === undefined) continue;
    const items = limits as unknown as readonly Json[];
    kept.add(key, { first: 0, previous: null, start: 0, items, isLast: true });
    return limits;
  }
  return null;
}

type LimitEvent = Extract<AgentEvent, { readonly limits?: readonly Limit[] }>;

function hasLimits(event: AgentEvent): event is LimitEvent & { readonly limits: readonly Limit[] } {
  const { type } = event;
  const isOne = type === 'agent:adjusted' || type === 'agent:execution:before';
  return isOne && event.limits !== undefined;
}

/** What was used of `limits` when the run ended. Parts of limits of ancestors are given back then. */
export function budgetsOfEnded(step: Step, limits: readonly Limit[]): readonly BudgetLine[] {
  const { runId, agent, stats } = step;
  const nothing = { leases: [], children: [], calls: [], models: [] };
  return budgetLines({ runId, agent, limits, stats, ...nothing });
}
