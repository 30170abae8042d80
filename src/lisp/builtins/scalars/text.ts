/**
 * Text functions, by characters. Some convert their first argument to text; see the documentation.
 */
import { checkCount, checkText, type Context } from '../../value/context.ts';
import {
  characterAtOffset,
  characterCount,
  characterEnd,
  characters,
  isSimple,
  offsetOfCharacter,
} from '../../value/characters.ts';
import { readable, textOf } from '../../value/print.ts';
import { searchText, searchTextBack } from '../../base/search.ts';
import {
  integer,
  float,
  isKeyword,
  keyword,
  type Value,
  type BuiltinWork,
} from '../../value/value.ts';
import { vectorOf } from '../../value/vector.ts';
import { arg, expectCount, expectMap, expectText, fault, wrongType } from '../arguments/expect.ts';
import { flexibleGet } from '../arguments/lookup.ts';
import { itemsAt } from '../arguments/seqable.ts';
import { plain } from '../arguments/stepping.ts';

/** Whether `unit` is white space, by the rules of Java's `Character.isWhitespace`. */
function isBlankUnit(unit: number): boolean {
  return (
    (unit >= 0x09 && unit <= 0x0d) ||
    (unit >= 0x1c && unit <= 0x20) ||
    unit === 0x1680 ||
    (unit >= 0x2000 && unit <= 0x2006) ||
    (unit >= 0x2008 && unit <= 0x200a) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x205f ||
    unit === 0x3000
  );
}

/** The text of a value as `str` gives it, within the limit. */
export function toText(ctx: Context, value: Value): string {
  const text = textOf(value, ctx, ctx.limits.textUnits);
  checkText(ctx, text.length);
  return text;
}

/** Argument 0: text, or the text of any other value but nil. */
function receiver(ctx: Context, args: readonly Value[]): string {
  const value = arg(args, 0);
  if (value === null) throw wrongType(ctx, 0, 'text', value);
  if (typeof value !== 'string') return toText(ctx, value);
  ctx.charge(value.length >>> 4);
  return value;
}

/** `parts` with `between` between them, within the limit. */
export function joined(ctx: Context, parts: readonly string[], between: string): string {
  let length = 0;
  for (const part of parts) length += part.length + between.length;
  checkText(ctx, Math.max(0, length - between.length));
  return parts.join(between);
}

/** `text` without the units at its start or end, or both, that are `blank`. */
export function trimmed(
  text: string,
  start: boolean,
  end: boolean,
  blank: (unit: number) => boolean,
): string {
  let from = 0;
  let to = text.length;
  while (start && from < to && blank(text.charCodeAt(from))) from += 1;
  while (end && to > from && blank(text.charCodeAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

function trimming(
  start: boolean,
  end: boolean,
  blank: (unit: number) => boolean = isBlankUnit,
): BuiltinWork {
  return plain((ctx, args) => {
    const text = expectText(ctx, args, 0);
    ctx.charge(text.length >>> 4);
    return trimmed(text, start, end, blank);
  });
}

function casing(change: (text: string) => string): BuiltinWork {
  return plain((ctx, args) => {
    const changed = change(receiver(ctx, args));
    checkText(ctx, changed.length);
    return changed;
  });
}

function capitalized(text: string): string {
  const first = text.slice(0, text === '' ? 0 : characterEnd(text, 0));
  return first.toUpperCase() + text.slice(first.length).toLowerCase();
}

function subs(ctx: Context, args: readonly Value[]): Value {
  const text = expectText(ctx, args, 0);
  ctx.charge(text.length >>> 4);
  const start = expectCount(ctx, args, 1);
  if (!isSimple(text)) ctx.charge(text.length >>> 3);
  const size = isSimple(text) ? text.length : characterCount(text);
  const end = args.length > 2 ? Math.min(size, expectCount(ctx, args, 2)) : size;
  if (start < 0 || start >= end) return '';
  return text.slice(offsetOfCharacter(text, start), offsetOfCharacter(text, end));
}

/** The part that is searched for: argument 1. */
function partAt(ctx: Context, args: readonly Value[]): string {
  const part = expectText(ctx, args, 1);
  ctx.charge(part.length >>> 4);
  return part;
}

function searched(text: (whole: string, part: string) => boolean): BuiltinWork {
  return plain((ctx, args) => text(receiver(ctx, args), partAt(ctx, args)));
}

function indexOf(ctx: Context, args: readonly Value[]): Value {
  const text = receiver(ctx, args);
  const part = partAt(ctx, args);
  const from = args.length > 2 ? Math.max(0, expectCount(ctx, args, 2)) : 0;
  let at = searchText(text, part, offsetOfCharacter(text, from));
  while (at >= 0) {
    const index = characterAtOffset(text, at);
    if (index >= 0) return index;
    ctx.charge(1 + (at >>> 4));
    ctx.charge(part.length >>> 4);
    at = searchText(text, part, at + 1);
  }
  return null;
}

function lastIndexOf(ctx: Context, args: readonly Value[]): Value {
  const text = receiver(ctx, args);
  const part = partAt(ctx, args);
  const from = args.length > 2 ? expectCount(ctx, args, 2) : Infinity;
  if (from < 0) return null;
  const start = Number.isFinite(from) ? offsetOfCharacter(text, from) : text.length;
  let at = searchTextBack(text, part, start);
  while (at >= 0) {
    const index = characterAtOffset(text, at);
    if (index >= 0) return index;
    ctx.charge(1 + (at >>> 4));
    ctx.charge(part.length >>> 4);
    at = at === 0 ? -1 : searchTextBack(text, part, at - 1);
  }
  return null;
}

function join(ctx: Context, args: readonly Value[]): Value {
  const items = itemsAt(ctx, args, args.length - 1);
  const between = args.length > 1 ? toText(ctx, arg(args, 0)) : '';
  ctx.charge(items.length);
  const parts: string[] = [];
  let length = 0;
  for (const item of items) {
    const text = textOf(item, ctx, ctx.limits.textUnits);
    length += text.length + between.length;
    if (length > ctx.limits.textUnits + between.length) checkText(ctx, length);
    parts.push(text);
  }
  return joined(ctx, parts, between);
}

function escape(ctx: Context, args: readonly Value[]): Value {
  const text = expectText(ctx, args, 0);
  const map = expectMap(ctx, args, 1);
  ctx.charge(text.length >>> 3);
  const parts = characters(text).map((character) => {
    ctx.charge(2);
    const by = flexibleGet(ctx, map, character);
    return by === undefined || by === null ? character : textOf(by, ctx, ctx.limits.textUnits);
  });
  return joined(ctx, parts, '');
}

/** The text that can be the name of a keyword. */
export const KEYWORD_TEXT: RegExp = /^[A-Za-z][A-Za-z0-9_?!-]*$/;

function toKeyword(ctx: Context, args: readonly Value[]): Value {
  if (args.length === 2 && arg(args, 0) !== null) {
    throw fault(
      ctx,
      'runtime_error',
      'keywords have one plain name: the first of two arguments must be nil.',
    );
  }
  const value = arg(args, args.length - 1);
  if (value === null || isKeyword(value)) return value;
  if (typeof value !== 'string')
    throw fault(ctx, 'runtime_error', 'text, a keyword or nil is needed.');
  ctx.charge(value.length >>> 4);
  if (!KEYWORD_TEXT.test(value)) {
    throw fault(
      ctx,
      'runtime_error',
      `${readable(value.slice(0, 200), ctx)} cannot be the name of a keyword.`,
    );
  }
  return keyword(value);
}

function nameOf(ctx: Context, args: readonly Value[]): Value {
  const value = arg(args, 0);
  if (typeof value === 'string') return value;
  if (isKeyword(value)) return value.name;
  throw fault(
    ctx,
    'runtime_error',
    `a keyword or text has a name, got ${readable(value, ctx).slice(0, 200)}.`,
  );
}

/** The 64-bit integer that a text spells, or undefined. */
export function parseLong(text: string): number | bigint | undefined {
  if (text.length > 200 || !/^[+-]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  const limit = 1n << 63n;
  return value >= -limit && value < limit ? integer(value) : undefined;
}

const DOUBLE = /^[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?)$/;

const HEX_DOUBLE = /^([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?[0-9]{1,5})[fFdD]?$/;

/** The float of Java's hexadecimal spelling: `0x1.8p3` is 12. */
function hexDouble(text: string): number | undefined {
  const [, sign = '', whole = '', fraction = '', power = '0'] = HEX_DOUBLE.exec(text) ?? [];
  // A double has thirteen hexadecimal digits; more would have to be rounded.
  const digits = (whole + fraction).replace(/^0+(?=.)/, '');
  if (digits === '' || digits.length > 13) return undefined;
  const size = Number.parseInt(digits, 16) * 2 ** (Number(power) - 4 * fraction.length);
  return sign === '-' ? -size : size;
}

/** The double that a text spells, in Java's spellings, or undefined. */
export function parseDouble(text: string): number | undefined {
  const bare = trimmed(text, true, true, (unit) => unit <= 0x20);
  if (bare.length > 1_000) return undefined;
  if (!DOUBLE.test(bare)) return hexDouble(bare);
  return Number(bare.replace(/[fFdD]$/, (suffix) => (bare.endsWith('Infinity') ? suffix : '')));
}

function parsing(parse: (text: string) => Value | undefined): BuiltinWork {
  return plain((ctx, args) => {
    const text = expectText(ctx, args, 0);
    ctx.charge(text.length >>> 4);
    return parse(text) ?? null;
  });
}

const asLong: BuiltinWork = parsing(parseLong);
const isNewline = (unit: number): boolean => unit === 0x0a || unit === 0x0d;
const upper: BuiltinWork = casing((text) => text.toUpperCase());
const lower: BuiltinWork = casing((text) => text.toLowerCase());

/** The work of these builtins; those with patterns are in `patterns.ts`. */
export const TEXT_WORK: { readonly [name: string]: BuiltinWork } = Object.freeze({
  str: plain((ctx, args) => {
    // With `+=` the engine shares long parts; `join` would copy them.
    let whole = '';
    for (const value of args) {
      whole += textOf(value, ctx, ctx.limits.textUnits);
      if (whole.length > ctx.limits.textUnits) break;
    }
    checkText(ctx, whole.length);
    return whole;
  }),
  'pr-str': plain((ctx, args) =>
    joined(
      ctx,
      args.map((value) => readable(value, ctx, ctx.limits.textUnits)),
      ' ',
    ),
  ),
  subs: plain(subs),
  join: plain(join),
  'split-lines': plain((ctx, args) => {
    const text = expectText(ctx, args, 0);
    const lines = text.split(/\r?\n/);
    while (lines.length > 1 && lines[lines.length - 1] === '') lines.pop();
    checkCount(ctx, lines.length);
    ctx.charge(lines.length + (text.length >>> 4));
    return vectorOf(lines);
  }),
  trim: trimming(true, true),
  triml: trimming(true, false),
  trimr: trimming(false, true),
  'trim-newline': trimming(false, true, isNewline),
  'blank?': plain((ctx, args) => {
    if (arg(args, 0) === null) return true;
    const text = expectText(ctx, args, 0);
    ctx.charge(text.length >>> 4);
    return trimmed(text, true, false, isBlankUnit) === '';
  }),
  'upper-case': upper,
  upcase: upper,
  'lower-case': lower,
  downcase: lower,
  capitalize: casing(capitalized),
  'starts-with?': searched((whole, part) => whole.startsWith(part)),
  'ends-with?': searched((whole, part) => whole.endsWith(part)),
  'includes?': searched((whole, part) => searchText(whole, part) >= 0),
  'index-of': plain(indexOf),
  'last-index-of': plain(lastIndexOf),
  'str/reverse': plain((ctx, args) => {
    const text = expectText(ctx, args, 0);
    ctx.charge(1 + (text.length >>> 4));
    const found = characters(text);
    ctx.charge(found.length >>> 1);
    return found.toReversed().join('');
  }),
  'str/escape': plain(escape),
  name: plain(nameOf),
  keyword: plain(toKeyword),
  'parse-long': asLong,
  'parse-int': asLong,
  'parse-double': parsing((text) => {
    const value = parseDouble(text);
    return value === undefined ? undefined : float(value);
  }),
  'parse-boolean': parsing((text) =>
    text === 'true' ? true : text === 'false' ? false : undefined,
  ),
});
