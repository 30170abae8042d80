/** The times of a schedule, in the form of the service, and back in the user's words. */
import type { CalendarSpec, ScheduleDescription, ScheduleSpec } from '@temporalio/client';
import { defined } from '../../core/base/defined.ts';
import type { ScheduleTimes } from './schedule-options.ts';

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** The milliseconds of `90s`, `30m`, `6h`, `1d`, or of a number from 1 up; undefined for all else. */
export function durationMsOf(value: unknown): number | undefined {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value > 0 ? value : undefined;
  if (typeof value !== 'string') return undefined;
  const [, number = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(value) ?? [];
  const ms = Number(number) * (UNIT_MS[unit] ?? 0);
  return ms > 0 ? ms : undefined;
}

/** The time of a Date, an ISO text or milliseconds since 1970; undefined for all else. */
export function timeOf(value: unknown): Date | undefined {
  const isIso = typeof value === 'string' && /^\d{4}-\d{2}-\d{2}(?:T|$)/.test(value);
  if (!isIso && typeof value !== 'number' && !(value instanceof Date)) return undefined;
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/**
 * The service compiles cron into calendars and forgets the words, but keeps the comment of each. It
 * follows every change, as no memo of a schedule does.
 */
const CRON_COMMENT = 'cron: ';

/** Times that were checked, as the service takes them. */
export function specOf(times: ScheduleTimes): ScheduleSpec {
  const { cron, every, offset, calendars, skip, jitter, startAt, endAt, timeZone } = times;
  const everyMs = durationMsOf(every);
  return defined({
    cronExpressions: cron === undefined ? undefined : [cron].flat().map(withComment),
    intervals:
      everyMs === undefined
        ? undefined
        : [defined({ every: everyMs, offset: durationMsOf(offset) })],
    calendars: calendars?.map(withEnds),
    skip: skip?.map(withEnds),
    jitter: durationMsOf(jitter),
    startAt: timeOf(startAt),
    endAt: timeOf(endAt),
    timezone: timeZone,
  });
}

function withComment(cron: string): string {
  const [fields = ''] = cron.split('#');
  const words = fields.trim().replaceAll(/\s+/g, ' ');
  return `${words} # ${CRON_COMMENT}${words}`;
}

/** The SDK ends a range without `end` at 1. */
function withEnds(calendar: CalendarSpec): CalendarSpec {
  return Object.fromEntries(
    Object.entries(calendar).map(([name, value]: [string, unknown]) => [
      name,
      Array.isArray(value) ? value.map(withEnd) : withEnd(value),
    ]),
  );
}

function withEnd(range: unknown): unknown {
  if (typeof range !== 'object' || range === null || !('start' in range)) return range;
  return { end: range.start, ...range };
}

/** The times of a schedule in words: `0 6 * * MON-FRI`, `every 6 h`, `2 calendars`. */
export interface ScheduleWords {
  readonly cron: readonly string[];
  /** Milliseconds. */
  readonly every: readonly number[];
  /** Calendars that no cron has made. */
  readonly calendars: number;
}

/** What the user wrote, from what the service has made of it. */
export function wordsOf({
  calendars = [],
  intervals = [],
}: ScheduleDescription['spec']): ScheduleWords {
  const cron = calendars.flatMap(({ comment = '' }) =>
    comment.startsWith(CRON_COMMENT) ? [comment.slice(CRON_COMMENT.length)] : [],
  );
  return {
    cron,
    every: intervals.map(({ every }) => every),
    calendars: calendars.length - cron.length,
  };
}
