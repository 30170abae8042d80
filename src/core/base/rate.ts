/** Rates: what a provider takes, or what a tenant may ask for. */
import { isPlainObject } from './json.ts';

/** What a provider takes in a minute. */
export interface Rate {
  /** More than 0. */
  readonly requestsPerMinute?: number;
  /** Of prompts and replies together; more than 0. */
  readonly tokensPerMinute?: number;
}

/** What the provider of a model entry takes. */
export interface ModelRate extends Rate {
  /** Requests under way at once, of all workers together: an integer from 1 to 1,000,000. */
  readonly concurrency?: number;
}

const RATE_FIELDS: readonly string[] = ['requestsPerMinute', 'tokensPerMinute'];

const MAX_CONCURRENCY = 1_000_000;

/** Whether `value` is a rate: at least one number, each more than 0. */
export function isRate(value: unknown): value is Rate {
  if (!isPlainObject(value)) return false;
  const names = Object.keys(value);
  return (
    names.length > 0 && names.every((name) => RATE_FIELDS.includes(name) && isPositive(value[name]))
  );
}

/** Whether `value` is the rate of a model entry: a rate, a concurrency, or both. */
export function isModelRate(value: unknown): value is ModelRate {
  if (!isPlainObject(value)) return false;
  const { concurrency, ...rate } = value;
  if (!('concurrency' in value)) return isRate(rate);
  return isConcurrency(concurrency) && (Object.keys(rate).length === 0 || isRate(rate));
}

/** Whether `value` can be the number of requests that are under way at once. */
export function isConcurrency(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_CONCURRENCY;
}

function isPositive(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 && value <= 1e12;
}
