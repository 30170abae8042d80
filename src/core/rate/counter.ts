/**
 * The counter of a model entry: when each request of all workers may be sent. Pure.
 *
 * C1  Requests are spaced evenly, so no minute has more than the rate. A request may be sent up to
 *     {@link LATE_MS} after its moment, and not later; the spacing pays for that.
 * C2  Tokens are paid before the request that costs them, apart from {@link BURST_MS} of the rate in
 *     advance. A request that costs more than that is sent when all before it are paid.
 * C3  What requests really took is added when they have ended, or given back.
 * C4  A counter that was lost goes on where any worker knows that it was.
 * C5  It also keeps the permits of the entry, apart from the moments; see `permits.ts`. A counter
 *     that no worker has asked for permits has no trace of them.
 * C6  Whatever an order says, moments are numbers, and at most {@link MOST_AHEAD_MS} away.
 */
import { defined } from '../base/defined.ts';
import { newPermitBook, permitted, type PermitBook, type PermitOrder } from './permits.ts';
import type { LeaseAnswerOfRate, LeaseOrder, RateMarks } from './rate.ts';

/** How long after its moment a request may be sent: it travels, and clocks differ. */
export const LATE_MS = 2_000;

/** How much of the tokens of a minute may be taken in advance, as a time. */
const BURST_MS = 6_000;

const MINUTE_MS = 60_000;

/** How far away a moment may be: a year. */
export const MOST_AHEAD_MS: number = 365 * 86_400_000;

/** The most that one request counts for; a correction is for as many as were under way. */
const MOST_TOKENS = 10_000_000;

/** What an answer may rely on of a worker's word about a lost counter. */
const MOST_KNOWN_MS = 600_000;

/** The state of a counter, version 1. Plain JSON. */
export interface RateCounter extends RateMarks {
  readonly v: 1;
  /** Absent: no worker has asked for permits. */
  readonly permits?: PermitBook;
}

/** A counter that has given nothing. */
export const NEW_COUNTER: RateCounter = { v: 1, requestsAt: 0, tokensAt: 0 };

/** Gives each request of `order` its moment, from `now` on. */
export function leased(
  counter: RateCounter,
  order: LeaseOrder,
  now: number,
): { readonly counter: RateCounter; readonly answer: LeaseAnswerOfRate } {
  const { requestsPerMinute, tokensPerMinute } = order.rate;
  const spacingMs = msFor(1, requestsPerMinute);
  const msOf = (tokens: number): number => msFor(Math.min(tokens, MOST_TOKENS), tokensPerMinute);
  const bounded = (mark: number): number => Math.min(mark, now + MOST_AHEAD_MS);
  const latest = now + MOST_KNOWN_MS;
  let requestsAt = bounded(Math.max(counter.requestsAt, Math.min(order.known.requestsAt, latest)));
  let tokensAt = bounded(Math.max(counter.tokensAt, Math.min(order.known.tokensAt, latest)));
  // What was paid too much is used by those that come, but no pause is made up for.
  tokensAt = bounded(Math.max(tokensAt + msOf(order.corrected), now - BURST_MS));
  const slots = order.tokens.map((tokens) => {
    const costMs = msOf(tokens);
    const paidAt = tokensAt + costMs - Math.max(BURST_MS, costMs);
    const slot = Math.ceil(Math.max(now, requestsAt, tokensPerMinute === undefined ? 0 : paidAt));
    requestsAt = bounded(slot + spacingMs);
    tokensAt = bounded(Math.max(tokensAt, slot - BURST_MS) + costMs);
    return slot;
  });
  const marks = { requestsAt, tokensAt: Math.max(0, tokensAt) };
  const { permits } = counter;
  return { counter: { v: 1, ...marks, ...defined({ permits }) }, answer: { v: 1, slots, marks } };
}

/** How long `count` of something take of which there are so many in a minute; undefined: any number. */
function msFor(count: number, perMinute: number | undefined): number {
  if (perMinute === undefined) return 0;
  const ms = (count * (MINUTE_MS + LATE_MS)) / perMinute;
  return Math.min(Math.max(ms, -MOST_AHEAD_MS), MOST_AHEAD_MS);
}

/** A worker wants permits. `mayLackSince`: see {@link newPermitBook}. */
export function leasedPermits(
  counter: RateCounter,
  order: PermitOrder,
  { now, mayLackSince }: { readonly now: number; readonly mayLackSince?: number | undefined },
): { readonly counter: RateCounter; readonly answer: LeaseAnswerOfRate } {
  const { requestsAt, tokensAt } = counter;
  const { book, answer } = permitted(counter.permits ?? newPermitBook(mayLackSince), order, now);
  return {
    counter: { ...counter, permits: book },
    answer: { v: 1, slots: [], marks: { requestsAt, tokensAt }, permits: answer },
  };
}
