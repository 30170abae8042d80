/**
 * The budgets of a tree: which limits hold for a run and its descendants; how much of each is
 * spent, reserved and free; what a child gets.
 *
 * I1  A grant never takes this sum above the limit: what the run and its ended children have spent,
 *     its calls in flight, and for each live child the greater of its grant and its report. A model
 *     call is covered before it starts (cover.ts). So late messages cannot lead to overspending.
 * I2  Integers only. A reservation is a share, rounded down. A later grant is half of the rest,
 *     rounded up, so a request gets something while anything is free.
 * I3  Nothing is free again before the child has said so: what was recalled stays reserved until
 *     then (recall.ts). An ended child has no reservation, and its totals are what it has spent.
 */
import { defined } from '../base/defined.ts';
import type { Breach, BreachOrigin, Limit } from '../contract/limit.ts';
import { limitedTotal, limitedValue } from '../stats/estimates.ts';
import { isSelf, statKeyInfo, withoutSelf } from '../stats/stat-keys.ts';
import type { Numbers, Stats } from '../contract/stats.ts';
import type { LeaseRequest } from '../contract/tree-messages.ts';
import type { OpenChild } from './child-totals.ts';
import { leaseId, type Lease, type LeaseAnswer, type LeaseRefusal } from '../contract/lease.ts';

/** The part of a run from which its budgets are computed. */
export interface Ledger {
  readonly runId: string;
  readonly agent: string;
  readonly limits: readonly Limit[];
  readonly leases: readonly Lease[];
  readonly children: readonly OpenChild[];
  readonly stats: Stats;
  /** Tools of running calls: a call is counted at its end, but needs room from its beginning. */
  readonly calls: readonly string[];
  /** Models of running model calls, like `calls`. */
  readonly models: readonly string[];
  /** What each running model call may spend at most, by key. Default: none runs. */
  readonly covers?: readonly Numbers[];
}

/** A limit on a run and its descendants: its own, or its share of an ancestor's. */
export interface Bound {
  readonly id: string;
  readonly limit: Limit;
  readonly origin: BreachOrigin;
  /** What may be spent: the limit's `max`, or the granted share of it. */
  readonly max: number;
  readonly refused?: LeaseRefusal;
}

/** How a bound is used, to be shown to people. */
export interface BoundUse extends Bound {
  /** By the run itself and, as of their last reports, by its children. */
  readonly used: number;
  /** For calls in flight, and for live children beyond what they have reported. */
  readonly reserved: number;
  readonly free: number;
}

/** Without a single unit of these, a child could not even call its model. */
const NEEDED: readonly string[] = [
  'agent:model_calls',
  'agent:input_tokens',
  'agent:output_tokens',
  'agent:total_tokens',
  'agent:cost_microusd',
];

const CHILDREN = 'agent:children';

/** When four fifths of a lease are spent, more is requested in advance. */
const ASK_ABOVE = { times: 5, of: 4 } as const;

/** Whether a limit holds for the tree: exact, on a counter, and not on the run's own share. */
export function isTreeLimit({ kind, key }: Limit): boolean {
  if (kind !== 'exact' || isSelf(key)) return false;
  const info = statKeyInfo(key);
  // A user key may be a counter.
  return info === undefined || info.row.kind === 'counter';
}

/** The bounds of a run: its own limits first, then leases, nearest ancestor first. */
export function boundsOf(ledger: Ledger): readonly Bound[] {
  return [...ownBounds(ledger), ...ledger.leases.map(boundOfLease)];
}

/** What is spent and reserved of a bound (I1). */
export function committed(ledger: Ledger, { id, limit }: Pick<Bound, 'id' | 'limit'>): number {
  const { key } = limit;
  return limitedValue(ledger.stats, key) + inFlight(ledger, key) + reservedIn(ledger, id, key);
}

/** What is left of a bound, from 0. */
export function restOf(ledger: Ledger, bound: Bound): number {
  return Math.max(0, bound.max - committed(ledger, bound));
}

/** Each bound with what is used, reserved and free. */
export function usesOf(ledger: Ledger): readonly BoundUse[] {
  return boundsOf(ledger).map((bound) => ({
    ...bound,
    used: limitedValue(ledger.stats, bound.limit.key),
    reserved: committed(ledger, bound) - limitedValue(ledger.stats, bound.limit.key),
    free: restOf(ledger, bound),
  }));
}

/** What is reserved of the run's own limit for live children, beyond what they have reported. */
export function reservedOf(ledger: Ledger, limit: Limit): number {
  if (ledger.children.length === 0 || !isTreeLimit(limit)) return 0;
  return reservedIn(ledger, leaseId(ledger.runId, limit), limit.key);
}

/** What a child gets of each bound, or the first bound that has not a single unit for it. */
export type Reservation =
  | { readonly kind: 'reserved'; readonly leases: readonly Lease[] }
  | { readonly kind: 'none'; readonly bound: Bound };

/** Reserves for one of `starting` children that start together, itself included. */
export function reserve(ledger: Ledger, starting: number): Reservation {
  const leases: Lease[] = [];
  for (const bound of boundsOf(ledger)) {
    const { id, limit, origin } = bound;
    // The starting children are counted themselves.
    const starters = limit.key === CHILDREN ? starting : 0;
    const rest = Math.max(0, restOf(ledger, bound) - starters);
    const isNeeded = NEEDED.includes(limit.key);
    if (isNeeded && rest < 1) return { kind: 'none', bound };
    const part = Math.floor(rest / (starting + 1));
    const { runId, agent } = ledger;
    leases.push({
      id,
      origin: origin === 'self' ? { runId, agent } : origin,
      limit,
      granted: isNeeded ? Math.max(1, part) : part,
    });
  }
  return { kind: 'reserved', leases };
}

/**
 * What `child` gets for leases `ids` that it asks for, or a refusal: half of the rest of each
 * bound, or an equal share if it is one of several children that are answered `together`; as much
 * as is `missing` for its next piece of work, if there is so much.
 */
export function grantMore(
  ledger: Ledger,
  child: OpenChild & Pick<LeaseRequest, 'missing'>,
  ids: readonly string[],
  together = 1,
): readonly LeaseAnswer[] {
  const bounds = boundsOf(ledger);
  return ids.map((id): LeaseAnswer => {
    const bound = bounds.find((known) => known.id === id);
    // The limit was lifted in the meantime, so the child's share no longer counts.
    if (bound === undefined) return { id, lifted: true };
    const { granted: before = 0, recalls } = child.leases.find((lease) => lease.id === id) ?? {};
    const spent = limitedTotal(child.totals, bound.limit.key);
    const held = Math.max(before, child.awaited?.[id] ?? 0, spent);
    const rest = restOf(ledger, bound);
    const more = Math.max(
      Math.ceil(rest / (together + 1)),
      Math.min(rest, child.missing?.[id] ?? 0),
    );
    return rest > 0
      ? defined({ id, granted: held + more, recalls })
      : defined({ id, granted: before, recalls, refused: refusalOf(ledger, bound) });
  });
}

/**
 * The leases among `ids` of which nothing is left to grant, or less than is `missing`, so more must
 * come from the parent.
 */
export function emptyLeases(
  ledger: Ledger,
  ids: readonly string[],
  missing: Numbers = {},
): readonly string[] {
  return ledger.leases
    .filter((lease) => {
      const rest = restOf(ledger, boundOfLease(lease));
      return ids.includes(lease.id) && rest < Math.max(1, missing[lease.id] ?? 0);
    })
    .map(({ id }) => id);
}

/** The leases that are overspent or have no room for `needs`, the next work by base key. */
export function shortLeases(ledger: Ledger, needs: Numbers): readonly Lease[] {
  return ledger.leases.filter((lease) => {
    const need = needs[lease.limit.key] ?? 0;
    return committed(ledger, lease) + need > lease.granted;
  });
}

/**
 * The leases of which more than four fifths are spent, unless the last answer was a refusal. What
 * covers model calls is not spent: they leave most of it.
 */
export function lowLeases(ledger: Ledger): readonly Lease[] {
  const uncovered = { ...ledger, covers: [] };
  return ledger.leases.filter((lease) => {
    const spent = committed(uncovered, lease);
    const isLow = spent * ASK_ABOVE.times > lease.granted * ASK_ABOVE.of;
    return spent > 0 && isLow && lease.refused === undefined;
  });
}

/** The first lease that one more of `keys` would cross, besides `pending` in flight. */
export function blockingLease(
  ledger: Ledger,
  keys: readonly string[],
  pending: Numbers = {},
): Breach | null {
  for (const lease of ledger.leases) {
    const { key } = lease.limit;
    if (!keys.includes(key)) continue;
    // Work in flight counts once, even if both sides report it.
    const beside = Math.max(0, (pending[withoutSelf(key)] ?? 0) - inFlight(ledger, key));
    const value = committed(ledger, lease) + beside;
    if (value + 1 > lease.granted) return breachOf(ledger, boundOfLease(lease));
  }
  return null;
}

/**
 * The first bound on which more is spent and reserved than allowed; if there is one, no model call,
 * call or program may start. A limit that refuses does not end the run.
 */
export function overdrawn(ledger: Ledger): Breach | null {
  const found = boundsOf(ledger).find(
    (bound) => bound.limit.onReach !== 'refuse' && committed(ledger, bound) > bound.max,
  );
  return found === undefined ? null : breachOf(ledger, found);
}

/** The breach of a bound without room; for a lease with the numbers of the ancestor. */
export function breachOf(ledger: Ledger, bound: Bound): Breach {
  const { limit, origin } = bound;
  // An ancestor may have changed its limit since the lease began.
  const { value, max } = refusalOf(ledger, bound);
  const { key } = limit;
  const base = { limit: { ...limit, max }, key, value, origin };
  return value > max ? base : { ...base, attempted: value + 1 };
}

/**
 * How much of a limit is used: by the ancestor's numbers if it sent any, else as this run knows.
 */
function refusalOf(ledger: Ledger, bound: Bound): LeaseRefusal {
  return bound.refused ?? { value: committed(ledger, bound), max: bound.limit.max };
}

function ownBounds({ runId, limits }: Ledger): readonly Bound[] {
  const bounds = new Map<string, Bound>();
  for (const limit of limits) {
    if (!isTreeLimit(limit)) continue;
    const id = leaseId(runId, limit);
    const known = bounds.get(id);
    // Of two limits on one key, the smaller counts.
    if (known === undefined || limit.max < known.max) {
      bounds.set(id, { id, limit, origin: 'self', max: limit.max });
    }
  }
  return [...bounds.values()];
}

function boundOfLease({ id, limit, origin, granted, refused }: Lease): Bound {
  return defined({ id, limit, origin, max: granted, refused });
}

const TOOL_CALLS = 'agent:tool_calls';
const MODEL_CALLS = 'agent:model_calls';

/** How much of counter `key` is in flight in the run itself; it is counted at its end. */
function inFlight({ calls, models, covers = [] }: Ledger, key: string): number {
  const covered = covers.reduce((sum, needs) => sum + (needs[key] ?? 0), 0);
  return covered + countOf(TOOL_CALLS, calls, key) + countOf(MODEL_CALLS, models, key);
}

/** How many of `names` counter `key` counts: all if it is `base`, else those that it names. */
function countOf(base: string, names: readonly string[], key: string): number {
  if (key === base) return names.length;
  return key.startsWith(`${base}:`) ? names.filter((name) => key === `${base}:${name}`).length : 0;
}

function reservedIn({ children }: Ledger, id: string, key: string): number {
  return children.reduce((sum, { leases, awaited, totals }) => {
    const granted = leases.find((lease) => lease.id === id)?.granted ?? 0;
    const held = Math.max(granted, awaited?.[id] ?? 0);
    return sum + Math.max(0, held - limitedTotal(totals, key));
  }, 0);
}
