/** Rates: what a provider takes in a minute, or what a tenant may ask for. */
import { isPlainObject } from './json.ts';

/** What a provider takes in a minute. */
export interface Rate {
  /** More than 0. */
  readonly requestsPerMinute?: number;
  /** Of prompts and replies together; more than 0. */
  readonly tokensPerMinute?: number;
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
