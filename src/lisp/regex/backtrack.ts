/**
 * The fast matcher: backtracking with a memo of what has failed.
 *
 * A pair of instruction and place that failed once would fail again, so each pair is tried once.
 * That bounds the work by pattern × text, and trying alternatives in order gives the same match as
 * Java. The memo has one bit for each pair in the searched part of the text. When it would become
 * too large, the simulation in `simulate.ts` takes over.
 *
 * I1  The memo is kept from one start of the search to the next: a pair that failed for an earlier
 *     start fails for a later one too.
 * I2  A run marks each place that it passes, so one instruction never passes a place twice.
 */

import { matchSet, type CharSet } from './char-set.ts';
import { OP, STRIDE, type RegexSearch } from './program.ts';
import { assertionHolds, type Assertion } from './syntax.ts';

/** Greatest size of the memo in bits: 32 KB. */
const MAX_MEMO_BITS = 262_144;

/** How a search ended. `overflow`: the memo is full, and the simulation has to search again. */
export type BacktrackEnd = 'found' | 'none' | 'exhausted' | 'overflow';

/** The state of one search. `slots` holds the match after `found`. */
export interface Backtracker {
  readonly search: RegexSearch;
  readonly slots: number[];
  /** Entries of three numbers: what to try when the current path fails. */
  readonly stack: number[];
  depth: number;
  /** Bits, `memoCount` for each place from `base` on; words from `memoWords` on are unused. */
  readonly memo: number[];
  memoWords: number;
  base: number;
  /** The last place that has a bit set. */
  top: number;
  overflow: boolean;
  /** The place at which to go on after `resume`. */
  place: number;
  steps: number;
}

/** On the stack instead of an instruction: restore a slot. */
const RESTORE = -1;

/** A new search. */
export function createBacktracker(search: RegexSearch): Backtracker {
  const slots = [-1, -1];
  for (let group = search.regex.groupCount; group > 0; group--) slots.push(-1, -1);
  return {
    search,
    slots,
    stack: [],
    depth: 0,
    memo: [],
    memoWords: 0,
    base: search.from,
    top: -1,
    overflow: false,
    place: 0,
    steps: 0,
  };
}

/** Whether a match begins exactly at `start`. Starts must be tried in ascending order. */
export function tryAt(state: Backtracker, start: number): BacktrackEnd {
  if (state.base !== start && start > state.top) {
    state.base = start;
    state.memoWords = 0;
  }
  state.depth = 0;
  const { slots } = state;
  const end = follow(state, start);
  if (state.overflow) return 'overflow';
  if (end === EXHAUSTED) return 'exhausted';
  if (end === FAILED) return 'none';
  slots[0] = start;
  slots[1] = end;
  return 'found';
}

const FAILED = -1;
const EXHAUSTED = -2;

/** Runs from the first instruction; the end of the match, or `FAILED` or `EXHAUSTED`. */
function follow(state: Backtracker, start: number): number {
  const { text, full, maxSteps, regex } = state.search;
  const { code, sets } = regex;
  let at = 0;
  let place = start;
  for (;;) {
    if (++state.steps > maxSteps) return EXHAUSTED;
    const op = code[at] as number;
    const operand = code[at + 1] as number;
    const memo = code[at + 3] as number;
    let alive = true;
    if (op >= OP.RUN) {
      place = run(state, at, place);
      alive = place >= 0;
      at += STRIDE;
    } else if (memo >= 0 && isKnown(state, memo, place)) {
      alive = false;
    } else if (op === OP.UNIT) {
      alive = place < text.length && text.charCodeAt(place) === operand;
      place += 1;
      at += STRIDE;
    } else if (op === OP.SET) {
      const width = matchSet(sets[operand] as CharSet, text, place);
      alive = width > 0;
      place += width;
      at += STRIDE;
    } else if (op === OP.SPLIT) {
      push(state, (code[at + 2] as number) * STRIDE, place, 0);
      at = operand * STRIDE;
    } else if (op === OP.JUMP) {
      at = operand * STRIDE;
    } else if (op === OP.SAVE) {
      push(state, RESTORE, operand, state.slots[operand] as number);
      state.slots[operand] = place;
      at += STRIDE;
    } else if (op === OP.ASSERT) {
      alive = assertionHolds(operand as Assertion, text, place);
      at += STRIDE;
    } else if (op === OP.MATCH && (!full || place === text.length)) {
      return place;
    } else {
      alive = false;
    }
    if (alive) continue;
    at = resume(state);
    if (at < 0) return FAILED;
    place = state.place;
  }
}

function push(state: Backtracker, at: number, first: number, second: number): void {
  const { stack } = state;
  const top = state.depth * 3;
  stack[top] = at;
  stack[top + 1] = first;
  stack[top + 2] = second;
  state.depth += 1;
}

/**
 * Pops entries until one can go on. Returns its instruction and sets `state.place`; returns
 * `FAILED` when the stack is empty.
 */
function resume(state: Backtracker): number {
  const { stack } = state;
  while (state.depth > 0) {
    state.depth -= 1;
    const top = state.depth * 3;
    const entry = stack[top] as number;
    const first = stack[top + 1] as number;
    if (entry >= 0) {
      state.place = first;
      return entry;
    }
    const second = stack[top + 2] as number;
    if (entry === RESTORE) {
      state.slots[first] = second;
      continue;
    }
    const at = -2 - entry;
    const { code } = state.search.regex;
    const place =
      code[at] === OP.RUN
        ? giveBack(state, at, first, previous(state.search.text, second))
        : takeMore(state, at, first);
    if (place < 0) continue;
    state.place = place;
    return at + STRIDE;
  }
  return FAILED;
}

/** Executes a run at `place`. Returns the place to go on at, or `FAILED`. */
function run(state: Backtracker, at: number, place: number): number {
  const { text, regex } = state.search;
  const { code } = regex;
  const op = code[at] as number;
  const memo = code[at + 3] as number;
  if (isKnown(state, memo, place)) return FAILED;
  if (op === OP.LAZY_RUN) {
    const first = code[at + 2] as number;
    if (first >= 0 && matchSet(regex.sets[first] as CharSet, text, place) === 0) {
      return takeMore(state, at, place);
    }
    push(state, -2 - at, place, 0);
    return place;
  }
  const set = regex.sets[code[at + 1] as number] as CharSet;
  let end = place;
  for (;;) {
    const width = matchSet(set, text, end);
    if (width === 0) break;
    if (isKnown(state, memo, end + width)) {
      // The rest of the run and all its ends were tried before.
      if (op === OP.ATOMIC_RUN) return FAILED;
      break;
    }
    end += width;
  }
  state.steps += end - place;
  if (op === OP.ATOMIC_RUN) return end;
  return giveBack(state, at, place, end);
}

/**
 * The greatest place from `high` down to `low`, the start of a greedy run, where the program can go
 * on. The places below it go on the stack.
 */
function giveBack(state: Backtracker, at: number, low: number, high: number): number {
  const { text, regex } = state.search;
  const first = regex.code[at + 2] as number;
  const follower = first < 0 ? null : (regex.sets[first] as CharSet);
  let place = high;
  while (place >= low) {
    if (follower === null || matchSet(follower, text, place) > 0) {
      if (place > low) push(state, -2 - at, low, place);
      return place;
    }
    state.steps += 1;
    place = previous(text, place);
  }
  return FAILED;
}

/** Extends a lazy run by one character, or by more until its follower can begin. */
function takeMore(state: Backtracker, at: number, from: number): number {
  const { text, regex } = state.search;
  const { code } = regex;
  const set = regex.sets[code[at + 1] as number] as CharSet;
  const first = code[at + 2] as number;
  const memo = code[at + 3] as number;
  const follower = first < 0 ? null : (regex.sets[first] as CharSet);
  let place = from;
  for (;;) {
    const width = matchSet(set, text, place);
    if (width === 0) return FAILED;
    place += width;
    state.steps += 1;
    if (isKnown(state, memo, place)) return FAILED;
    if (follower === null || matchSet(follower, text, place) > 0) {
      push(state, -2 - at, place, 0);
      return place;
    }
  }
}

/** The place one character before. A surrogate pair is one character. */
function previous(text: string, place: number): number {
  const unit = text.charCodeAt(place - 1);
  if (unit >= 0xdc00 && unit < 0xe000 && place > 1) {
    const high = text.charCodeAt(place - 2);
    if (high >= 0xd800 && high < 0xdc00) return place - 2;
  }
  return place - 1;
}

/** Whether the instruction with this memo number was tried at `place`. Marks it as tried. */
function isKnown(state: Backtracker, memo: number, place: number): boolean {
  const bit = (place - state.base) * state.search.regex.memoCount + memo;
  if (bit >= MAX_MEMO_BITS) {
    // `true` ends the path; the caller then sees the overflow.
    state.overflow = true;
    return true;
  }
  const word = bit >> 5;
  while (state.memoWords <= word) {
    state.memo[state.memoWords] = 0;
    state.memoWords += 1;
  }
  if (place > state.top) state.top = place;
  const bits = state.memo[word] as number;
  const mask = 1 << (bit & 31);
  if ((bits & mask) !== 0) return true;
  state.memo[word] = bits | mask;
  return false;
}
