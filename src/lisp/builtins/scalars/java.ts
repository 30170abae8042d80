/**
 * Members named after Java. Positions are in UTF-16 units, and bad input is an error.
 */
import { checkText, type Context } from '../../value/context.ts';
import { isWellFormed } from '../../value/characters.ts';
import { toDouble, wholeOf } from '../../value/numbers.ts';
import {
  float,
  integer,
  isFloat,
  isInteger,
  isNumber,
  type Value,
  type Float,
  type Work,
} from '../../value/value.ts';
import { arg, fault, wrongType } from '../arguments/expect.ts';
import { plain } from '../arguments/stepping.ts';
import { parseDouble } from './text.ts';

const LONG_LIMIT = 1n << 63n;

/** A number; an integer must fit into 64 bits. */
function numberAt(c: Context, args: readonly Value[], index: number): number | bigint | Float {
  const value = arg(args, index);
  if (!isNumber(value)) throw wrongType(c, index, 'a number', value);
  if (typeof value === 'bigint' && (value >= LONG_LIMIT || value < -LONG_LIMIT)) {
    throw wrongType(c, index, 'an integer of 64 bits', value);
  }
  return value;
}

function onDouble(op: (value: number) => number): Work {
  return plain((c, args) => float(op(toDouble(numberAt(c, args, 0)))));
}

function extreme(greater: boolean): Work {
  return plain((c, args) => {
    const a = numberAt(c, args, 0);
    const b = numberAt(c, args, 1);
    if (isFloat(a) && isFloat(b)) {
      return float(greater ? Math.max(a.value, b.value) : Math.min(a.value, b.value));
    }
    if (isInteger(a) && isInteger(b)) return (greater ? a > b : a < b) ? a : b;
    throw fault(c, 'java_type_error', 'both arguments must be integers, or both floats.');
  });
}

function parsing(limit: bigint): Work {
  return plain((c, args) => {
    const text = javaText(c, args, 0);
    const radix = args.length > 1 ? arg(args, 1) : 10;
    if (typeof radix !== 'number' || radix < 2 || radix > 36) {
      throw wrongType(c, 1, 'a radix from 2 to 36', radix);
    }
    const value = text.length > 200 ? null : parseInRadix(text, radix);
    if (value === null || value >= limit || value < -limit) {
      throw fault(c, 'java_domain_error', `"${text.slice(0, 200)}" is no integer of this size.`);
    }
    return integer(value);
  });
}

function parseInRadix(text: string, radix: number): bigint | null {
  const negative = text.startsWith('-');
  const digits = negative || text.startsWith('+') ? text.slice(1) : text;
  if (digits === '') return null;
  let value = 0n;
  for (const digit of digits) {
    const amount = /^[0-9a-zA-Z]$/.test(digit) ? Number.parseInt(digit, 36) : 99;
    if (amount >= radix) return null;
    value = value * BigInt(radix) + BigInt(amount);
  }
  return negative ? -value : value;
}

function javaText(c: Context, args: readonly Value[], index: number): string {
  const value = arg(args, index);
  if (typeof value === 'string') {
    c.charge(value.length >>> 4);
    return value;
  }
  throw wrongType(c, index, 'text', value);
}

/** A part of a text. Fails when it would split a surrogate pair. */
function wellFormed(c: Context, text: string): string {
  if (isWellFormed(text)) return text;
  throw fault(c, 'invalid_java_string', 'the result would be half a character.');
}

function positionAt(c: Context, args: readonly Value[], index: number): number {
  const value = arg(args, index);
  if (typeof value === 'number') return value;
  throw wrongType(c, index, 'an integer', value);
}

function outside(c: Context, index: number, length: number): ReturnType<typeof fault> {
  return fault(c, 'java_domain_error', `index ${index} is outside a text of ${length} units.`);
}

/** The text to search for; a number means the character of a code point. */
function needleAt(c: Context, args: readonly Value[], index: number): string {
  const value = arg(args, index);
  if (typeof value === 'number' && value >= 0 && value <= 0x10ffff)
    return String.fromCodePoint(value);
  return javaText(c, args, index);
}

function round(c: Context, args: readonly Value[]): Value {
  const value = arg(args, 0);
  if (!isFloat(value)) throw wrongType(c, 0, 'a float (use `round` for integers)', value);
  const { value: number } = value;
  if (Number.isNaN(number)) return 0;
  if (number >= 2 ** 63) return integer(LONG_LIMIT - 1n);
  if (number <= -(2 ** 63)) return integer(-LONG_LIMIT);
  const floor = Math.floor(number);
  return wholeOf(number - floor >= 0.5 ? floor + 1 : floor);
}

function cased(change: (text: string) => string): Work {
  return plain((c, args) => {
    const text = change(javaText(c, args, 0));
    checkText(c, text.length);
    return text;
  });
}

const parseFloatText: Work = plain((c, args) => {
  const text = javaText(c, args, 0);
  const value = parseDouble(text);
  if (value === undefined)
    throw fault(c, 'java_domain_error', `"${text.slice(0, 200)}" is no number.`);
  return float(value);
});

/** The work of these members. */
export const JAVA_WORK: { readonly [name: string]: Work } = Object.freeze({
  'Math/abs': plain((c, args) => {
    const value = numberAt(c, args, 0);
    if (isFloat(value)) return float(Math.abs(value.value));
    if (typeof value === 'bigint')
      return value === -LONG_LIMIT || value > 0n ? value : integer(-value);
    return Math.abs(value);
  }),
  'Math/max': extreme(true),
  'Math/min': extreme(false),
  'Math/ceil': onDouble(Math.ceil),
  'Math/floor': onDouble(Math.floor),
  'Math/sqrt': onDouble(Math.sqrt),
  'Math/pow': plain((c, args) =>
    float(toDouble(numberAt(c, args, 0)) ** toDouble(numberAt(c, args, 1))),
  ),
  'Math/round': plain(round),
  'Integer/parseInt': parsing(1n << 31n),
  'Long/parseLong': parsing(LONG_LIMIT),
  'Double/parseDouble': parseFloatText,
  'Float/parseFloat': parseFloatText,
  'Boolean/parseBoolean': plain((c, args) => {
    if (arg(args, 0) === null) return false;
    return javaText(c, args, 0).toLowerCase() === 'true';
  }),
  '.length': plain((c, args) => javaText(c, args, 0).length),
  '.isEmpty': plain((c, args) => javaText(c, args, 0) === ''),
  '.trim': plain((c, args) => {
    const text = javaText(c, args, 0);
    let from = 0;
    let to = text.length;
    while (from < to && text.charCodeAt(from) <= 0x20) from += 1;
    while (to > from && text.charCodeAt(to - 1) <= 0x20) to -= 1;
    return text.slice(from, to);
  }),
  '.indexOf': plain((c, args) => {
    const from = args.length > 2 ? positionAt(c, args, 2) : 0;
    return javaText(c, args, 0).indexOf(needleAt(c, args, 1), from);
  }),
  '.lastIndexOf': plain((c, args) => {
    const text = javaText(c, args, 0);
    const from = args.length > 2 ? positionAt(c, args, 2) : text.length;
    return from < 0 ? -1 : text.lastIndexOf(needleAt(c, args, 1), from);
  }),
  '.contains': plain((c, args) => javaText(c, args, 0).includes(javaText(c, args, 1))),
  '.startsWith': plain((c, args) => {
    const text = javaText(c, args, 0);
    const from = args.length > 2 ? positionAt(c, args, 2) : 0;
    return from >= 0 && from <= text.length && text.startsWith(javaText(c, args, 1), from);
  }),
  '.endsWith': plain((c, args) => javaText(c, args, 0).endsWith(javaText(c, args, 1))),
  '.substring': plain((c, args) => {
    const text = javaText(c, args, 0);
    const from = positionAt(c, args, 1);
    const to = args.length > 2 ? positionAt(c, args, 2) : text.length;
    if (from < 0 || from > to) throw outside(c, from, text.length);
    if (to > text.length) throw outside(c, to, text.length);
    return wellFormed(c, text.slice(from, to));
  }),
  '.charAt': plain((c, args) => {
    const text = javaText(c, args, 0);
    const index = positionAt(c, args, 1);
    if (index < 0 || index >= text.length) throw outside(c, index, text.length);
    return wellFormed(c, text.charAt(index));
  }),
  '.toUpperCase': cased((text) => text.toUpperCase()),
  '.toLowerCase': cased((text) => text.toLowerCase()),
  '.equalsIgnoreCase': plain((c, args) => {
    const other = arg(args, 1);
    if (other === null) return false;
    const fold = (text: string): string => text.toUpperCase().toLowerCase();
    return fold(javaText(c, args, 0)) === fold(javaText(c, args, 1));
  }),
});
