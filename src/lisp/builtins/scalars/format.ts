/**
 * `format`: Java's `String.format`, without dates.
 */
import { withCommas } from '../../base/with-commas.ts';
import { checkText, type Context } from '../../value/context.ts';
import { chargeDigits, toDouble } from '../../value/numbers.ts';
import { readable } from '../../value/print.ts';
import { offsetOfCharacter } from '../../value/characters.ts';
import {
  isFloat,
  isInteger,
  isNumber,
  truthy,
  type Value,
  type Float,
  type BuiltinWork,
} from '../../value/value.ts';
import { expectText, fault } from '../arguments/expect.ts';
import { plain } from '../arguments/stepping.ts';
import { toText } from './text.ts';

/** Greatest width and precision; a larger one would make long text for little fuel. */
const MAX_WIDTH = 1_000;

/** A new pattern for each search, since `lastIndex` is part of its state. */
const specifierPattern = (): RegExp =>
  /%(?:(\d+)\$|(<))?([-0+ ,(#]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])/y;

interface Specifier {
  readonly flags: string;
  readonly width: number;
  /** −1 for none. */
  readonly precision: number;
  readonly conversion: string;
}

function format(ctx: Context, args: readonly Value[]): Value {
  const template = expectText(ctx, args, 0);
  const values = args.slice(1);
  const parts: string[] = [];
  let next = 0;
  let last = -1;
  let at = 0;
  while (at < template.length) {
    const percent = template.indexOf('%', at);
    if (percent < 0) break;
    parts.push(template.slice(at, percent));
    const specifier = specifierPattern();
    specifier.lastIndex = percent;
    const found = specifier.exec(template);
    if (found === null)
      throw fault(
        ctx,
        'runtime_error',
        `\`${template.slice(percent, percent + 20)}\` is no conversion.`,
      );
    const [whole, position, same, flags = '', width = '0', precision, conversion = ''] = found;
    const spec: Specifier = {
      flags,
      width: Number(width),
      precision: precision === undefined ? -1 : Number(precision),
      conversion,
    };
    if (spec.width > MAX_WIDTH || spec.precision > MAX_WIDTH) {
      throw fault(ctx, 'runtime_error', `widths and precisions go up to ${MAX_WIDTH}.`);
    }
    at = percent + whole.length;
    if (conversion === '%' || conversion === 'n') {
      parts.push(padded(spec, conversion === '%' ? '%' : '\n'));
      continue;
    }
    const index = position !== undefined ? Number(position) - 1 : same !== undefined ? last : next;
    if (position === undefined && same === undefined) next += 1;
    last = index;
    const value = values[index];
    if (value === undefined) throw fault(ctx, 'runtime_error', `\`${whole}\` has no argument.`);
    parts.push(convert(ctx, spec, value, whole));
  }
  parts.push(template.slice(at));
  const text = parts.join('');
  checkText(ctx, text.length);
  return text;
}

function padded(spec: Specifier, text: string): string {
  return spec.flags.includes('-') ? text.padEnd(spec.width) : text.padStart(spec.width);
}

function convert(ctx: Context, spec: Specifier, value: Value, whole: string): string {
  const { conversion, precision } = spec;
  const cut = (text: string): string => {
    if (precision < 0) return text;
    return text.slice(0, offsetOfCharacter(text, precision));
  };
  const finished = (text: string): string =>
    padded(spec, conversion >= 'A' && conversion <= 'Z' ? text.toUpperCase() : text);
  switch (conversion) {
    case 's':
    case 'S':
      return finished(cut(toText(ctx, value)));
    case 'b':
    case 'B':
      return finished(cut(String(truthy(value))));
    default:
  }
  if (value === null && 'dxXofeEgGc'.includes(conversion)) return finished('null');
  switch (conversion) {
    case 'c':
      if (typeof value === 'string') return finished(value);
      if (typeof value === 'number' && isCodePoint(value)) {
        return finished(String.fromCodePoint(value));
      }
      break;
    case 'd':
      if (isInteger(value)) chargeDigits(ctx, value);
      if (isInteger(value)) return signed(spec, value < 0, grouped(spec, digitsOf(value, 10)));
      break;
    case 'x':
    case 'X':
    case 'o': {
      if (!isInteger(value)) break;
      const digits = digitsOf(value, conversion === 'o' ? 8 : 16);
      const prefix = spec.flags.includes('#') ? (conversion === 'o' ? '0' : '0x') : '';
      const text = signed(
        { ...spec, flags: spec.flags.replace(',', '') },
        value < 0,
        prefix + digits,
      );
      return conversion === 'X' ? text.toUpperCase() : text;
    }
    case 'f':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
      if (isInteger(value)) chargeDigits(ctx, value);
      if (isNumber(value)) return floating(spec, value);
      break;
    default:
      throw fault(ctx, 'runtime_error', `\`${whole}\` is no conversion.`);
  }
  throw fault(
    ctx,
    'runtime_error',
    `\`${whole}\` does not fit ${readable(value, ctx).slice(0, 200)}.`,
  );
}

/** A surrogate alone is no character. */
function isCodePoint(value: number): boolean {
  return value >= 0 && value <= 0x10ffff && !(value >= 0xd800 && value <= 0xdfff);
}

function digitsOf(value: number | bigint, radix: number): string {
  const text = value.toString(radix);
  return text.startsWith('-') ? text.slice(1) : text;
}

function grouped(spec: Specifier, digits: string): string {
  if (!spec.flags.includes(',')) return digits;
  const [whole = '', fraction] = digits.split('.');
  const text = withCommas(whole);
  return fraction === undefined ? text : `${text}.${fraction}`;
}

/** Digits with their sign, padded with zeros or spaces. */
function signed(spec: Specifier, negative: boolean, digits: string): string {
  const { flags, width } = spec;
  const brackets = negative && flags.includes('(');
  const plus = flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
  const before = negative ? (brackets ? '(' : '-') : plus;
  const after = brackets ? ')' : '';
  const room = width - before.length - after.length;
  const body = flags.includes('0') ? digits.padStart(room, '0') : digits;
  return padded(spec, before + body + after);
}

function floating(spec: Specifier, value: number | bigint | Float): string {
  const upper = spec.conversion === 'E' || spec.conversion === 'G';
  const number = typeof value === 'object' ? value.value : 0;
  if (isFloat(value) && !Number.isFinite(number)) {
    if (Number.isNaN(number)) return padded(spec, upper ? 'NAN' : 'NaN');
    return signed(
      { ...spec, flags: spec.flags.replace('0', '') },
      number < 0,
      upper ? 'INFINITY' : 'Infinity',
    );
  }
  const negative = isFloat(value) ? number < 0 || Object.is(number, -0) : toDouble(value) < 0;
  const { digits, exponent } = decimalOf(value);
  const precision = spec.precision < 0 ? 6 : spec.precision;
  let text: string;
  if (spec.conversion === 'f') text = fixed(digits, exponent, precision);
  else if (spec.conversion === 'e' || spec.conversion === 'E')
    text = scientific(digits, exponent, precision);
  else text = general(digits, exponent, precision === 0 ? 1 : precision);
  if (spec.conversion !== 'e' && spec.conversion !== 'E') text = grouped(spec, text);
  return signed(spec, negative, upper ? text.toUpperCase() : text);
}

/** The decimal digits of a positive number: `0.d₁d₂… × 10^exponent`. */
function decimalOf(value: number | bigint | Float): { digits: string; exponent: number } {
  if (!isFloat(value)) {
    const whole = digitsOf(value, 10);
    return whole === '0' ? { digits: '0', exponent: 1 } : { digits: whole, exponent: whole.length };
  }
  const [mantissa = '0', power = '0'] = Math.abs(value.value).toExponential().split('e');
  return { digits: mantissa.replace('.', ''), exponent: Number(power) + 1 };
}

/** The first `count` digits, rounded half up. `carried` is set when a digit was added in front. */
function roundDigits(digits: string, count: number): { digits: string; carried: boolean } {
  if (count < 0) return { digits: '', carried: false };
  if (digits.length <= count) return { digits: digits.padEnd(count, '0'), carried: false };
  const up = digits.charCodeAt(count) >= 53;
  const kept = digits.slice(0, count);
  if (!up) return { digits: kept, carried: false };
  const raised = String(BigInt(`1${kept}`) + 1n);
  const carried = raised.startsWith('2');
  return { digits: carried ? `1${raised.slice(1)}` : raised.slice(1), carried };
}

function fixed(digits: string, exponent: number, precision: number): string {
  const count = exponent + precision;
  const rounded = roundDigits(digits, count);
  const size = exponent + (rounded.carried ? 1 : 0);
  let all = rounded.digits;
  if (size <= 0) all = '0'.repeat(1 - size) + all;
  const whole = size <= 0 ? '0' : all.slice(0, size);
  const fraction = (size <= 0 ? all.slice(1) : all.slice(size))
    .padEnd(precision, '0')
    .slice(0, precision);
  return precision === 0 ? whole : `${whole}.${fraction}`;
}

function scientific(digits: string, exponent: number, precision: number): string {
  const zero = /^0+$/.test(digits);
  const rounded = roundDigits(digits, precision + 1);
  const power = zero ? 0 : exponent - 1 + (rounded.carried ? 1 : 0);
  const shown = rounded.digits.slice(0, precision + 1);
  const mantissa = precision === 0 ? shown : `${shown.charAt(0)}.${shown.slice(1)}`;
  const sign = power < 0 ? '-' : '+';
  return `${mantissa}e${sign}${String(Math.abs(power)).padStart(2, '0')}`;
}

function general(digits: string, exponent: number, precision: number): string {
  const zero = /^0+$/.test(digits);
  const rounded = roundDigits(digits, precision);
  const power = zero ? 0 : exponent - 1 + (rounded.carried ? 1 : 0);
  if (zero || (power >= -4 && power < precision)) {
    return fixed(digits, exponent, Math.max(0, precision - 1 - power));
  }
  return scientific(digits, exponent, precision - 1);
}

/** The work of `format`. */
export const FORMAT_WORK: { readonly [name: string]: BuiltinWork } = Object.freeze({
  format: plain(format),
});
