/**
 * Dates, instants and durations as ISO text, in UTC.
 */
import { civilFromDays } from './civil-date.ts';
import type { DateValue } from './value.ts';

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
