/**
 * Taking back what was reserved: when a bound is lowered below what is spent and promised of it, all that
 * its children have not spent is recalled; they ask again for what they need.
 *
 * I1  A recall is an answer that nobody has asked for, with a higher `recalls`. What was granted before it
 *     does not count any more, in whatever order the two arrive.
 * I2  What is recalled stays reserved until the child has said what it keeps, which it says when all below
 *     it have said so: only then is it free. So a recall that is lost, late or doubled frees nothing.
 * I3  A child keeps what it has spent and what it has in flight, never less.
 */
import type { Numbers } from '../contract/stats.ts';
import type { OpenChild } from './child-totals.ts';
import type { LeaseAnswer, LeaseReturn } from '../contract/lease.ts';
import { boundsOf, committed, restOf, type Bound, type Ledger } from './ledger.ts';

/** What one child is told. */
export interface Recall {
  readonly childId: string;
  readonly leases: readonly LeaseAnswer[];
}

/** What is to be recalled: of each bound of which more is spent and promised than it now is. */
export function recallsOf(ledger: Ledger): readonly Recall[] {
  const low = boundsOf(ledger).filter((bound) => promised(ledger, bound) > bound.max);
  if (low.length === 0) return [];
  return ledger.children.flatMap((child) => {
    const leases = low.flatMap(({ id, limit }): readonly LeaseAnswer[] => {
      const lease = child.leases.find((known) => known.id === id);
      const spent = child.totals[limit.key] ?? 0;
      if (lease === undefined || lease.granted <= spent) return [];
      return [{ id, granted: spent, recalls: (lease.recalls ?? 0) + 1 }];
    });
    return leases.length === 0 ? [] : [{ childId: child.childId, leases }];
  });
}

/** What a run keeps of each of its leases that was recalled; of one that a child has yet to return, nothing yet. */
export function returnsOf(ledger: Ledger): readonly LeaseReturn[] {
  return ledger.leases.flatMap(({ id, limit, granted, recalls }) =>
    recalls === undefined || isAwaited(ledger, id)
      ? []
      : [{ id, recalls, kept: Math.max(granted, committed(ledger, { id, limit })) }],
  );
}

/** Whether what `ids` have no room for may have it when all children have said what they keep. */
export function isRoomAwaited(ledger: Ledger, ids: readonly string[]): boolean {
  return boundsAwaited(ledger).some(
    (bound) => ids.includes(bound.id) && restOf(ledger, bound) === 0,
  );
}

/** Whether work that needs `needs`, by base key, has to wait until children have said what they keep. */
export function areNeedsAwaited(ledger: Ledger, needs: Numbers): boolean {
  return boundsAwaited(ledger).some(
    (bound) => committed(ledger, bound) + (needs[bound.limit.key] ?? 0) > bound.max,
  );
}

/** What may still be spent of leases that `answers` recall, beside what was awaited before. */
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
  return Object.keys(after).length === 0 ? {} : { awaited: after };
}

/** A child that has said what it keeps: what it keeps is granted, and the rest is free (I2). */
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
  return { ...child, leases, ...(Object.keys(after).length === 0 ? {} : { awaited: after }) };
}

function boundsAwaited(ledger: Ledger): readonly Bound[] {
  if (ledger.children.every(({ awaited }) => awaited === undefined)) return [];
  return boundsOf(ledger).filter(({ id }) => isAwaited(ledger, id));
}

function isAwaited({ children }: Ledger, id: string): boolean {
  return children.some(({ awaited }) => awaited?.[id] !== undefined);
}

/** What is spent of a bound, and what its children were last told that they may spend. */
function promised(ledger: Ledger, bound: Bound): number {
  const children = ledger.children.map((child) => ({ ...child, awaited: {} }));
  return committed({ ...ledger, children }, bound);
}
