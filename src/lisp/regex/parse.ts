/**
 * Parses a pattern to a tree. The grammar is the part of Java's that can be matched in linear time;
 * the rest, such as look-around and back references, is refused by name.
 */

import { withCommas } from '../base/with-commas.ts';
import { foldAsciiCase, negateRanges } from './char-set.ts';
import { parseClass, parseEscape } from './parse-escape.ts';
import {
  END,
  FLAG,
  QUOTED,
  accept,
  hasFlag,
  looksAt,
  openPattern,
  peek,
  refuse,
  showCode,
  skipComments,
  type PatternReader,
  type RegexFailure,
} from './pattern-reader.ts';
import { ASSERTION, LINE_BREAK_RANGES, type Assertion, type RegexNode } from './syntax.ts';

/** Greatest number of characters of a pattern. */
const MAX_PATTERN_CHARACTERS = 1000;
/** The greatest count in `{n,m}`. */
const MAX_REPEAT = 1000;

/** The tree of a pattern with the names of its groups, or the reason of a refusal. */
export type ParsedPattern =
  | {
      readonly kind: 'parsed';
      readonly node: RegexNode;
      /** By group number; `null` for the whole match at 0 and for groups without a name. */
      readonly groupNames: readonly (string | null)[];
    }
  | { readonly kind: 'refused'; readonly failure: RegexFailure };

/** Parses `source`. Never throws. */
export function parsePattern(source: string): ParsedPattern {
  const reader = openPattern(source);
  const length = countCodePoints(source);
  if (length > MAX_PATTERN_CHARACTERS) {
    refuse(reader, `A pattern has at most 1,000 characters, got ${withCommas(length)}.`, 0);
  }
  const node = parseChoice(reader);
  if (reader.failure === null && peek(reader) !== END) {
    refuse(reader, '`)` closes nothing. Write `\\)` for the sign.');
  }
  if (reader.failure !== null) return { kind: 'refused', failure: reader.failure };
  return { kind: 'parsed', node, groupNames: reader.groupNames };
}

function countCodePoints(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0xdc00 || unit >= 0xe000) count += 1;
  }
  return count;
}

/** `a|b|c`, up to a `)` or the end. Flags that are set inside end with it, as in Java. */
function parseChoice(reader: PatternReader): RegexNode {
  const flags = reader.flags;
  const items = [parseSequence(reader)];
  while (accept(reader, '|')) items.push(parseSequence(reader));
  reader.flags = flags;
  return items.length === 1 && items[0] !== undefined ? items[0] : { kind: 'choice', items };
}

function parseSequence(reader: PatternReader): RegexNode {
  const items: RegexNode[] = [];
  for (;;) {
    skipComments(reader);
    const code = peek(reader);
    if (code === END || code === 0x7c || code === 0x29) break;
    const atom = parseAtom(reader);
    if (atom !== null) items.push(parseQuantifier(reader, atom));
  }
  if (items.length === 0) return { kind: 'empty' };
  return items.length === 1 && items[0] !== undefined ? items[0] : { kind: 'sequence', items };
}

/** One item without its quantifier; `null` for flags such as `(?i)` and after a refusal. */
function parseAtom(reader: PatternReader): RegexNode | null {
  const code = peek(reader);
  const start = reader.index;
  reader.index += 1;
  switch (showSyntax(code)) {
    case '(':
      return parseGroup(reader);
    case '[':
      return { kind: 'set', ranges: parseClass(reader) };
    case '.':
      return {
        kind: 'set',
        ranges: negateRanges(hasFlag(reader, FLAG.DOT_ALL) ? [] : LINE_BREAK_RANGES),
      };
    case '^':
      return assertion(
        hasFlag(reader, FLAG.MULTI_LINE) ? ASSERTION.LINE_START : ASSERTION.TEXT_START,
      );
    case '$':
      return assertion(
        hasFlag(reader, FLAG.MULTI_LINE) ? ASSERTION.LINE_END : ASSERTION.LAST_LINE_END,
      );
    case '\\':
      return parseBackslash(reader);
    case '*':
    case '+':
    case '?':
      refuse(
        reader,
        `There is nothing to repeat before \`${showCode(code)}\`. Write \`\\${showCode(code)}\` for the sign.`,
        start,
      );
      return null;
    case '{':
      refuse(reader, '`{` repeats nothing here. Write `\\{` for the sign.', start);
      return null;
    default:
      return literal(reader, code & ~QUOTED);
  }
}

/** The text of a character; empty for a quoted one, which is never syntax. */
function showSyntax(code: number): string {
  return (code & QUOTED) === 0 ? showCode(code) : '';
}

function assertion(kind: Assertion): RegexNode {
  return { kind: 'assert', assertion: kind };
}

/** A literal character; with `(?i)` an ASCII letter in both cases. */
function literal(reader: PatternReader, code: number): RegexNode {
  if (hasFlag(reader, FLAG.IGNORE_CASE)) {
    const ranges = foldAsciiCase([code, code]);
    if (ranges.length > 2) return { kind: 'set', ranges };
  }
  return { kind: 'char', code };
}

/** An escape outside a class, after its backslash. */
function parseBackslash(reader: PatternReader): RegexNode | null {
  const edge = ASSERTIONS.get(showCode(peek(reader)));
  if (edge !== undefined) {
    reader.index += 1;
    return assertion(edge);
  }
  const escape = parseEscape(reader);
  if (escape === null) return null;
  if (escape.kind === 'char') return literal(reader, escape.code);
  return {
    kind: 'set',
    ranges: hasFlag(reader, FLAG.IGNORE_CASE) ? foldAsciiCase(escape.ranges) : escape.ranges,
  };
}

/** What an escape such as `\b` asserts, by its sign. */
const ASSERTIONS: ReadonlyMap<string, Assertion> = new Map([
  ['A', ASSERTION.TEXT_START],
  ['z', ASSERTION.TEXT_END],
  ['Z', ASSERTION.LAST_LINE_END],
  ['b', ASSERTION.WORD_EDGE],
  ['B', ASSERTION.NO_WORD_EDGE],
]);

/** A group or flags, after the `(`. */
function parseGroup(reader: PatternReader): RegexNode | null {
  const open = reader.index - 1;
  if (!accept(reader, '?')) return parseCapture(reader, null, open);
  const unsupported = UNSUPPORTED_GROUPS.find(([signs]) => looksAt(reader, signs));
  if (unsupported !== undefined) {
    refuse(reader, unsupported[1], open);
    return null;
  }
  if (accept(reader, ':')) return closeGroup(reader, open);
  if (accept(reader, '<')) {
    const name = readGroupName(reader);
    return name === null ? null : parseCapture(reader, name, open);
  }
  return parseFlags(reader, open);
}

/** Kinds of groups that are refused, by what follows the `(?`. */
const UNSUPPORTED_GROUPS: readonly (readonly [string, string])[] = [
  ['=', 'Look-ahead is not supported: `(?=`.'],
  ['!', 'Look-ahead is not supported: `(?!`.'],
  ['<=', 'Look-behind is not supported: `(?<=`.'],
  ['<!', 'Look-behind is not supported: `(?<!`.'],
  ['>', 'Atomic groups are not supported: `(?>`.'],
  ['(', 'Conditionals are not supported: `(?(`.'],
  ['P<', 'Write a named group as `(?<name>…)`, without the `P`.'],
];

function parseCapture(reader: PatternReader, name: string | null, open: number): RegexNode {
  const index = reader.groupNames.length;
  reader.groupNames.push(name);
  return { kind: 'group', index, item: closeGroup(reader, open) };
}

/** The content of a group, and its `)`. */
function closeGroup(reader: PatternReader, open: number): RegexNode {
  const item = parseChoice(reader);
  if (!accept(reader, ')')) refuse(reader, 'This group is not closed: `)` is missing.', open);
  return item;
}

/** The name of a group (a letter, then letters and digits), and its `>`. */
function readGroupName(reader: PatternReader): string | null {
  const start = reader.index;
  let name = '';
  while (isNameCode(peek(reader), name === '')) {
    name += showCode(peek(reader));
    reader.index += 1;
  }
  if (name === '' || !accept(reader, '>')) {
    refuse(reader, 'The name of a group is a letter, then letters and digits, then `>`.', start);
    return null;
  }
  if (reader.groupNames.includes(name)) {
    refuse(reader, `Two groups are named \`${name}\`.`, start);
    return null;
  }
  return name;
}

function isNameCode(code: number, first: boolean): boolean {
  return (
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    (!first && code >= 0x30 && code <= 0x39)
  );
}

/** `(?im)`, up to the end of the group around it, or `(?i: )`. A `-` turns flags off. */
function parseFlags(reader: PatternReader, open: number): RegexNode | null {
  const before = reader.flags;
  let flags = before;
  let turnOff = false;
  for (;;) {
    const code = peek(reader);
    reader.index += 1;
    const flag = FLAGS.get(showSyntax(code));
    if (flag !== undefined) flags = turnOff ? flags & ~flag : flags | flag;
    else if (code === 0x2d && !turnOff) turnOff = true;
    else if (code === 0x29) {
      reader.flags = flags;
      return null;
    } else if (code === 0x3a) {
      reader.flags = flags;
      const item = closeGroup(reader, open);
      reader.flags = before;
      return item;
    } else {
      refuse(reader, 'After `(?` come `:`, `<name>` or the flags `i m s x`.', open);
      return null;
    }
  }
}

/** The flags by their signs. */
const FLAGS: ReadonlyMap<string, number> = new Map([
  ['i', FLAG.IGNORE_CASE],
  ['m', FLAG.MULTI_LINE],
  ['s', FLAG.DOT_ALL],
  ['x', FLAG.COMMENTS],
]);

/** `item` with the quantifier after it, if there is one. */
function parseQuantifier(reader: PatternReader, item: RegexNode): RegexNode {
  skipComments(reader);
  const start = reader.index;
  const counts = readCounts(reader);
  if (counts === null) return item;
  const lazy = accept(reader, '?');
  if (!lazy && looksAt(reader, '+')) {
    refuse(reader, 'Possessive repetition is not supported: leave out the second sign.', start);
  }
  return { kind: 'repeat', item, min: counts.min, max: counts.max, lazy };
}

function readCounts(reader: PatternReader): { min: number; max: number } | null {
  if (accept(reader, '*')) return { min: 0, max: -1 };
  if (accept(reader, '+')) return { min: 1, max: -1 };
  if (accept(reader, '?')) return { min: 0, max: 1 };
  if (!looksAt(reader, '{')) return null;
  const start = reader.index;
  reader.index += 1;
  const min = readCount(reader);
  let max = min;
  if (min !== null && accept(reader, ',')) max = looksAt(reader, '}') ? -1 : readCount(reader);
  if (min === null || max === null || !accept(reader, '}')) {
    refuse(
      reader,
      'Expected a repeat count such as `{2}`, `{2,}` or `{2,5}`. Write `\\{` for the sign.',
      start,
    );
    return null;
  }
  if (min > MAX_REPEAT || max > MAX_REPEAT) {
    refuse(reader, 'A repeat count is at most 1,000.', start);
  } else if (max >= 0 && max < min) {
    refuse(reader, `The repeat counts \`{${min},${max}}\` are in the wrong order.`, start);
  }
  return { min, max };
}

/** A decimal count, or `null` without digits. A pattern is too short to overflow a double. */
function readCount(reader: PatternReader): number | null {
  let value: number | null = null;
  for (;;) {
    const code = peek(reader);
    if (code < 0x30 || code > 0x39) return value;
    value = Math.min((value ?? 0) * 10 + (code - 0x30), 1_000_000);
    reader.index += 1;
  }
}
