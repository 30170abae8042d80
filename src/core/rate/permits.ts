/**
 * The permits of a model entry: how many of its requests each worker may have under way. Pure.
 *
 * P1  The workers together never have more permits than the limit. While they name different
 *     limits, the smallest holds.
 * P2  Permits that are not renewed return {@link LEASE_MS} and {@link MARGIN_MS} after the counter
 *     gave them. A worker counts {@link LEASE_MS} from before it asked, so it stops using them first.
 * P3  Permits of requests that are under way are not taken back. A worker that has more than its
 *     share gives permits back as its requests end.
 * P4  A counter that may not know the permits of an earlier one gives none until those have ended.
 *     It believes each worker what it still has, until then: later it knows all permits.
 * P5  Of the orders of a worker, one that comes late counts for nothing.
 * P6  It knows at most {@link MAX_WORKERS} workers, so that a hand-over can carry them. Others have no
 *     permits, and ask again.
 */
import { defined } from '../base/defined.ts';
import { isPlainObject } from '../base/json.ts';
import { isConcurrency } from '../base/rate.ts';
import { shareOf, type Wish } from './shares.ts';

/** How long a worker may use permits after it asked for them. */
export const LEASE_MS = 30_000;

/** How much later the counter gives them to others: requests are closed, and clocks differ. */
export const MARGIN_MS = 5_000;

/** How long a counter waits for permits of an earlier one that it does not know. */
const UNKNOWN_MS = LEASE_MS + MARGIN_MS;

/** Workers that have permits or wait for some. */
const MAX_WORKERS = 1_000;

/** Characters of the id of a worker; those of JSON that have one byte. */
const WORKER = /^[\w.:@/-]{1,100}$/;

/** How long the counter keeps a share for a worker that is silent. */
const SILENT_MS = 15_000;

/** From a worker: how many requests it has under way, and how many wait. */
export interface PermitOrder {
  /** A random id of the process. */
  readonly worker: string;
  /** The number of this order of the worker, rising. */
  readonly n: number;
  readonly limit: number;
  /** Permits that it has and keeps: it uses no more until it has the answer. */
  readonly keeps: number;
  /** How many it could use. */
  readonly wanted: number;
}

/** To the worker. */
export interface PermitAnswer {
  /** How many requests it may have under way; those beyond end by themselves. */
  readonly permits: number;
  /** How many permits the counter gives to no other worker: `permits`, or more. */
  readonly booked: number;
  /** How many other workers want more than they have; absent: none does. */
  readonly waiting?: number;
}

/** What a counter knows of permits. Plain JSON. */
export interface PermitBook {
  /** Until when permits of an earlier counter may be in use, in milliseconds since 1970. */
  readonly unknownUntil: number;
  readonly workers: { readonly [worker: string]: WorkerPermits };
}

/** What a counter knows of a worker. */
export interface WorkerPermits extends Omit<PermitOrder, 'worker' | 'keeps'> {
  readonly permits: number;
  /** Since when it has permits, or has none. */
  readonly since: number;
  /** When it last asked. */
  readonly at: number;
}

/** A book without permits. `mayLackSince`: when a counter began that may follow a lost one. */
export function newPermitBook(mayLackSince?: number): PermitBook {
  return {
    unknownUntil: mayLackSince === undefined ? 0 : mayLackSince + UNKNOWN_MS,
    workers: {},
  };
}

/** Gives a worker its share. */
export function permitted(
  book: PermitBook,
  order: PermitOrder,
  clock: number,
): { readonly book: PermitBook; readonly answer: PermitAnswer } {
  const { worker, n, wanted } = order;
  // The clock of the service may be set back.
  const now = Math.max(clock, ...Object.values(book.workers).map(({ at }) => at));
  const workers = Object.fromEntries(
    Object.entries(book.workers).filter(([, one]) => isLive(one, now)),
  );
  const before = Object.hasOwn(workers, worker) ? workers[worker] : undefined;
  const { [worker]: _before, ...others } = workers;
  if (before !== undefined && n <= before.n) {
    return { book, answer: { permits: 0, booked: before.permits } };
  }
  if (before === undefined && Object.keys(others).length >= MAX_WORKERS) {
    return { book: { ...book, workers }, answer: { permits: 0, booked: 0, waiting: MAX_WORKERS } };
  }
  // A worker whose permits are unknown here has them of an earlier counter, if there was one.
  const believed = now < book.unknownUntil ? order.keeps : 0;
  const held = Math.min(order.keeps, before?.permits ?? believed);
  const known = { permits: held, since: before?.since ?? now };
  const limit = Math.min(order.limit, ...Object.values(others).map((one) => one.limit));
  const used = Object.values(others).reduce((sum, { permits }) => sum + permits, 0);
  const free = now < book.unknownUntil ? held : Math.max(0, limit - used);
  const wishes = Object.entries(others).map(([name, one]) => wishOf(name, one, now));
  const share = shareOf(worker, [...wishes, { worker, wanted, ...known }], limit, now);
  const permits = Math.min(share, free);
  const booked = Math.max(permits, held);
  const had = before?.permits ?? 0;
  const since = had > 0 === booked > 0 ? known.since : now;
  const own: WorkerPermits = { n, limit: order.limit, wanted, permits: booked, since, at: now };
  const waiting = wishes.filter((wish) => wish.wanted > wish.permits).length;
  return {
    book: { ...book, workers: wanted + booked === 0 ? others : { ...others, [worker]: own } },
    answer: { permits, booked, ...defined({ waiting: waiting === 0 ? undefined : waiting }) },
  };
}

/** Whether a worker has permits, or still waits for some. */
function isLive({ permits, at }: WorkerPermits, now: number): boolean {
  return now < at + (permits > 0 ? LEASE_MS + MARGIN_MS : SILENT_MS);
}

function wishOf(worker: string, { wanted, permits, since, at }: WorkerPermits, now: number): Wish {
  const isSilent = now >= at + SILENT_MS;
  return { worker, wanted: isSilent ? permits : wanted, permits, since };
}

/** Whether a counter can read `value` as an order of permits. */
export function isPermitOrder(value: unknown): value is PermitOrder {
  if (!isPlainObject(value)) return false;
  const { worker, n, limit, keeps, wanted } = value;
  const isNamed = typeof worker === 'string' && WORKER.test(worker);
  return isNamed && isConcurrency(limit) && [n, keeps, wanted].every((one) => isCount(one));
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
