/** Calendar dates and moments as ISO 8601 text, and back, without a clock. */
import { civilFromDays, daysFromCivil } from '../../lisp/value/civil-date.ts';

const msPerDay = 86_400_000;
const msPerMinute = 60_000;

/** The day that `YYYY-MM-DD` names, or undefined when the calendar has no such day. */
export function dayOfDate(text: string): number | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, date = 0] = match.slice(1).map(Number);
  if (month < 1 || month > 12) return undefined;
  const day = daysFromCivil({ year, month, day: date });
  // 30 February would count as a day in March, so there is no such day.
  return dateOfDay(day) === text ? day : undefined;
}

/** `YYYY-MM-DD` of a day. Only for years 0 to 9999. */
export function dateOfDay(day: number): string {
  const { year, month, day: date } = civilFromDays(day);
  return `${digits(year, 4)}-${digits(month, 2)}-${digits(date, 2)}`;
}

/** The day of a moment, in ms since 1970, in a zone that is `offsetMinutes` ahead of UTC. */
export function dayOfMoment(atMs: number, offsetMinutes: number): number {
  return Math.floor((atMs + offsetMinutes * msPerMinute) / msPerDay);
}

/** ISO 8601 with milliseconds and the offset: `2026-03-10T09:00:00.000Z`, `…+01:00`. */
export function isoOfMoment(atMs: number, offsetMinutes: number): string {
  const day = dayOfMoment(atMs, offsetMinutes);
  const ms = Math.floor(atMs) + offsetMinutes * msPerMinute - day * msPerDay;
  const time = [ms / 3_600_000, (ms / msPerMinute) % 60, (ms / 1000) % 60]
    .map((number) => digits(Math.floor(number), 2))
    .join(':');
  return `${dateOfDay(day)}T${time}.${digits(ms % 1000, 3)}${zoneText(offsetMinutes)}`;
}

/** Ms since 1970 of `YYYY-MM-DDThh:mm[:ss[.fff]]` with `Z` or `±hh:mm`; otherwise undefined. */
export function momentOf(text: string): number | undefined {
  const match =
    /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d+))?)?(?:Z|([+-])(\d{2}):(\d{2}))$/.exec(
      text,
    );
  const day = match?.[1] === undefined ? undefined : dayOfDate(match[1]);
  if (match === null || day === undefined) return undefined;
  const [hours = 0, minutes = 0, seconds = 0] = match.slice(2, 5).map((part) => Number(part ?? 0));
  // From the digits: as a number, .12 is a little less than 120 ms.
  const ms = Number((match[5] ?? '').slice(0, 3).padEnd(3, '0'));
  const offset = (Number(match[7] ?? 0) * 60 + Number(match[8] ?? 0)) * (match[6] === '-' ? -1 : 1);
  const minuteOfDay = hours * 60 + minutes - offset;
  return day * msPerDay + minuteOfDay * msPerMinute + seconds * 1000 + ms;
}

function zoneText(offsetMinutes: number): string {
  if (offsetMinutes === 0) return 'Z';
  const minutes = Math.abs(offsetMinutes);
  const sign = offsetMinutes < 0 ? '-' : '+';
  return `${sign}${digits(Math.floor(minutes / 60), 2)}:${digits(minutes % 60, 2)}`;
}

function digits(number: number, length: number): string {
  return String(number).padStart(length, '0');
}
