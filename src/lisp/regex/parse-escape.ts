/** Parses escapes and `[…]` classes, which match one character of the text. */

import {
  MAX_CODE_POINT,
  foldAsciiCase,
  negateRanges,
  normalizeRanges,
  type Ranges,
} from './char-set.ts';
import {
  END,
  FLAG,
  QUOTED,
  accept,
  hasFlag,
  looksAt,
  peek,
  refuse,
  showCode,
  skipComments,
  type PatternReader,
} from './pattern-reader.ts';
import { DIGIT_RANGES, SPACE_RANGES, WORD_RANGES } from './syntax.ts';
import { PROPERTY_NAMES, propertyRanges } from './unicode.ts';

/** One character, or a set of them. */
export type Escape =
  | { readonly kind: 'char'; readonly code: number }
  | { readonly kind: 'set'; readonly ranges: Ranges };

/** What an escape of one sign stands for. */
const ESCAPES: ReadonlyMap<string, Escape> = new Map<string, Escape>([
  ['d', { kind: 'set', ranges: DIGIT_RANGES }],
  ['D', { kind: 'set', ranges: negateRanges(DIGIT_RANGES) }],
  ['w', { kind: 'set', ranges: WORD_RANGES }],
  ['W', { kind: 'set', ranges: negateRanges(WORD_RANGES) }],
  ['s', { kind: 'set', ranges: SPACE_RANGES }],
  ['S', { kind: 'set', ranges: negateRanges(SPACE_RANGES) }],
  ['t', { kind: 'char', code: 0x09 }],
  ['n', { kind: 'char', code: 0x0a }],
  ['r', { kind: 'char', code: 0x0d }],
  ['f', { kind: 'char', code: 0x0c }],
]);

/** Reads an escape after its backslash. Returns `null` after a refusal. */
export function parseEscape(reader: PatternReader): Escape | null {
  const start = reader.index - 1;
  const code = peek(reader);
  if (code === END) return refuseEscape(reader, 'The pattern ends in a lone backslash.', start);
  reader.index += 1;
  const sign = showCode(code);
  const known = ESCAPES.get(sign);
  if (known !== undefined) return known;
  switch (sign) {
    case 'p':
    case 'P':
      return parseProperty(reader, sign === 'P', start);
    case 'x':
      return parseHex(reader, start);
    case 'u':
      return parseUnicode(reader, start);
    default:
      return isAsciiAlphanumeric(code)
        ? refuseEscape(reader, explainEscape(sign), start)
        : { kind: 'char', code };
  }
}

function refuseEscape(reader: PatternReader, message: string, index: number): null {
  refuse(reader, message, index);
  return null;
}

function explainEscape(sign: string): string {
  if (sign >= '1' && sign <= '9') return `Back-references are not supported: \`\\${sign}\`.`;
  if (sign === 'k') return 'Back-references are not supported: `\\k`.';
  if (sign === 'E') return '`\\E` ends a quotation that no `\\Q` began.';
  if (sign === 'b' || sign === 'B' || sign === 'A' || sign === 'z' || sign === 'Z') {
    return `\`\\${sign}\` cannot stand in a class.`;
  }
  return `\`\\${sign}\` is not supported. To match the character itself, write it without the backslash.`;
}

function isAsciiAlphanumeric(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a)
  );
}

/** `\p{Name}`, or one letter without braces, as Java reads `\pL`. */
function parseProperty(reader: PatternReader, negated: boolean, start: number): Escape | null {
  let name = '';
  if (accept(reader, '{')) {
    while (peek(reader) !== END && !looksAt(reader, '}')) {
      name += showCode(peek(reader));
      reader.index += 1;
    }
    if (!accept(reader, '}')) {
      return refuseEscape(reader, 'The braces after `\\p` are not closed.', start);
    }
  } else {
    name = showCode(peek(reader));
    reader.index += 1;
  }
  const ranges = propertyRanges(name);
  if (ranges === null) {
    return refuseEscape(
      reader,
      `There is no property \`${name}\`. Properties: ${PROPERTY_NAMES.replaceAll(' ', ', ')}.`,
      start,
    );
  }
  return { kind: 'set', ranges: negated ? negateRanges(ranges) : ranges };
}

/** `\xHH` and `\x{H…}`. */
function parseHex(reader: PatternReader, start: number): Escape | null {
  const braces = accept(reader, '{');
  const code = readHex(reader, braces ? 8 : 2);
  const closed = !braces || accept(reader, '}');
  if (code === null || !closed || code > MAX_CODE_POINT) {
    return refuseEscape(reader, 'Expected two hex digits after `\\x`, or `\\x{…}`.', start);
  }
  return checkHalf(reader, code, start);
}

/** `\uHHHH`. Two that are the halves of a surrogate pair are one character, as in Java. */
function parseUnicode(reader: PatternReader, start: number): Escape | null {
  const code = readHex(reader, 4);
  if (code === null) {
    return refuseEscape(reader, 'Expected four hex digits after `\\u`.', start);
  }
  if (code >= 0xd800 && code < 0xdc00 && looksAt(reader, '\\u')) {
    const behind = reader.index;
    reader.index += 2;
    const low = readHex(reader, 4);
    if (low !== null && low >= 0xdc00 && low < 0xe000) {
      return { kind: 'char', code: ((code - 0xd800) << 10) + (low - 0xdc00) + 0x10000 };
    }
    reader.index = behind;
  }
  return checkHalf(reader, code, start);
}

/** Refuses a lone surrogate: text is well-formed, so it could never match. */
function checkHalf(reader: PatternReader, code: number, start: number): Escape | null {
  if (code >= 0xd800 && code < 0xe000) {
    return refuseEscape(reader, 'This is one half of a surrogate pair: write both halves.', start);
  }
  return { kind: 'char', code };
}

/** Exactly `count` hex digits, or up to `count` before a brace; `null` when there are none. */
function readHex(reader: PatternReader, count: number): number | null {
  let value = 0;
  let digits = 0;
  while (digits < count) {
    const digit = hexDigit(peek(reader));
    if (digit < 0) break;
    value = value * 16 + digit;
    digits += 1;
    reader.index += 1;
  }
  if (digits === 0 || (count <= 4 && digits < count)) return null;
  return value;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  if (code >= 0x41 && code <= 0x46) return code - 0x41 + 10;
  return code >= 0x61 && code <= 0x66 ? code - 0x61 + 10 : -1;
}

/**
 * Reads a class after its `[`. As in Java, a `]` at its start (or after `^`) is a character, and so
 * is a `-` that makes no range.
 */
export function parseClass(reader: PatternReader): Ranges {
  const open = reader.index - 1;
  const negated = accept(reader, '^');
  let ranges: number[] = [];
  let first = true;
  for (;;) {
    skipComments(reader);
    const code = peek(reader);
    if (code === END) {
      refuse(reader, 'This class is not closed: `]` is missing.', open);
      return [];
    }
    if (code === 0x5d && !first) break;
    ranges = ranges.concat(parseClassItem(reader));
    first = false;
  }
  reader.index += 1;
  const normal = normalizeRanges(ranges);
  const folded = hasFlag(reader, FLAG.IGNORE_CASE) ? foldAsciiCase(normal) : normal;
  return negated ? negateRanges(folded) : folded;
}

/** One character, escape or range inside a class. */
function parseClassItem(reader: PatternReader): Ranges {
  const start = reader.index;
  const low = parseClassAtom(reader);
  if (low === null) return [];
  skipComments(reader);
  const ahead = peek(reader, 1);
  const isRange = looksAt(reader, '-') && ahead !== 0x5d && ahead !== END && low.kind === 'char';
  if (!isRange) return low.kind === 'char' ? [low.code, low.code] : low.ranges;
  reader.index += 1;
  skipComments(reader);
  const high = parseClassAtom(reader);
  if (high === null) return [];
  if (high.kind === 'set') {
    refuse(reader, 'A range cannot end in a set of characters. Write `\\-` for the sign.', start);
    return [];
  }
  if (high.code < low.code) {
    const range = `${showCode(low.code)}-${showCode(high.code)}`;
    refuse(reader, `The range \`${range}\` is in the wrong order.`, start);
    return [];
  }
  return [low.code, high.code];
}

function parseClassAtom(reader: PatternReader): Escape | null {
  const code = peek(reader);
  if (looksAt(reader, '&&')) {
    return refuseEscape(
      reader,
      'Class intersection is not supported: `&&`. Write `\\&` for the sign.',
      reader.index,
    );
  }
  if (code === 0x5b) {
    return refuseEscape(
      reader,
      'A class inside a class is not supported. Write `\\[` for the sign.',
      reader.index,
    );
  }
  reader.index += 1;
  if (code === 0x5c) return parseEscape(reader);
  return { kind: 'char', code: code & ~QUOTED };
}
