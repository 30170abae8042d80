/**
 * Facts about a program that make matching faster: where a match can begin, which runs never need
 * to give characters back, and which instructions need a memo number.
 *
 * No fact changes a match; property tests compare with a matcher that uses none of them.
 */

import {
  MAX_CODE_POINT,
  normalizeRanges,
  rangesMeet,
  rangesWithin,
  type Ranges,
} from './char-set.ts';
import { OP, STRIDE } from './program.ts';
import { ASSERTION, LINE_BREAK_RANGES, WORD_RANGES } from './syntax.ts';

/** A program during compilation: instructions and the ranges of their sets. */
export interface DraftProgram {
  readonly code: number[];
  readonly ranges: Ranges[];
}

/** See the fields of the same names in `Regex`. */
export interface ProgramFacts {
  readonly memoCount: number;
  readonly prefix: string;
  readonly literal: string | null;
  readonly straight: boolean;
  readonly first: Ranges | null;
  readonly anchored: boolean;
}

/** Finds the facts. Also sets memo numbers and improves run instructions in `draft`. */
export function analyzeProgram(draft: DraftProgram): ProgramFacts {
  for (let at = 0; at < draft.code.length; at += STRIDE) improveRun(draft, at);
  const ahead = lookAhead(draft, 0, () => false);
  const pastStart = lookAhead(draft, 0, (assertion) => assertion === ASSERTION.TEXT_START);
  return {
    ...readPrefix(draft),
    straight: isStraight(draft),
    memoCount: numberMemos(draft),
    first: ahead.match === 'no' ? ahead.ranges : null,
    anchored: pastStart.match === 'no' && pastStart.ranges.length === 0,
  };
}

/** What an instruction leads to before the next character is taken. */
interface Ahead {
  /** The characters that can be taken next. */
  readonly ranges: Ranges;
  /** Whether the program can end here: yes, only after an assertion, or not at all. */
  readonly match: 'no' | 'guarded' | 'plain';
}

/** After so many instructions `lookAhead` returns that any character can follow. */
const MAX_LOOK_AHEAD = 100;

/** Follows instructions that take no character. Paths through a `closed` assertion are skipped. */
function lookAhead(
  draft: DraftProgram,
  start: number,
  closed: (assertion: number) => boolean,
): Ahead {
  const { code } = draft;
  const parts: Ranges[] = [];
  let match: Ahead['match'] = 'no';
  // Each instruction is visited at most twice: with and without an assertion before it.
  const seen = new Set<number>();
  const open = [start * 2];
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    if (seen.has(item)) continue;
    seen.add(item);
    if (seen.size > MAX_LOOK_AHEAD) return { ranges: [0, MAX_CODE_POINT], match: 'plain' };
    const guarded = item & 1;
    const pc = item >> 1;
    const at = pc * STRIDE;
    const operand = code[at + 1] ?? 0;
    switch (code[at]) {
      case OP.MATCH:
        if (guarded === 0) match = 'plain';
        else if (match === 'no') match = 'guarded';
        break;
      case OP.UNIT:
        parts.push(rangesOfUnit(operand));
        break;
      case OP.SET:
        parts.push(draft.ranges[operand] ?? []);
        break;
      case OP.SPLIT:
        open.push(operand * 2 + guarded, (code[at + 2] ?? 0) * 2 + guarded);
        break;
      case OP.JUMP:
        open.push(operand * 2 + guarded);
        break;
      case OP.SAVE:
        open.push((pc + 1) * 2 + guarded);
        break;
      case OP.ASSERT:
        if (!closed(operand)) open.push((pc + 1) * 2 + 1);
        break;
      default:
        // A run can be empty.
        parts.push(draft.ranges[operand] ?? []);
        open.push((pc + 1) * 2 + guarded);
    }
  }
  const only = parts.length === 1 ? parts[0] : undefined;
  return { ranges: only ?? normalizeRanges(parts.flat()), match };
}

/** The characters that begin with `unit`. A high surrogate begins 1,024 of them. */
function rangesOfUnit(unit: number): Ranges {
  if (unit < 0xd800 || unit > 0xdfff) return [unit, unit];
  if (unit >= 0xdc00) return [0x10000, MAX_CODE_POINT];
  const lo = 0x10000 + ((unit - 0xd800) << 10);
  return [lo, lo + 0x3ff];
}

/**
 * Makes a run atomic when a shorter run can never match; else sets the characters that can follow.
 *
 * A greedy run stops before a character outside its set, or at the end. If it stopped earlier, the
 * next character would be in the set. So when nothing that can follow begins with a character of
 * the set, a shorter run never matches. A program that ends right after the run also ends after the
 * longest run, unless an assertion holds only at the earlier place. A lazy run whose follower
 * cannot begin with a character of its set has one possible end, the same as a greedy run.
 */
function improveRun(draft: DraftProgram, at: number): void {
  const { code } = draft;
  const op = code[at];
  if (op !== OP.RUN && op !== OP.LAZY_RUN) return;
  const pc = at / STRIDE;
  const set = draft.ranges[code[at + 1] ?? 0] ?? [];
  const behind = followsOwnSet(draft, at);
  const ahead = lookAhead(draft, pc + 1, (assertion) => failsInside(assertion, set, behind));
  const canEnd = op === OP.RUN ? ahead.match === 'guarded' : ahead.match !== 'no';
  if (!canEnd && !rangesMeet(set, ahead.ranges)) {
    code[at] = OP.ATOMIC_RUN;
    return;
  }
  const all = lookAhead(draft, pc + 1, () => false);
  if (all.match === 'no') code[at + 2] = draft.ranges.push(all.ranges) - 1;
}

/** Whether the run is part of `x+`: a character of its set is before each of its ends. */
function followsOwnSet(draft: DraftProgram, at: number): boolean {
  const { code } = draft;
  const before = code[at - STRIDE];
  const operand = code[at - STRIDE + 1] ?? -1;
  if (before === OP.SET) return operand === code[at + 1];
  const set = draft.ranges[code[at + 1] ?? 0] ?? [];
  return before === OP.UNIT && set.length === 2 && set[0] === operand && set[1] === operand;
}

/**
 * Whether the assertion is false at all ends of a run of `set` but the longest. A character of the
 * set follows such an end and, with `behind`, is before it.
 */
function failsInside(assertion: number, set: Ranges, behind: boolean): boolean {
  switch (assertion) {
    case ASSERTION.TEXT_END:
      return true;
    case ASSERTION.LAST_LINE_END:
    case ASSERTION.LINE_END:
      return !rangesMeet(set, LINE_BREAK_RANGES);
    case ASSERTION.WORD_EDGE:
      return behind && rangesWithin(set, WORD_RANGES);
    default:
      return false;
  }
}

/** The text that every match begins with, and the text of a pattern that is plain text. */
function readPrefix(draft: DraftProgram): { prefix: string; literal: string | null } {
  const { code } = draft;
  let prefix = '';
  let plain = true;
  for (let at = 0; ; at += STRIDE) {
    const op = code[at];
    if (op === OP.UNIT) prefix += String.fromCharCode(code[at + 1] ?? 0);
    else if (op === OP.SAVE || op === OP.ASSERT) plain = false;
    else return { prefix, literal: plain && op === OP.MATCH && prefix !== '' ? prefix : null };
  }
}

/** Whether the program has no alternatives. */
function isStraight(draft: DraftProgram): boolean {
  const { code } = draft;
  let at = 0;
  while (code[at] === OP.UNIT || code[at] === OP.SET) at += STRIDE;
  if (code[at] === OP.ATOMIC_RUN) at += STRIDE;
  return code[at] === OP.MATCH;
}

/**
 * Gives memo numbers to runs and to instructions that can be reached from two others. Every loop
 * has such an instruction. Between them each one has one predecessor, so it too is executed at most
 * once for each place of the text.
 */
function numberMemos(draft: DraftProgram): number {
  const { code } = draft;
  const ways: number[] = Array.from({ length: code.length / STRIDE + 1 }, () => 0);
  const count = (pc: number): void => {
    ways[pc] = (ways[pc] ?? 0) + 1;
  };
  count(0);
  for (let at = 0; at < code.length; at += STRIDE) {
    const op = code[at];
    if (op === OP.SPLIT || op === OP.JUMP) count(code[at + 1] ?? 0);
    if (op === OP.SPLIT) count(code[at + 2] ?? 0);
    if (op !== OP.SPLIT && op !== OP.JUMP && op !== OP.MATCH) count(at / STRIDE + 1);
  }
  let memos = 0;
  for (let at = 0; at < code.length; at += STRIDE) {
    const op = code[at];
    const isRun = op === OP.RUN || op === OP.LAZY_RUN || op === OP.ATOMIC_RUN;
    const isShared = (ways[at / STRIDE] ?? 0) > 1 && op !== OP.MATCH;
    if (isRun || isShared) code[at + 3] = memos++;
  }
  return memos;
}
