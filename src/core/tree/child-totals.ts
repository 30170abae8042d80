/**
 * What a parent knows of its children, and how their totals become part of its own.
 *
 * I1  A child reports what it and its descendants have spent since it began, never a difference. A
 *     report that is repeated, late or lost changes no sum.
 * I2  The report with the highest number counts, and no total of a child ever falls.
 * I3  A child that ends without totals is charged what was reserved for it: a sum may include what
 *     the child did not spend, but it is never too low.
 */
import type { PendingItem } from '../contract/messages.ts';
import type { ChildSummary } from '../contract/step.ts';
import { isSelf } from '../stats/stat-keys.ts';
import type { Numbers, Stats } from '../contract/stats.ts';
import type { Lease } from '../contract/lease.ts';

/** A live child, as its parent's state keeps it. */
export interface OpenChild {
  /** Workflow id of the child: its address. */
  readonly childId: string;
  readonly callId: string;
  readonly agent: string;
  readonly path: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Number of the newest report; 0 before the first. */
  readonly number: number;
  /** Its newest totals by key. */
  readonly totals: Numbers;
  /** What was reserved for it and granted since. */
  readonly leases: readonly Lease[];
  /** By lease: what it may still spend of a recalled one, until it has said what it keeps. */
  readonly awaited?: Numbers;
  /** Number of the newest request that was answered; 0 before the first. */
  readonly answered: number;
  /** What waits for people in it and below it. */
  readonly pending: readonly PendingItem[];
  /** Set after its last report. */
  readonly final?: true;
}

/** Totals of a child, and the part of them that its parent had not yet counted. */
export interface ReportedTotals {
  readonly totals: Numbers;
  readonly added: Numbers;
}

/** A run's report to its parent: its counters, descendants included, without its own shares. */
export function totalsOf({ counters }: Stats): Numbers {
  return Object.fromEntries(Object.entries(counters).filter(([key]) => !isSelf(key)));
}

/** What report `number` of a child adds; null if it is not newer than the last one (I2). */
export function addedByReport(
  child: Pick<OpenChild, 'number' | 'totals'>,
  number: number,
  totals: Numbers,
): ReportedTotals | null {
  return number <= child.number ? null : addedTotals(child, totals);
}

/** What the last report of a child adds, whatever its number. */
export function addedTotals(
  { totals: before }: Pick<OpenChild, 'totals'>,
  reported: Numbers,
): ReportedTotals {
  const totals: Record<string, number> = { ...before };
  const added: Record<string, number> = {};
  for (const [key, value] of Object.entries(reported)) {
    const known = before[key] ?? 0;
    if (value <= known) continue;
    totals[key] = value;
    added[key] = value - known;
  }
  return { totals, added };
}

/**
 * What a child that died without a report is charged: for reserved limits, all that it could have
 * spent; for everything else, its last report (I3). Of several limits on one key, the tightest
 * counts.
 */
export function chargedTotals({
  totals,
  leases,
  awaited = {},
}: Pick<OpenChild, 'totals' | 'leases' | 'awaited'>): ReportedTotals {
  const reserved: Record<string, number> = {};
  for (const { id, limit, granted } of leases) {
    const most = Math.max(granted, awaited[id] ?? 0);
    reserved[limit.key] = Math.min(reserved[limit.key] ?? Infinity, most);
  }
  return addedTotals({ totals }, reserved);
}

/** The ends of children, newest last, for the Step of the parent. */
export type ChildEnds = readonly ChildSummary[];
