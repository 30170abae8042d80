/**
 * Dates, instants and durations as ISO text. Calendar arithmetic is ours: the engine's clock and
 * time zones are out of reach here.
 */
import type { DateValue } from './value.ts';

/** A day of the proleptic Gregorian calendar. */
export interface CivilDate {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
}

/** Days since 1970-01-01 of a civil date (H. Hinnant, "chrono-compatible low-level date algorithms"). */
export function daysFromCivil({ year, month, day }: CivilDate): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** The civil date of a number of days since 1970-01-01; the inverse of {@link daysFromCivil}. */
export function civilFromDays(days: number): CivilDate {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return { year, month, day };
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

function yearText(year: number): string {
  if (year >= 0 && year <= 9_999) return pad(year, 4);
  return year < 0 ? `-${pad(-year, 4)}` : `+${year}`;
}

/** A day count as `2024-01-31`. */
function dayText(days: number): string {
  const { year, month, day } = civilFromDays(days);
  return `${yearText(year)}-${pad(month, 2)}-${pad(day, 2)}`;
}

/** Nanoseconds as a fraction in groups of three digits: `.500`, `.000001`, or nothing. */
function fractionText(nanos: number): string {
  if (nanos === 0) return '';
  const digits = pad(nanos, 9);
  if (digits.endsWith('000000')) return `.${digits.slice(0, 3)}`;
  return digits.endsWith('000') ? `.${digits.slice(0, 6)}` : `.${digits}`;
}

function instantText(seconds: number, nanos: number): string {
  const days = Math.floor(seconds / 86_400);
  const rest = seconds - days * 86_400;
  const time = [Math.floor(rest / 3_600), Math.floor(rest / 60) % 60, rest % 60];
  return `${dayText(days)}T${time.map((part) => pad(part, 2)).join(':')}${fractionText(nanos)}Z`;
}

/** `PT25H1.5S`, after Java: no days, no zero parts, the sign on each part. */
function durationText(seconds: number, nanos: number): string {
  if (seconds === 0 && nanos === 0) return 'PT0S';
  // Java counts whole seconds toward zero and lets the fraction carry the same sign.
  const whole = seconds < 0 && nanos > 0 ? seconds + 1 : seconds;
  const fraction = seconds < 0 && nanos > 0 ? 1_000_000_000 - nanos : nanos;
  const hours = Math.trunc(whole / 3_600);
  const minutes = Math.trunc((whole % 3_600) / 60);
  const rest = whole % 60;
  const parts = [hours === 0 ? '' : `${hours}H`, minutes === 0 ? '' : `${minutes}M`];
  if (rest !== 0 || fraction !== 0) {
    const digits = fraction === 0 ? '' : `.${pad(fraction, 9).replace(/0+$/, '')}`;
    const sign = seconds < 0 && rest === 0 && fraction !== 0 ? '-' : '';
    parts.push(`${sign}${rest}${digits}S`);
  }
  return `PT${parts.join('')}`;
}

/** The canonical ISO text of a date value. */
export function dateText(value: DateValue): string {
  switch (value.of) {
    case 'date':
      return dayText(value.amount);
    case 'instant':
    case 'legacy-date':
      return instantText(value.amount, value.nanos);
    case 'duration':
      return durationText(value.amount, value.nanos);
  }
}
