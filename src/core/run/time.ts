/**
 * Time for instructions and tools: dates in words, from a given moment; the clock is never read.
 * Zones other than UTC need the rules of the zone, which the core does not have: the caller gives
 * the zone's offset at a moment, as a function that is the same on every replay.
 */
import { dateOfDay, dayOfDate, dayOfMoment, isoOfMoment, momentOf } from '../text/civil-date.ts';

/** Dates and times of one moment, in one zone. */
export interface AgentTime {
  /** ISO 8601 with the zone's offset: `2026-03-10T09:00:00.000Z`. */
  now(): string;
  /** `2026-03-10` */
  today(): string;
  /** `Tuesday` */
  weekday(): string;
  /**
   * `today`, `tomorrow`, `yesterday`, `in {n} days`, `{n} days ago`, by calendar dates. `date` is
   * `YYYY-MM-DD`, or a moment with an offset, whose date in the zone counts. Other text: as it is.
   */
  relative(date: string): string;
}

/** Minutes that a zone is ahead of UTC at a moment, in ms since 1970; 0 is UTC. */
export type ZoneOffset = (atMs: number) => number;

const weekdays: readonly string[] = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
];

/** The time of an agent at `nowMs`, milliseconds since 1970. Default zone: UTC. */
export function agentTime(nowMs: number, offset: ZoneOffset = () => 0): AgentTime {
  const today = dayOfMoment(nowMs, offset(nowMs));
  return {
    now: () => isoOfMoment(nowMs, offset(nowMs)),
    today: () => dateOfDay(today),
    // 1970-01-01 was a Thursday.
    weekday: () => weekdays[(((today + 4) % 7) + 7) % 7] ?? '',
    relative: (date) => {
      const day = dayOfText(date, offset);
      return day === undefined ? date : daysText(day - today);
    },
  };
}

function daysText(days: number): string {
  switch (days) {
    case 0:
      return 'today';
    case 1:
      return 'tomorrow';
    case -1:
      return 'yesterday';
    default:
      return days > 0 ? `in ${days} days` : `${-days} days ago`;
  }
}

/** The day, counted from 1970-01-01, that a text names; undefined if it names none. */
function dayOfText(text: string, offset: ZoneOffset): number | undefined {
  const atMs = momentOf(text);
  return atMs === undefined ? dayOfDate(text) : dayOfMoment(atMs, offset(atMs));
}
