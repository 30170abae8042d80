/**
 * Regular expressions in linear time.
 *
 * A pattern is compiled to a program. Two matchers run the same program and give the same match:
 * `backtrack.ts` is fast on the short texts of nearly all searches, `simulate.ts` takes over on
 * long ones. Decision 120 says why the engine is our own.
 */

import { createBacktracker, tryAt } from './backtrack.ts';
import { compileNode } from './compile.ts';
import { parsePattern } from './parse.ts';
import { searchText } from '../base/search.ts';
import { OP, STRIDE, groupsOf, type Regex, type RegexMatch, type RegexSearch } from './program.ts';
import { simulate } from './simulate.ts';
import { matchSet, type CharSet } from './char-set.ts';

/** A regex, or the reason why the pattern is refused. */
export type CompiledRegex =
  | { readonly kind: 'regex'; readonly regex: Regex }
  | {
      readonly kind: 'bad_regex';
      /** What is wrong and, if there is an alternative, what to write instead. */
      readonly message: string;
      /** UTF-16 offset in the pattern. */
      readonly at: number;
    };

/** The program of a pattern. Never throws; at most 1,000 characters and 5,000 instructions. */
export function compileRegex(source: string): CompiledRegex {
  const parsed = parsePattern(source);
  if (parsed.kind === 'refused') return { kind: 'bad_regex', ...parsed.failure };
  const regex = compileNode(parsed.node, source, parsed.groupNames);
  if (regex === null) {
    const message = 'The pattern needs more than 5,000 instructions. Use smaller repeat counts.';
    return { kind: 'bad_regex', message, at: 0 };
  }
  return { kind: 'regex', regex };
}

/**
 * The leftmost match at or after `from`; alternatives are preferred in order, as in Java. In mode
 * `full`, only a match from `from` to the end of the text counts.
 *
 * Assertions see the whole text: `^` does not hold at a `from` above 0. `from` must not be inside a
 * surrogate pair, and no match begins there. Never throws. The work is at most program × text;
 * after `maxSteps` the search ends as `exhausted`.
 */
export function matchRegex(
  regex: Regex,
  text: string,
  from: number,
  mode: 'find' | 'full',
  maxSteps: number = Number.POSITIVE_INFINITY,
): RegexMatch {
  if (from < 0 || from > text.length) return { groups: null, steps: 1 };
  const full = mode === 'full';
  if (regex.literal !== null) return matchLiteral(regex.literal, text, from, full);
  if (regex.straight) return matchStraight(regex, text, from, full, maxSteps);
  const search: RegexSearch = { regex, text, from, full, maxSteps };
  const state = createBacktracker(search);
  let looked = from;
  let start = full ? from : nextStart(regex, text, from);
  while (start >= 0) {
    state.steps += (start - looked) >> 2;
    const end = tryAt(state, start);
    if (end === 'found') return { groups: groupsOf(state.slots), steps: state.steps };
    if (end === 'exhausted') return { groups: null, steps: state.steps, exhausted: true };
    if (end === 'overflow') return finishBySimulation(search, start, state.steps);
    looked = start + 1;
    start = full ? -1 : nextStart(regex, text, looked);
  }
  return { groups: null, steps: state.steps + 1 + (Math.max(0, text.length - looked) >> 2) };
}

/** A search for plain text. Sixteen units count as one step. */
function matchLiteral(literal: string, text: string, from: number, full: boolean): RegexMatch {
  const fits = full
    ? text.length - from === literal.length && text.startsWith(literal, from)
    : true;
  const start = fits ? (full ? from : searchText(text, literal, from)) : -1;
  const looked = (start < 0 ? text.length : start + literal.length) - from;
  const steps = 1 + ((full ? literal.length : looked) >> 4);
  if (start < 0) return { groups: null, steps };
  return { groups: [{ start, end: start + literal.length }], steps };
}

function finishBySimulation(search: RegexSearch, start: number, steps: number): RegexMatch {
  const result = simulate(search, start, steps);
  if (result.kind === 'found') return { groups: groupsOf(result.slots), steps: result.steps };
  if (result.kind === 'none') return { groups: null, steps: result.steps };
  return { groups: null, steps: result.steps, exhausted: true };
}

/** Compiling the smallest pattern, and each unit of its text. */
const COMPILE_COST = 20;
const COMPILE_COST_PER_UNIT = 10;

/** Units of fuel for reading a pattern of that many units. */
export function readCost(length: number): number {
  return COMPILE_COST + length * COMPILE_COST_PER_UNIT;
}

/**
 * Units of fuel for a compiled pattern: its instructions, and a quarter of the ranges of its sets.
 */
export function regexSize(regex: Regex): number {
  const ranges = regex.sets.reduce((sum, set) => sum + set.wide.length, 0);
  return regex.code.length / STRIDE + (ranges >>> 2);
}

/**
 * `matchRegex` for a program without alternatives, such as `\d+`, `,\s*` and `[a-f]{6}`. It has no
 * state to set up, since programs search for such patterns thousands of times in a row. A run is
 * only at the end, where nothing can fail after it. So a start that fails costs at most the length
 * of the program.
 */
function matchStraight(
  regex: Regex,
  text: string,
  from: number,
  full: boolean,
  maxSteps: number,
): RegexMatch {
  let steps = 1;
  let looked = from;
  let start = full ? from : nextStart(regex, text, from);
  while (start >= 0) {
    const end = matchFrom(regex, text, start);
    steps += ((start - looked) >> 2) + (end < 0 ? regex.code.length / STRIDE : end - start);
    if (steps > maxSteps) return { groups: null, steps, exhausted: true };
    if (end >= 0 && (!full || end === text.length)) return { groups: [{ start, end }], steps };
    looked = start + 1;
    start = full ? -1 : nextStart(regex, text, looked);
  }
  return { groups: null, steps: steps + (Math.max(0, text.length - looked) >> 2) };
}

/** The end of the match that begins at `start`, or -1. */
function matchFrom(regex: Regex, text: string, start: number): number {
  const { code, sets } = regex;
  let place = start;
  for (let at = 0; ; at += STRIDE) {
    const op = code[at];
    const operand = code[at + 1] as number;
    if (op === OP.UNIT) {
      if (place >= text.length || text.charCodeAt(place) !== operand) return -1;
      place += 1;
    } else if (op === OP.SET) {
      const width = matchSet(sets[operand] as CharSet, text, place);
      if (width === 0) return -1;
      place += width;
    } else {
      return op === OP.ATOMIC_RUN ? endOfRun(sets[operand] as CharSet, text, place) : place;
    }
  }
}

function endOfRun(set: CharSet, text: string, start: number): number {
  let place = start;
  for (;;) {
    const width = matchSet(set, text, place);
    if (width === 0) return place;
    place += width;
  }
}

/**
 * The next place from `from` on where a match can begin, or -1. The caller counts one step for
 * every four skipped units.
 */
function nextStart(regex: Regex, text: string, from: number): number {
  if (regex.anchored) return from === 0 ? 0 : -1;
  if (regex.prefix !== '') return searchText(text, regex.prefix, from);
  let start = isInsidePair(text, from) ? from + 1 : from;
  if (regex.first === null) return start <= text.length ? start : -1;
  while (start < text.length) {
    if (matchSet(regex.first, text, start) > 0) return start;
    start += isInsidePair(text, start + 1) ? 2 : 1;
  }
  return -1;
}

function isInsidePair(text: string, place: number): boolean {
  if (place <= 0 || place >= text.length) return false;
  const unit = text.charCodeAt(place);
  if (unit < 0xdc00 || unit > 0xdfff) return false;
  const before = text.charCodeAt(place - 1);
  return before >= 0xd800 && before < 0xdc00;
}
