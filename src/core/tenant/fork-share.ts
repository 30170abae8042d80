/**
 * What the ledger of a tenant and a fork say to each other, if the statistics of the fork go on from
 * those of its source (`stats: 'keep'`). The source has paid for its part, so the ledger counts from
 * the moment of the fork: reports leave that part out, and grants get it added.
 */
import type { Lease, LeaseAnswer } from '../contract/lease.ts';
import type { Numbers } from '../contract/stats.ts';
import { limitedTotal } from '../stats/estimates.ts';

/** `totals` of a run as its ledger counts them; `kept` are those of the source. */
export function chargedOf(totals: Numbers, kept: Numbers | undefined): Numbers {
  if (kept === undefined) return totals;
  return Object.fromEntries(
    Object.entries(totals).map(([key, value]) => [key, Math.max(0, value - (kept[key] ?? 0))]),
  );
}

/** The leases that come with a turn, as the run counts. */
export function turnLeases(leases: readonly Lease[], kept: Numbers | undefined): readonly Lease[] {
  return leases.map((lease) => ({
    ...lease,
    granted: lease.granted + limitedTotal(kept ?? {}, lease.limit.key),
  }));
}

/** The answers about `leases`, as the run counts. */
export function grantedTo(
  leases: readonly Lease[],
  answers: readonly LeaseAnswer[],
  kept: Numbers | undefined,
): readonly LeaseAnswer[] {
  if (kept === undefined) return answers;
  return answers.map((answer) => {
    const lease = leases.find(({ id }) => id === answer.id);
    if (lease === undefined || 'lifted' in answer) return answer;
    return { ...answer, granted: answer.granted + limitedTotal(kept, lease.limit.key) };
  });
}
