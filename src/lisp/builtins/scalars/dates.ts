/**
 * Date values: parsing and arithmetic. Time zones are offsets only. The only clock is that of the
 * workflow.
 */
import type { Context } from '../../value/context.ts';
import { civilFromDays, daysFromCivil } from '../../value/civil-date.ts';
import {
  isDate,
  isFloat,
  isInteger,
  type DateValue,
  type Value,
  type BuiltinWork,
} from '../../value/value.ts';
import { arg, expectCount, expectText, fault, wrongType } from '../arguments/expect.ts';
import { plain } from '../arguments/stepping.ts';

const DAY_SECONDS = 86_400;
const MAX_DAYS = 365_241_780_471;

/** A date value. */
function dateValue(of: DateValue['of'], amount: number, nanos = 0): DateValue {
  return { kind: 'date', of, amount, nanos };
}

function fromMillis(of: DateValue['of'], ms: number): DateValue {
  const seconds = Math.floor(ms / 1_000);
  return dateValue(of, seconds, (ms - seconds * 1_000) * 1_000_000);
}

/** Milliseconds of a date value, rounded down as in Java. */
function millisOf(value: DateValue): number {
  return value.amount * 1_000 + Math.floor(value.nanos / 1_000_000);
}

const ISO =
  /^([+-]?\d{4,9})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|z|[+-]\d{2}:?\d{2}(?::?\d{2})?)?)?$/;

interface Parsed {
  readonly days: number;
  readonly seconds: number;
  readonly nanos: number;
}

function isDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1 || day > 31) return false;
  const back = civilFromDays(daysFromCivil({ year, month, day }));
  return back.day === day && back.month === month;
}

function offsetSeconds(zone: string | undefined): number {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0;
  const digits = zone.slice(1).replaceAll(':', '');
  const hours = Number(digits.slice(0, 2));
  const minutes = Number(digits.slice(2, 4));
  const total = hours * 3_600 + minutes * 60 + Number(digits.slice(4, 6));
  return zone.startsWith('-') ? -total : total;
}

function parseIso(text: string): Parsed | null {
  const found = text.length > 64 ? null : ISO.exec(text.trim());
  if (found === null) return null;
  const [, y = '', mo = '', d = '', h = '0', mi = '0', s = '0', fraction = '', zone] = found;
  const [year, month, day] = [Number(y), Number(mo), Number(d)];
  const [hour, minute, second] = [Number(h), Number(mi), Number(s)];
  if (!isDay(year, month, day) || hour > 23 || minute > 59 || second > 59) return null;
  const seconds = hour * 3_600 + minute * 60 + second - offsetSeconds(zone);
  return {
    days: daysFromCivil({ year, month, day }),
    seconds,
    nanos: Number(fraction.padEnd(9, '0')),
  };
}

const MONTHS: readonly string[] = Object.freeze(
  'jan feb mar apr may jun jul aug sep oct nov dec'.split(' '),
);
const MONTH_NAMES: readonly string[] = Object.freeze(
  'january february march april may june july august september october november december'.split(
    ' ',
  ),
);
const WEEKDAYS: ReadonlySet<string> = new Set(
  'sun mon tue wed thu fri sat sunday monday tuesday wednesday thursday friday saturday tues thurs'.split(
    ' ',
  ),
);

/** A date in words: weekday, month name and day in either order, time, zone and year. */
function parseSpelled(text: string): Parsed | null {
  if (text.length > 64) return null;
  let month = 0;
  let day = 0;
  let year = 0;
  let seconds = 0;
  let timed = false;
  let zone: string | undefined;
  for (const word of text.replaceAll(',', ' ').trim().split(/\s+/)) {
    const lower = word.toLowerCase();
    const named = Math.max(MONTHS.indexOf(lower), MONTH_NAMES.indexOf(lower));
    const time = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(word);
    const offset = /^(?:GMT|UTC|Z)?([+-]\d{2}:?\d{2})?$/i.exec(word);
    if (WEEKDAYS.has(lower)) continue;
    if (named >= 0 && month === 0) month = named + 1;
    else if (/^\d{1,2}$/.test(word) && day === 0) day = Number(word);
    else if (/^\d{4}$/.test(word) && year === 0) year = Number(word);
    else if (time !== null && !timed) {
      timed = true;
      const [, h = '0', m = '0', s = '0'] = time;
      if (Number(h) > 23 || Number(m) > 59 || Number(s) > 59) return null;
      seconds = Number(h) * 3_600 + Number(m) * 60 + Number(s);
    } else if (offset !== null && zone === undefined) zone = offset[1] ?? 'Z';
    else return null;
  }
  if (year < 1_583 || !isDay(year, month, day)) return null;
  return {
    days: daysFromCivil({ year, month, day }),
    seconds: seconds - offsetSeconds(zone),
    nanos: 0,
  };
}

function unparsable(ctx: Context, text: string, wanted: string): ReturnType<typeof fault> {
  return fault(ctx, 'java_domain_error', `"${text.slice(0, 200)}" is not ${wanted}.`);
}

function isoAt(ctx: Context, args: readonly Value[], wanted: string): Parsed {
  const text = expectText(ctx, args, 0);
  const parsed = parseIso(text);
  if (parsed === null) throw unparsable(ctx, text, wanted);
  return parsed;
}

function instantFrom(of: 'instant' | 'legacy-date', parsed: Parsed): DateValue {
  return dateValue(of, parsed.days * DAY_SECONDS + parsed.seconds, parsed.nanos);
}

/** An integer that a JavaScript number represents exactly. */
function wholeAt(ctx: Context, args: readonly Value[], index: number, cutsFloats = false): number {
  const value = arg(args, index);
  if (cutsFloats && isFloat(value)) return expectCount(ctx, args, index);
  if (!isInteger(value)) throw wrongType(ctx, index, 'an integer', value);
  if (typeof value === 'number') return value;
  throw fault(ctx, 'java_domain_error', `${value.toString().slice(0, 60)} is out of range.`);
}

function dateAt(
  ctx: Context,
  args: readonly Value[],
  index: number,
  of: readonly DateValue['of'][],
): DateValue {
  const value = arg(args, index);
  if (isDate(value) && of.includes(value.of)) return value;
  const names = {
    date: 'a LocalDate',
    instant: 'an Instant',
    duration: 'a Duration',
    'legacy-date': 'a Date',
  };
  throw wrongType(ctx, index, of.map((one) => names[one]).join(' or '), value);
}

function moved(sign: 1 | -1): BuiltinWork {
  return plain((ctx, args) => {
    const date = dateAt(ctx, args, 0, ['date']);
    const days = date.amount + sign * wholeAt(ctx, args, 1, true);
    if (Math.abs(days) > MAX_DAYS)
      throw fault(ctx, 'java_domain_error', 'the date is out of range.');
    return dateValue('date', days);
  });
}

function ordered(
  of: readonly DateValue['of'][],
  holds: (difference: number) => boolean,
): BuiltinWork {
  return plain((ctx, args) => {
    const a = dateAt(ctx, args, 0, of);
    const b = dateAt(ctx, args, 1, [a.of]);
    return holds(a.amount - b.amount || a.nanos - b.nanos);
  });
}

function between(ctx: Context, args: readonly Value[]): Value {
  const from = dateAt(ctx, args, 0, ['instant']);
  const to = dateAt(ctx, args, 1, ['instant']);
  const nanos = to.nanos - from.nanos;
  const seconds = to.amount - from.amount + (nanos < 0 ? -1 : 0);
  return dateValue('duration', seconds, nanos < 0 ? nanos + 1_000_000_000 : nanos);
}

function legacyDate(ctx: Context, args: readonly Value[]): Value {
  if (args.length === 0) return fromMillis('legacy-date', ctx.now);
  const value = arg(args, 0);
  if (isInteger(value)) return fromMillis('legacy-date', wholeAt(ctx, args, 0));
  const text = expectText(ctx, args, 0);
  const parsed = parseIso(text) ?? parseSpelled(text);
  if (parsed === null) throw unparsable(ctx, text, 'a date');
  return fromMillis('legacy-date', millisOf(instantFrom('legacy-date', parsed)));
}

/** The work of these builtins. */
export const DATE_WORK: { readonly [name: string]: BuiltinWork } = Object.freeze({
  'LocalDate/parse': plain((ctx, args) => dateValue('date', isoAt(ctx, args, 'an ISO date').days)),
  'LocalDate/of': plain((ctx, args) => {
    const [year, month, day] = [
      wholeAt(ctx, args, 0),
      wholeAt(ctx, args, 1),
      wholeAt(ctx, args, 2),
    ];
    if (Math.abs(year) > 999_999_999 || !isDay(year, month, day)) {
      throw fault(ctx, 'java_domain_error', `${year}-${month}-${day} is no date.`);
    }
    return dateValue('date', daysFromCivil({ year, month, day }));
  }),
  'LocalDate/now': plain((ctx) => dateValue('date', Math.floor(ctx.now / 86_400_000))),
  '.plusDays': moved(1),
  '.minusDays': moved(-1),
  '.toEpochDay': plain((ctx, args) => dateAt(ctx, args, 0, ['date']).amount),
  'Instant/parse': plain((ctx, args) => instantFrom('instant', isoAt(ctx, args, 'an ISO instant'))),
  'Instant/ofEpochMilli': plain((ctx, args) => fromMillis('instant', wholeAt(ctx, args, 0))),
  'Instant/now': plain((ctx) => fromMillis('instant', ctx.now)),
  '.toEpochMilli': plain((ctx, args) => millisOf(dateAt(ctx, args, 0, ['instant']))),
  '.isBefore': ordered(['date', 'instant'], (difference) => difference < 0),
  '.isAfter': ordered(['date', 'instant'], (difference) => difference > 0),
  'Duration/between': plain(between),
  'Duration/ofMillis': plain((ctx, args) => fromMillis('duration', wholeAt(ctx, args, 0))),
  '.toMillis': plain((ctx, args) => {
    const value = dateAt(ctx, args, 0, ['duration']);
    return Math.trunc(value.amount * 1_000 + value.nanos / 1_000_000) + 0;
  }),
  '.toDays': plain((ctx, args) => {
    const value = dateAt(ctx, args, 0, ['duration']);
    return Math.trunc((value.amount + value.nanos / 1e9) / DAY_SECONDS) + 0;
  }),
  'java.util.Date.': plain(legacyDate),
  '.getTime': plain((ctx, args) => millisOf(dateAt(ctx, args, 0, ['legacy-date']))),
  '.before': ordered(['legacy-date'], (difference) => difference < 0),
  '.after': ordered(['legacy-date'], (difference) => difference > 0),
});
