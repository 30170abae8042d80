/**
 * Takes reservations back: when a bound is lowered below what is spent and granted of it, all that
 * its children have not spent is recalled. They ask again for what they need.
 *
 * I1  A recall is an unrequested answer with a higher `recalls`. Earlier grants are void, in
 *     whatever order they arrive.
 * I2  A recalled amount stays reserved until the child has said what it keeps, after all its
 *     descendants have. So a recall that is lost, late or repeated frees nothing.
 * I3  A child says so when the model calls have ended that the amount covers: what they leave is
 *     not kept for the next call. It keeps what it has spent, and its tool calls in flight.
 */
import type { Numbers } from '../contract/stats.ts';
import { limitedTotal } from '../stats/estimates.ts';
import type { OpenChild } from './child-totals.ts';
import type { LeaseAnswer, LeaseReturn } from '../contract/lease.ts';
import { boundsOf, committed, restOf, type Bound, type Ledger } from './ledger.ts';

/** The recall that one child gets. */
export interface Recall {
  readonly childId: string;
  readonly leases: readonly LeaseAnswer[];
}

/** What to recall: for every bound that is now below what is spent plus granted. */
export function recallsOf(ledger: Ledger): readonly Recall[] {
  const low = boundsOf(ledger).filter((bound) => spentPlusGranted(ledger, bound) > bound.max);
  if (low.length === 0) return [];
  return ledger.children.flatMap((child) => {
    const leases = low.flatMap(({ id, limit }): readonly LeaseAnswer[] => {
      const lease = child.leases.find((known) => known.id === id);
      const spent = limitedTotal(child.totals, limit.key);
      if (lease === undefined || lease.granted <= spent) return [];
      return [{ id, granted: spent, recalls: (lease.recalls ?? 0) + 1 }];
    });
    return leases.length === 0 ? [] : [{ childId: child.childId, leases }];
  });
}

/**
 * What a run keeps of each recalled lease; nothing for leases that a child has yet to return, or
 * that cover a model call.
 */
export function returnsOf(ledger: Ledger): readonly LeaseReturn[] {
  return ledger.leases.flatMap(({ id, limit, granted, recalls }) =>
    recalls === undefined || isAwaited(ledger, id) || isCovering(ledger, limit.key)
      ? []
      : [{ id, recalls, kept: Math.max(granted, committed(ledger, { id, limit })) }],
  );
}

/** Whether `ids` may get room when all children have said what they keep. */
export function isRoomAwaited(ledger: Ledger, ids: readonly string[]): boolean {
  return boundsAwaited(ledger).some(
    (bound) => ids.includes(bound.id) && restOf(ledger, bound) === 0,
  );
}

/** Whether work that needs `needs`, by base key, must wait for children to say what they keep. */
export function areNeedsAwaited(ledger: Ledger, needs: Numbers): boolean {
  return boundsAwaited(ledger).some(
    (bound) => committed(ledger, bound) + (needs[bound.limit.key] ?? 0) > bound.max,
  );
}

/** What may still be spent of leases that `answers` recall, with what was awaited before. */
export function awaitedAfter(
  { leases, awaited = {} }: Pick<OpenChild, 'leases' | 'awaited'>,
  answers: readonly LeaseAnswer[],
): Pick<OpenChild, 'awaited'> {
  const after: Record<string, number> = { ...awaited };
  for (const answer of answers) {
    const lease = leases.find(({ id }) => id === answer.id);
    if (lease === undefined) continue;
    if ('lifted' in answer) delete after[answer.id];
    else if ((answer.recalls ?? 0) > (lease.recalls ?? 0)) {
      after[answer.id] = Math.max(after[answer.id] ?? 0, lease.granted);
    }
  }
  return awaitedOf(after);
}

/** A child after it has said what it keeps: that is granted, and the rest is free (I2). */
export function withReturns(
  { awaited = {}, ...child }: OpenChild,
  returned: readonly LeaseReturn[],
): OpenChild {
  const after: Record<string, number> = { ...awaited };
  const leases = child.leases.map((lease) => {
    const kept = returned.find(({ id, recalls }) => id === lease.id && recalls === lease.recalls);
    if (kept === undefined || after[lease.id] === undefined) return lease;
    delete after[lease.id];
    return { ...lease, granted: Math.max(lease.granted, kept.kept) };
  });
  return { ...child, leases, ...awaitedOf(after) };
}

function awaitedOf(awaited: Numbers): Pick<OpenChild, 'awaited'> {
  return Object.keys(awaited).length === 0 ? {} : { awaited };
}

function boundsAwaited(ledger: Ledger): readonly Bound[] {
  if (ledger.children.every(({ awaited }) => awaited === undefined)) return [];
  return boundsOf(ledger).filter(({ id }) => isAwaited(ledger, id));
}

function isAwaited({ children }: Ledger, id: string): boolean {
  return children.some(({ awaited }) => awaited?.[id] !== undefined);
}

function isCovering({ covers = [] }: Ledger, key: string): boolean {
  return covers.some((needs) => (needs[key] ?? 0) > 0);
}

/** What is spent of a bound, plus what its children were last granted. */
function spentPlusGranted(ledger: Ledger, bound: Bound): number {
  const children = ledger.children.map((child) => ({ ...child, awaited: {} }));
  return committed({ ...ledger, children }, bound);
}
