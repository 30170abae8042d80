/** Rates of model entries over all workers, as plain data. */
import { isPlainObject } from '../base/json.ts';

/** What a provider takes in a minute. */
export interface Rate {
  /** More than 0. */
  readonly requestsPerMinute?: number;
  /** Of prompts and replies together; more than 0. */
  readonly tokensPerMinute?: number;
}

/** Name of the workflow that counts for a model entry. */
export const RATE_WORKFLOW = 'rate';

/** The id of the counter of a model entry. */
export function counterIdOf(model: string): string {
  return `rate:${model}`;
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
}

/** An order, or null if it is none. */
export function readLeaseOrder(payload: unknown): LeaseOrder | null {
  if (!isPlainObject(payload) || payload['v'] !== 1) return null;
  const { rate, tokens, corrected, known } = payload;
  const areTokens =
    Array.isArray(tokens) && tokens.length <= MAX_LEASED && tokens.every((one) => isAmount(one));
  if (!areTokens || !isRate(rate) || !Number.isFinite(corrected) || !isPlainObject(known)) {
    return null;
  }
  const areMarks = isAmount(known['requestsAt']) && isAmount(known['tokensAt']);
  return areMarks ? (payload as unknown as LeaseOrder) : null;
}

/** Whether `value` is a rate: at least one number, each more than 0. */
export function isRate(value: unknown): value is Rate {
  if (!isPlainObject(value)) return false;
  const names = Object.keys(value);
  const known = ['requestsPerMinute', 'tokensPerMinute'];
  return names.length > 0 && names.every((name) => known.includes(name) && isPositive(value[name]));
}

function isPositive(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 && value <= 1e12;
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
