/**
 * The permits that a worker has of a model entry, as far as it may believe in them. Pure. Times are
 * of the clock of the worker, which never goes back.
 *
 * H1  A lease lasts {@link LEASE_MS} from before it was asked for.
 * H2  While an order is under way, the worker uses no more permits than the order says it keeps: the
 *     counter may have given away all others.
 * H3  An answer that comes after the lease which its order relied on has ended counts for nothing.
 */
import { LEASE_MS, type PermitAnswer, type PermitOrder } from './permits.ts';

/** What a worker knows of its permits. */
export interface Holding {
  readonly worker: string;
  /** The number of its last order. */
  readonly n: number;
  /** How many requests it may have under way. */
  readonly permits: number;
  /** How many permits the counter keeps for it. */
  readonly booked: number;
  /** When its lease ends. */
  readonly until: number;
  /** How many other workers have too few permits. */
  readonly waiting: number;
  /** The order that has no answer yet; null: there is none. */
  readonly asked: { readonly at: number; readonly keeps: number } | null;
}

/** What a worker wants. */
export interface PermitDemand {
  readonly limit: number;
  /** Requests under way by permits of its lease. */
  readonly underWay: number;
  /** How many it could use. */
  readonly wanted: number;
  /** Whether it gives back permits that it does not use. */
  readonly givesBack: boolean;
}

/** A worker without permits. */
export function newHolding(worker: string): Holding {
  const none = { permits: 0, booked: 0, until: -Infinity, waiting: 0, asked: null };
  return { worker, n: 0, ...none };
}

/** Whether the lease has not ended. */
export function isLeased({ until }: Holding, now: number): boolean {
  return now < until;
}

/** How many requests may be under way at `now`. */
export function usablePermits(holding: Holding, now: number): number {
  if (!isLeased(holding, now)) return 0;
  return Math.min(holding.permits, holding.asked?.keeps ?? Infinity);
}

/** The next order to the counter. */
export function askFor(
  holding: Holding,
  { limit, underWay, wanted, givesBack }: PermitDemand,
  now: number,
): { readonly holding: Holding; readonly order: PermitOrder } {
  const { worker, permits } = holding;
  const kept = givesBack ? underWay : Math.max(underWay, permits);
  const keeps = isLeased(holding, now) ? kept : 0;
  const n = holding.n + 1;
  return {
    holding: { ...holding, n, asked: { at: now, keeps } },
    order: { worker, n, limit, keeps, wanted: Math.max(wanted, keeps) },
  };
}

/** After the counter has answered. */
export function answered(holding: Holding, answer: PermitAnswer, now: number): Holding {
  const { asked } = holding;
  if (asked === null) return holding;
  const { permits, booked, waiting = 0 } = answer;
  if (asked.keeps > 0 && !isLeased(holding, now)) {
    return { ...holding, permits: 0, booked: 0, waiting, asked: null };
  }
  return { ...holding, permits, booked, waiting, asked: null, until: asked.at + LEASE_MS };
}

/** After an order that may or may not have come to the counter. */
export function unanswered(holding: Holding): Holding {
  const { asked, permits } = holding;
  if (asked === null) return holding;
  return { ...holding, permits: Math.min(permits, asked.keeps), asked: null };
}
