/**
 * The sets of characters of ECMAScript: `\d`, `\s`, `\w`, `.`, and `\p{…}`, whose members are asked
 * from V8, one property at a time. A match of one character cannot backtrack.
 */
import { LRUCache } from 'lru-cache';
import { normalizeRanges, type Ranges } from '../../lisp/regex/char-set.ts';
import { DIGIT_RANGES, WORD_RANGES } from '../../lisp/regex/syntax.ts';

/** `\s`: white space and line ends. */
const SPACE_RANGES: Ranges = [
  0x09, 0x0d, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f,
  0x202f, 0x205f, 0x205f, 0x3000, 0x3000, 0xfeff, 0xfeff,
];

/** What `.` does not match. */
export const LINE_END_RANGES: Ranges = [0x0a, 0x0a, 0x0d, 0x0d, 0x2028, 0x2029];

/** The sets of `\d`, `\s` and `\w`, by letter. */
export const LETTER_SETS: ReadonlyMap<string, Ranges> = new Map([
  ['d', DIGIT_RANGES],
  ['s', SPACE_RANGES],
  ['w', WORD_RANGES],
]);

/** Properties that stay known; a pattern names few. */
const MAX_KNOWN = 64;

const known = new LRUCache<string, Ranges>({ max: MAX_KNOWN });

/** All code points in four parts, inside each of which no two surrogates make a pair. */
const PARTS: readonly (readonly [from: number, to: number])[] = [
  [0, 0xd7ff],
  [0xd800, 0xdbff],
  [0xdc00, 0xdfff],
  [0xe000, 0x10ffff],
];

/** The members of `\p{property}`. Takes some 20 ms when the property is new. */
export function propertySet(property: string): Ranges {
  const found = known.get(property);
  if (found !== undefined) return found;
  const runs = new RegExp(`\\p{${property}}+`, 'gu');
  const pairs: number[] = [];
  for (const [from, to] of PARTS) {
    const text = textOf(from, to);
    for (const { 0: run, index } of text.matchAll(runs)) {
      const first = run.codePointAt(0) ?? 0;
      const end = text.codePointAt(index + run.length);
      pairs.push(first, end === undefined ? to : end - 1);
    }
  }
  const ranges = normalizeRanges(pairs);
  known.set(property, ranges);
  return ranges;
}

function textOf(from: number, to: number): string {
  const pieces: string[] = [];
  const step = 4_096;
  for (let start = from; start <= to; start += step) {
    const length = Math.min(step, to - start + 1);
    pieces.push(String.fromCodePoint(...Array.from({ length }, (_, index) => start + index)));
  }
  return pieces.join('');
}
