/**
 * The matcher for long texts: follows all paths through the program at once, character by character
 * (Pike's algorithm; see Russ Cox, "Regular Expression Matching: the Virtual Machine Approach").
 *
 * Its memory depends on the program only, not on the text. The list of threads is ordered by
 * preference; the first thread that matches removes those after it.
 */

import { matchSet, type CharSet } from './char-set.ts';
import { OP, STRIDE, type RegexSearch } from './program.ts';
import { assertionHolds, type Assertion } from './syntax.ts';

/** The result of a simulation. */
export type Simulation =
  | { readonly kind: 'found'; readonly slots: readonly number[]; readonly steps: number }
  | { readonly kind: 'none' | 'exhausted'; readonly steps: number };

/** The threads at one place, in order of preference. Each is at a different instruction. */
interface Threads {
  /** The instructions of the threads. */
  readonly pcs: number[];
  count: number;
  /** The last place at which each instruction was followed. */
  readonly followed: number[];
  /** The slots of the thread at instruction n begin at n × slots per thread. */
  readonly slots: number[];
}

/** On the stack: follow an instruction. */
const BRANCH = 0;
/** On the stack: add the thread that stays in a lazy run. */
const STAY = 1;
/** On the stack: restore the value of a slot. */
const RESTORE = 2;

interface Simulator {
  readonly search: RegexSearch;
  readonly slotCount: number;
  /** The slots of the current path. */
  readonly current: number[];
  /** Entries of three numbers: `BRANCH`, `STAY` or `RESTORE`, and two operands. */
  readonly stack: number[];
  depth: number;
  /** The place of the current character, and its UTF-16 units. */
  place: number;
  width: number;
  steps: number;
}

/**
 * Searches from `start`, or exactly there for a full match. Earlier starts are known to fail. Takes
 * time in program × text.
 */
export function simulate(search: RegexSearch, start: number, steps: number): Simulation {
  const { regex, text, full, maxSteps } = search;
  const slotCount = 2 * (regex.groupCount + 1);
  const size = regex.code.length / STRIDE;
  const state: Simulator = {
    search,
    slotCount,
    current: filled(slotCount),
    stack: [],
    depth: 0,
    place: start,
    width: 1,
    steps,
  };
  let threads = createThreads(size, slotCount);
  let following = createThreads(size, slotCount);
  let best: number[] | null = null;
  // A full match and an anchored one begin at `start` or nowhere.
  const onlyHere = full || regex.anchored;
  let place = start;
  while (place <= text.length) {
    if (best === null && (place === start || !onlyHere)) {
      if (threads.count === 0) place = nextStart(state, place);
      state.current.fill(-1);
      state.current[0] = place;
      follow(state, threads, 0, place);
    }
    if (threads.count === 0 && (best !== null || onlyHere)) break;
    const width = widthAt(text, place);
    state.place = place;
    state.width = width;
    best = advance(state, threads, following) ?? best;
    if (state.steps > maxSteps) return { kind: 'exhausted', steps: state.steps };
    [threads, following] = [following, threads];
    following.count = 0;
    place += width;
  }
  return best === null
    ? { kind: 'none', steps: state.steps }
    : { kind: 'found', slots: best, steps: state.steps };
}

/** `size` numbers −1. */
function filled(size: number): number[] {
  return Array.from({ length: size }, () => -1);
}

function createThreads(size: number, slotCount: number): Threads {
  return { pcs: [], count: 0, followed: filled(size), slots: filled(size * slotCount) };
}

/** The next place from `place` on where a match can begin, or the end of the text. */
function nextStart(state: Simulator, place: number): number {
  const { regex, text, full } = state.search;
  if (regex.first === null || full) return place;
  let start = place;
  while (start < text.length && matchSet(regex.first, text, start) === 0) {
    start += widthAt(text, start);
    state.steps += 1;
  }
  return start;
}

/** UTF-16 units of the character at `place`; 1 at the end. */
function widthAt(text: string, place: number): number {
  const unit = text.charCodeAt(place);
  if (unit < 0xd800 || unit > 0xdbff) return 1;
  const low = text.charCodeAt(place + 1);
  return low >= 0xdc00 && low < 0xe000 ? 2 : 1;
}

/** Moves every thread over the current character. Returns the best match that ends before it. */
function advance(state: Simulator, threads: Threads, following: Threads): number[] | null {
  const { place, width } = state;
  const { regex, text, full } = state.search;
  const { code } = regex;
  for (let index = 0; index < threads.count; index++) {
    state.steps += 1;
    const pc = threads.pcs[index] as number;
    const at = pc * STRIDE;
    const op = code[at] as number;
    if (op === OP.MATCH) {
      if (full && place !== text.length) continue;
      load(state, threads, pc);
      state.current[1] = place;
      return state.current.slice();
    }
    const operand = code[at + 1] as number;
    if (op === OP.UNIT) {
      // A surrogate pair is two instructions but one character.
      if (text.charCodeAt(place) !== operand) continue;
      const isPair = width === 2;
      if (isPair && text.charCodeAt(place + 1) !== code[at + STRIDE + 1]) continue;
      load(state, threads, pc);
      follow(state, following, isPair ? pc + 2 : pc + 1, place + width);
    } else if (matchSet(regex.sets[operand] as CharSet, text, place) > 0) {
      load(state, threads, pc);
      follow(state, following, op === OP.SET ? pc + 1 : pc, place + width);
    }
  }
  return null;
}

/** Copies the slots of a thread to the current path. */
function load(state: Simulator, threads: Threads, pc: number): void {
  const { current, slotCount } = state;
  const offset = pc * slotCount;
  for (let slot = 0; slot < slotCount; slot++) {
    current[slot] = threads.slots[offset + slot] as number;
  }
  state.steps += slotCount >> 3;
}

/** Adds the threads that `start` leads to without taking a character, by preference. */
function follow(state: Simulator, threads: Threads, start: number, place: number): void {
  const { current, stack, search } = state;
  const { code } = search.regex;
  state.depth = 0;
  let pc = start;
  for (;;) {
    state.steps += 1;
    let next = -1;
    if (threads.followed[pc] !== place) {
      threads.followed[pc] = place;
      const at = pc * STRIDE;
      const op = code[at] as number;
      const operand = code[at + 1] as number;
      if (op === OP.SPLIT) {
        pushEntry(state, BRANCH, code[at + 2] as number, 0);
        next = operand;
      } else if (op === OP.JUMP) {
        next = operand;
      } else if (op === OP.SAVE) {
        pushEntry(state, RESTORE, operand, current[operand] as number);
        current[operand] = place;
        next = pc + 1;
      } else if (op === OP.ASSERT) {
        if (assertionHolds(operand as Assertion, search.text, place)) next = pc + 1;
      } else if (op === OP.LAZY_RUN) {
        // Leaving a lazy run is preferred to staying in it.
        pushEntry(state, STAY, pc, 0);
        next = pc + 1;
      } else {
        addThread(state, threads, pc);
        if (op === OP.RUN || op === OP.ATOMIC_RUN) next = pc + 1;
      }
    }
    while (next < 0) {
      if (state.depth === 0) return;
      state.depth -= 1;
      const top = state.depth * 3;
      const kind = stack[top] as number;
      const value = stack[top + 1] as number;
      if (kind === BRANCH) next = value;
      else if (kind === STAY) addThread(state, threads, value);
      else current[value] = stack[top + 2] as number;
    }
    pc = next;
  }
}

function pushEntry(state: Simulator, kind: number, value: number, old: number): void {
  const { stack } = state;
  const top = state.depth * 3;
  stack[top] = kind;
  stack[top + 1] = value;
  stack[top + 2] = old;
  state.depth += 1;
}

/** Adds a thread at `pc` with the slots of the current path. */
function addThread(state: Simulator, threads: Threads, pc: number): void {
  threads.pcs[threads.count] = pc;
  threads.count += 1;
  const { current, slotCount } = state;
  const offset = pc * slotCount;
  for (let slot = 0; slot < slotCount; slot++) {
    threads.slots[offset + slot] = current[slot] as number;
  }
  state.steps += slotCount >> 3;
}
