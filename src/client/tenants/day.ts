/** Days of a time zone: when the one of a moment ends, whatever its clocks do. Pure. */

import type { Day } from '../../core/tenant/ledger.ts';

/** Longer than any day: clocks go back by an hour or two. */
const LONGEST_MS = 30 * 3_600_000;

/** Whether `name` is a time zone that this process knows. */
export function isTimeZone(name: unknown): name is string {
  if (typeof name !== 'string' || name === '' || name.length > 100) return false;
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The day of the moment `at` in `timeZone`. @throws RangeError for a zone that is not known. */
export function dayIn(timeZone: string, at: number): Day {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  const dateOf = (ms: number): string => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]));
    return `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`;
  };
  const date = dateOf(at);
  let low = at;
  let high = at + LONGEST_MS;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (dateOf(middle) === date) low = middle;
    else high = middle;
  }
  return { date, endsAt: high };
}
