/**
 * Reads an ECMAScript pattern that V8 has accepted with the flag `u`, or that comes from a library
 * and has no flag or `i`. What V8 refuses is refused before; here only what costs too much is.
 *
 * I1  The tree is at most `MAX_DEPTH` deep, so recursion over it is safe.
 */
import {
  foldAsciiCase,
  negateRanges,
  normalizeRanges,
  type Ranges,
} from '../../lisp/regex/char-set.ts';
import { ASSERTION } from '../../lisp/regex/syntax.ts';
import { LETTER_SETS, LINE_END_RANGES, propertySet } from './pattern-sets.ts';
import { PatternError, type PatternNode, type PatternTree } from './pattern-tree.ts';

/** Groups inside each other. */
const MAX_DEPTH = 100;

/** Different properties of one pattern, since each is looked up in all of Unicode. */
const MAX_PROPERTIES = 20;

interface Reader {
  readonly source: string;
  readonly ignoresCase: boolean;
  /** The numbers of the groups of each name; two alternatives may use one name. */
  readonly names: ReadonlyMap<string, readonly number[]>;
  readonly properties: Set<string>;
  index: number;
  groups: number;
  depth: number;
  isIrregular: boolean;
  refersBack: boolean;
}

/** The tree of `source`. Throws a {@link PatternError} for what is not supported. */
export function parsePattern(source: string, ignoresCase: boolean): PatternTree {
  const r: Reader = {
    source,
    ignoresCase,
    names: groupNames(source),
    properties: new Set(),
    index: 0,
    groups: 0,
    depth: 0,
    isIrregular: false,
    refersBack: false,
  };
  const root = parseChoice(r);
  if (r.index < source.length) throw new PatternError('a pattern whose groups are closed');
  const { groups: groupCount, isIrregular, refersBack } = r;
  return { root, groupCount, isIrregular, refersBack };
}

/** The numbers of named groups. A reference may come before its group. */
function groupNames(source: string): ReadonlyMap<string, readonly number[]> {
  const names = new Map<string, number[]>();
  let count = 0;
  // A bracket inside a class, and whatever is escaped, opens no group.
  for (const [piece, name] of source.matchAll(
    /\\[^]|\[(?:\\[^]|[^\]\\])*\]|\((?:\?<(?![=!])([^>]*)>)?(?!\?)/g,
  )) {
    if (!piece.startsWith('(')) continue;
    count += 1;
    if (name !== undefined) names.set(name, [...(names.get(name) ?? []), count]);
  }
  return names;
}

function parseChoice(r: Reader): PatternNode {
  const items = [parseSequence(r)];
  while (take(r, '|')) items.push(parseSequence(r));
  const [only] = items;
  return items.length === 1 && only !== undefined ? only : { kind: 'choice', items };
}

function parseSequence(r: Reader): PatternNode {
  const items: PatternNode[] = [];
  for (;;) {
    const sign = r.source.charAt(r.index);
    if (sign === '' || sign === '|' || sign === ')') break;
    const from = r.groups;
    items.push(quantified(r, parseAtom(r), from + 1));
  }
  const [only] = items;
  if (only === undefined) return { kind: 'empty' };
  return items.length === 1 ? only : { kind: 'sequence', items };
}

function parseAtom(r: Reader): PatternNode {
  const code = nextCode(r);
  switch (code) {
    case 0x28:
      return parseGroup(r);
    case 0x5b:
      return { kind: 'set', ranges: parseClass(r) };
    case 0x2e:
      return { kind: 'set', ranges: negateRanges(LINE_END_RANGES) };
    case 0x5e:
      return { kind: 'assert', assertion: ASSERTION.TEXT_START };
    case 0x24:
      return { kind: 'assert', assertion: ASSERTION.TEXT_END };
    case 0x5c:
      return parseEscape(r);
    default:
      return character(r, code);
  }
}

function parseGroup(r: Reader): PatternNode {
  if (!take(r, '?')) return capture(r);
  if (take(r, ':')) return inner(r);
  for (const [sign, behind, negative] of LOOKS) {
    if (!take(r, sign)) continue;
    r.isIrregular = true;
    return { kind: 'look', behind, negative, item: inner(r) };
  }
  if (take(r, '<')) {
    const end = r.source.indexOf('>', r.index);
    r.index = end + 1;
    return capture(r);
  }
  throw new PatternError('a pattern without flags in a group, such as `(?i:`');
}

const LOOKS = [
  ['=', false, false],
  ['!', false, true],
  ['<=', true, false],
  ['<!', true, true],
] as const;

function capture(r: Reader): PatternNode {
  r.groups += 1;
  const index = r.groups;
  return { kind: 'group', index, item: inner(r) };
}

/** The content of a group, and its `)`. */
function inner(r: Reader): PatternNode {
  r.depth += 1;
  if (r.depth > MAX_DEPTH) {
    throw new PatternError(`a pattern with at most ${MAX_DEPTH} groups inside each other`);
  }
  const item = parseChoice(r);
  r.depth -= 1;
  if (!take(r, ')')) throw new PatternError('a pattern whose groups are closed');
  return item;
}

/** `item` with the quantifier after it; `from` is the number of its first capturing group. */
function quantified(r: Reader, item: PatternNode, from: number): PatternNode {
  const counts = quantifier(r);
  if (counts === undefined) return item;
  const lazy = take(r, '?');
  return { kind: 'repeat', item, ...counts, lazy, groups: [from, r.groups + 1] };
}

function quantifier(r: Reader): { readonly min: number; readonly max: number } | undefined {
  if (take(r, '*')) return { min: 0, max: -1 };
  if (take(r, '+')) return { min: 1, max: -1 };
  if (take(r, '?')) return { min: 0, max: 1 };
  COUNTS.lastIndex = r.index;
  const found = COUNTS.exec(r.source);
  if (found === null) return undefined;
  r.index = COUNTS.lastIndex;
  const [, least = '0', comma, most = ''] = found;
  const min = Number(least);
  return { min, max: comma === undefined ? min : most === '' ? -1 : Number(most) };
}

const COUNTS = /\{(\d+)(?:(,)(\d*))?\}/y;

/** An escape outside a class, after its backslash. */
function parseEscape(r: Reader): PatternNode {
  const sign = r.source.charAt(r.index);
  if (sign === 'b' || sign === 'B') {
    r.index += 1;
    const assertion = sign === 'b' ? ASSERTION.WORD_EDGE : ASSERTION.NO_WORD_EDGE;
    return { kind: 'assert', assertion };
  }
  if (sign === 'k' && r.names.size > 0) {
    const end = r.source.indexOf('>', r.index);
    const name = r.source.slice(r.index + 2, end);
    r.index = end + 1;
    return reference(r, r.names.get(name) ?? []);
  }
  BACK.lastIndex = r.index;
  const [digits] = BACK.exec(r.source) ?? [];
  if (digits !== undefined) {
    r.index += digits.length;
    return reference(r, [Number(digits)]);
  }
  const escaped = readEscape(r);
  return typeof escaped === 'number'
    ? character(r, escaped)
    : { kind: 'set', ranges: folded(r, escaped) };
}

const BACK = /[1-9]\d*/y;

function reference(r: Reader, groups: readonly number[]): PatternNode {
  r.isIrregular = true;
  r.refersBack = true;
  return { kind: 'back', groups };
}

/** An escape of one character or a set, after its backslash. */
function readEscape(r: Reader): number | Ranges {
  const code = nextCode(r);
  const letter = String.fromCodePoint(code);
  const set = LETTER_SETS.get(letter.toLowerCase());
  if (set !== undefined) return letter === letter.toLowerCase() ? set : negateRanges(set);
  const control = CONTROLS.get(letter);
  if (control !== undefined) return control;
  switch (letter) {
    case 'c':
      return nextCode(r) % 32;
    case 'x':
      return digits(r, 2);
    case 'u':
      return unicodeEscape(r);
    case 'p':
    case 'P': {
      const end = r.source.indexOf('}', r.index);
      const ranges = property(r, r.source.slice(r.index + 1, end));
      r.index = end + 1;
      return letter === 'p' ? ranges : negateRanges(ranges);
    }
    default:
      return code;
  }
}

const CONTROLS: ReadonlyMap<string, number> = new Map([
  ['t', 0x09],
  ['n', 0x0a],
  ['v', 0x0b],
  ['f', 0x0c],
  ['r', 0x0d],
  ['0', 0],
]);

function property(r: Reader, name: string): Ranges {
  r.properties.add(name);
  if (r.properties.size > MAX_PROPERTIES) {
    throw new PatternError(`a pattern with at most ${MAX_PROPERTIES} different \`\\p{…}\``);
  }
  return propertySet(name);
}

function unicodeEscape(r: Reader): number {
  if (take(r, '{')) {
    const end = r.source.indexOf('}', r.index);
    const code = parseInt(r.source.slice(r.index, end), 16);
    r.index = end + 1;
    return code;
  }
  const high = digits(r, 4);
  if (high < 0xd800 || high > 0xdbff || !r.source.startsWith('\\u', r.index)) return high;
  const low = parseInt(r.source.slice(r.index + 2, r.index + 6), 16);
  // Two escapes of a pair are one character; any other escape stands for itself.
  if (!(low >= 0xdc00 && low <= 0xdfff)) return high;
  r.index += 6;
  return ((high - 0xd800) << 10) + (low - 0xdc00) + 0x10000;
}

function digits(r: Reader, count: number): number {
  const code = parseInt(r.source.slice(r.index, r.index + count), 16);
  r.index += count;
  return code;
}

/** The members of a class, after its `[`. */
function parseClass(r: Reader): Ranges {
  const isNegated = take(r, '^');
  const pairs: number[] = [];
  while (!take(r, ']')) {
    const low = classMember(r);
    const isRange = r.source.charAt(r.index) === '-' && r.source.charAt(r.index + 1) !== ']';
    if (typeof low !== 'number') {
      pairs.push(...low);
    } else if (isRange) {
      r.index += 1;
      const high = classMember(r);
      if (typeof high === 'number') pairs.push(low, high);
      else pairs.push(low, low, 0x2d, 0x2d, ...high);
    } else {
      pairs.push(low, low);
    }
  }
  const ranges = folded(r, normalizeRanges(pairs));
  return isNegated ? negateRanges(ranges) : ranges;
}

function classMember(r: Reader): number | Ranges {
  const code = nextCode(r);
  if (code !== 0x5c) return code;
  if (r.source.charAt(r.index) !== 'b') return readEscape(r);
  r.index += 1;
  return 0x08;
}

function character(r: Reader, code: number): PatternNode {
  return { kind: 'set', ranges: folded(r, [code, code]) };
}

function folded(r: Reader, ranges: Ranges): Ranges {
  return r.ignoresCase ? foldAsciiCase(ranges) : ranges;
}

function nextCode(r: Reader): number {
  const code = r.source.codePointAt(r.index);
  if (code === undefined) throw new PatternError('a pattern that is complete');
  r.index += code > 0xffff ? 2 : 1;
  return code;
}

function take(r: Reader, sign: string): boolean {
  if (!r.source.startsWith(sign, r.index)) return false;
  r.index += sign.length;
  return true;
}
