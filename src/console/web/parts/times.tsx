/** Times: relative under a day, the date after that, the exact time on request. */
import type { JSX } from 'preact';
import { agoText, durationText } from '../../view/amounts.ts';
import { now, serverNow } from '../base/clock.ts';

const DAY_MS = 86_400_000;

const dates = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

/** Whether `at` is less than a day ago, so that {@link Ago} is a duration. */
export function isToday(at: number): boolean {
  return now.value - at < DAY_MS;
}

/** `14 s`, `3 h`, `12 Mar 2026`. */
export function Ago({ at }: { readonly at: number }): JSX.Element {
  const age = now.value - at;
  const text = age < DAY_MS ? agoText(age) : dates.format(at);
  return (
    <time dateTime={new Date(at).toISOString()} title={exact.format(at)}>
      {text}
    </time>
  );
}

/** How long it is since `at`, moving: `2 min 4 s`. */
export function Since({ at }: { readonly at: number }): JSX.Element {
  const ms = Math.max(0, now.value - at);
  return <span title={exact.format(at)}>{ms < 60_000 ? agoText(ms) : durationText(ms)}</span>;
}

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** `09:00:04`; with its date when it is longer ago than a day. */
export function clockText(at: number): string {
  return serverNow() - at < DAY_MS ? clock.format(at) : exact.format(at);
}

/** `10 Mar 2026, 09:00:04`. */
export function exactTime(at: number): string {
  return exact.format(at);
}
