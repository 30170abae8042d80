/** The counters of rates over all workers, as plain data. */
import { ownId } from '../base/ids.ts';
import { isPlainObject } from '../base/json.ts';
import { isRate, type Rate } from '../base/rate.ts';
import { isPermitOrder, type PermitAnswer, type PermitOrder } from './permits.ts';

/** Name of the workflow that counts for a model entry. */
export const RATE_WORKFLOW = 'rate';

/** The id of the counter of a model entry, or of what {@link tenantCounter} names. */
export function counterIdOf(counted: string): string {
  return ownId('counter', counted);
}

/** What counts the requests of a tenant. The id of no model entry has a `~`. */
export function tenantCounter(tenant: string): string {
  return `tenant~${tenant}`;
}

/** Names of its updates and queries. */
export const RATE_MESSAGES = { lease: 'rate-lease', view: 'rate-view' } as const;

/** Requests that one lease is for. */
export const MAX_LEASED = 200;

/** From a worker: it wants to ask a provider. */
export interface LeaseOrder {
  readonly v: 1;
  readonly rate: Rate;
  /** Estimated tokens of each request. */
  readonly tokens: readonly number[];
  /** Tokens that requests which have ended took beyond their estimates; may be below 0. */
  readonly corrected: number;
  /** The last moments that the worker knows: a counter that was lost goes on from there. */
  readonly known: RateMarks;
  /** Set: it is for permits and not for moments; see {@link orderOfPermits}. */
  readonly permits?: PermitOrder;
}

/** Until when the counter has given out requests and tokens, in milliseconds since 1970. */
export interface RateMarks {
  readonly requestsAt: number;
  readonly tokensAt: number;
}

/** To the worker: when each of its requests may be sent, in order. */
export interface LeaseAnswerOfRate {
  readonly v: 1;
  readonly slots: readonly number[];
  readonly marks: RateMarks;
  /** Absent: none were asked for. */
  readonly permits?: PermitAnswer;
}

/** Asks the counter of a model entry. */
export type AskCounter = (counterId: string, order: LeaseOrder) => Promise<LeaseAnswerOfRate>;

/** An order of permits; it names no rate. */
export function orderOfPermits(permits: PermitOrder): LeaseOrder {
  const known = { requestsAt: 0, tokensAt: 0 };
  return { v: 1, rate: {}, tokens: [], corrected: 0, known, permits };
}

/** An order, or null if it is none. */
export function readLeaseOrder(payload: unknown): LeaseOrder | null {
  if (!isPlainObject(payload) || payload['v'] !== 1) return null;
  const { rate, tokens, corrected, known, permits } = payload;
  if (permits !== undefined) {
    const isEmpty = isPlainObject(rate) && Object.keys(rate).length === 0;
    const isOrder = isEmpty && isPermitOrder(permits);
    return isOrder ? (payload as unknown as LeaseOrder) : null;
  }
  const areTokens =
    Array.isArray(tokens) && tokens.length <= MAX_LEASED && tokens.every((one) => isAmount(one));
  if (!areTokens || !isRate(rate) || !Number.isFinite(corrected) || !isPlainObject(known)) {
    return null;
  }
  const areMarks = isAmount(known['requestsAt']) && isAmount(known['tokensAt']);
  return areMarks ? (payload as unknown as LeaseOrder) : null;
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
