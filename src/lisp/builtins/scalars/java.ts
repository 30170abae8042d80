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
  type BuiltinWork,
} from '../../value/value.ts';
import { searchText, searchTextBack } from '../../base/search.ts';
import { arg, expectCount, fault, wrongType } from '../arguments/expect.ts';
import { plain } from '../arguments/stepping.ts';
import { parseDouble, trimmed } from './text.ts';

const LONG_LIMIT = 1n << 63n;

/** A number; an integer must fit into 64 bits. */
function numberAt(ctx: Context, args: readonly Value[], index: number): number | bigint | Float {
  const value = arg(args, index);
  if (!isNumber(value)) throw wrongType(ctx, index, 'a number', value);
  if (typeof value === 'bigint' && (value >= LONG_LIMIT || value < -LONG_LIMIT)) {
    throw wrongType(ctx, index, 'an integer of 64 bits', value);
  }
  return value;
}

function onDouble(op: (value: number) => number): BuiltinWork {
  return plain((ctx, args) => float(op(toDouble(numberAt(ctx, args, 0)))));
}

function extreme(greater: boolean): BuiltinWork {
  return plain((ctx, args) => {
    const a = numberAt(ctx, args, 0);
    const b = numberAt(ctx, args, 1);
    if (isFloat(a) && isFloat(b)) {
      return float(greater ? Math.max(a.value, b.value) : Math.min(a.value, b.value));
    }
    if (isInteger(a) && isInteger(b)) return (greater ? a > b : a < b) ? a : b;
    throw fault(ctx, 'java_type_error', 'both arguments must be integers, or both floats.');
  });
}

function parsing(limit: bigint): BuiltinWork {
  return plain((ctx, args) => {
    const text = javaText(ctx, args, 0);
    const radix = args.length > 1 ? arg(args, 1) : 10;
    if (typeof radix !== 'number' || radix < 2 || radix > 36) {
      throw wrongType(ctx, 1, 'a radix from 2 to 36', radix);
    }
    const value = text.length > 200 ? null : parseInRadix(text, radix);
    if (value === null || value >= limit || value < -limit) {
      throw fault(ctx, 'java_domain_error', `"${text.slice(0, 200)}" is no integer of this size.`);
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

function javaText(ctx: Context, args: readonly Value[], index: number): string {
  const value = arg(args, index);
  if (typeof value === 'string') {
    ctx.charge(value.length >>> 4);
    return value;
  }
  throw wrongType(ctx, index, 'text', value);
}

/** A part of a text. Fails when it would split a surrogate pair. */
function wellFormed(ctx: Context, text: string): string {
  if (isWellFormed(text)) return text;
  throw fault(ctx, 'invalid_java_string', 'the result would be half a character.');
}

function positionAt(ctx: Context, args: readonly Value[], index: number): number {
  const value = arg(args, index);
  if (typeof value === 'number') return value;
  // A float is cut toward zero, as every position is.
  if (isFloat(value)) return expectCount(ctx, args, index);
  throw wrongType(ctx, index, 'an integer', value);
}

function outside(ctx: Context, index: number, length: number): ReturnType<typeof fault> {
  return fault(ctx, 'java_domain_error', `index ${index} is outside a text of ${length} units.`);
}

/** The text to search for; a number means the character of a code point. */
function needleAt(ctx: Context, args: readonly Value[], index: number): string {
  const value = arg(args, index);
  if (typeof value === 'number' && value >= 0 && value <= 0x10ffff)
    return String.fromCodePoint(value);
  return javaText(ctx, args, index);
}

function round(ctx: Context, args: readonly Value[]): Value {
  const value = arg(args, 0);
  if (!isFloat(value)) throw wrongType(ctx, 0, 'a float (use `round` for integers)', value);
  const { value: number } = value;
  if (Number.isNaN(number)) return 0;
  if (number >= 2 ** 63) return integer(LONG_LIMIT - 1n);
  if (number <= -(2 ** 63)) return integer(-LONG_LIMIT);
  const floor = Math.floor(number);
  return wholeOf(number - floor >= 0.5 ? floor + 1 : floor);
}

function cased(change: (text: string) => string): BuiltinWork {
  return plain((ctx, args) => {
    const text = change(javaText(ctx, args, 0));
    checkText(ctx, text.length);
    return text;
  });
}

const parseFloatText: BuiltinWork = plain((ctx, args) => {
  const text = javaText(ctx, args, 0);
  const value = parseDouble(text);
  if (value === undefined)
    throw fault(ctx, 'java_domain_error', `"${text.slice(0, 200)}" is no number.`);
  return float(value);
});

/** The work of these members. */
export const JAVA_WORK: { readonly [name: string]: BuiltinWork } = Object.freeze({
  'Math/abs': plain((ctx, args) => {
    const value = numberAt(ctx, args, 0);
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
  'Math/pow': plain((ctx, args) =>
    float(toDouble(numberAt(ctx, args, 0)) ** toDouble(numberAt(ctx, args, 1))),
  ),
  'Math/round': plain(round),
  'Integer/parseInt': parsing(1n << 31n),
  'Long/parseLong': parsing(LONG_LIMIT),
  'Double/parseDouble': parseFloatText,
  'Float/parseFloat': parseFloatText,
  'Boolean/parseBoolean': plain((ctx, args) => {
    if (arg(args, 0) === null) return false;
    return javaText(ctx, args, 0).toLowerCase() === 'true';
  }),
  '.length': plain((ctx, args) => javaText(ctx, args, 0).length),
  '.isEmpty': plain((ctx, args) => javaText(ctx, args, 0) === ''),
  '.trim': plain((ctx, args) =>
    trimmed(javaText(ctx, args, 0), true, true, (unit) => unit <= 0x20),
  ),
  '.indexOf': plain((ctx, args) => {
    const from = args.length > 2 ? positionAt(ctx, args, 2) : 0;
    return searchText(javaText(ctx, args, 0), needleAt(ctx, args, 1), from);
  }),
  '.lastIndexOf': plain((ctx, args) => {
    const text = javaText(ctx, args, 0);
    const from = args.length > 2 ? positionAt(ctx, args, 2) : text.length;
    return from < 0 ? -1 : searchTextBack(text, needleAt(ctx, args, 1), from);
  }),
  '.contains': plain(
    (ctx, args) => searchText(javaText(ctx, args, 0), javaText(ctx, args, 1)) >= 0,
  ),
  '.startsWith': plain((ctx, args) => {
    const text = javaText(ctx, args, 0);
    const from = args.length > 2 ? positionAt(ctx, args, 2) : 0;
    return from >= 0 && from <= text.length && text.startsWith(javaText(ctx, args, 1), from);
  }),
  '.endsWith': plain((ctx, args) => javaText(ctx, args, 0).endsWith(javaText(ctx, args, 1))),
  '.substring': plain((ctx, args) => {
    const text = javaText(ctx, args, 0);
    const from = positionAt(ctx, args, 1);
    const to = args.length > 2 ? positionAt(ctx, args, 2) : text.length;
    if (from < 0 || from > to) throw outside(ctx, from, text.length);
    if (to > text.length) throw outside(ctx, to, text.length);
    return wellFormed(ctx, text.slice(from, to));
  }),
  '.charAt': plain((ctx, args) => {
    const text = javaText(ctx, args, 0);
    const index = positionAt(ctx, args, 1);
    if (index < 0 || index >= text.length) throw outside(ctx, index, text.length);
    return wellFormed(ctx, text.charAt(index));
  }),
  '.toUpperCase': cased((text) => text.toUpperCase()),
  '.toLowerCase': cased((text) => text.toLowerCase()),
  '.equalsIgnoreCase': plain((ctx, args) => {
    const other = arg(args, 1);
    if (other === null) return false;
    const fold = (text: string): string => text.toUpperCase().toLowerCase();
    return fold(javaText(ctx, args, 0)) === fold(javaText(ctx, args, 1));
  }),
});
