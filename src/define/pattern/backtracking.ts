/**
 * Matches patterns that look around or refer back: backtracking as in ECMAScript, in counted steps.
 *
 * I1  A place that failed once at an instruction fails again, so it is tried once, unless the
 *     pattern refers back: then what matched before matters.
 * I2  Its stack is its own; only look-around inside look-around nests calls, as deep as the pattern.
 */
import { matchSet, type CharSet } from '../../lisp/regex/char-set.ts';
import { assertionHolds } from '../../lisp/regex/syntax.ts';
import type { BacktrackingProgram, PatternInstruction } from './compile-backtracking.ts';

/** Entries that the stack and the memory of failures may have; beyond, the steps have ended. */
const MAX_ENTRIES = 1_000_000;

interface Matcher {
  readonly program: BacktrackingProgram;
  readonly text: string;
  readonly registers: number[];
  steps: number;
  entries: number;
  readonly maxSteps: number;
}

/** What to try when a path fails: go on elsewhere, give a character of a run back, or restore. */
type Choice =
  | { readonly kind: 'at'; readonly pc: number; readonly place: number }
  | {
      readonly kind: 'run';
      readonly pc: number;
      readonly place: number;
      readonly least: number;
    }
  | { readonly kind: 'register'; readonly register: number; readonly value: number };

class StepsEnded extends Error {}

/**
 * Whether `text` has a match, and the steps that it took. With more than `maxSteps`, `steps` is
 * greater than them and `found` says nothing.
 */
export function runBacktracking(
  program: BacktrackingProgram,
  text: string,
  maxSteps: number,
): { readonly found: boolean; readonly steps: number } {
  const registers = Array.from({ length: program.registers }, () => -1);
  const matcher: Matcher = { program, text, registers, steps: 0, entries: 0, maxSteps };
  const failed = program.refersBack ? undefined : new Set<number>();
  try {
    for (let start = 0; start <= text.length; start += widthAt(text, start)) {
      if (run(matcher, 0, start, failed)) return { found: true, steps: matcher.steps };
    }
    return { found: false, steps: matcher.steps };
  } catch (error) {
    if (error instanceof StepsEnded) return { found: false, steps: maxSteps + 1 };
    throw error;
  }
}

/** The units of the character at `place`; 1 at the end. */
function widthAt(text: string, place: number): number {
  return (text.codePointAt(place) ?? 0) > 0xffff ? 2 : 1;
}

/** The units of the character that ends at `place`, which is not 0. */
function widthBefore(text: string, place: number): number {
  return place > 1 && widthAt(text, place - 2) === 2 ? 2 : 1;
}

function spend(m: Matcher, steps: number): void {
  m.steps += steps;
  if (m.steps > m.maxSteps || m.entries > MAX_ENTRIES) throw new StepsEnded();
}

/** Whether the program matches from instruction `from` on, at `start`, up to its `match`. */
function run(m: Matcher, from: number, start: number, failed: Set<number> | undefined): boolean {
  const choices: Choice[] = [];
  const before = m.entries;
  let pc = from;
  let place = start;
  for (;;) {
    spend(m, 1);
    const instruction = m.program.code[pc] as PatternInstruction;
    if (instruction.op === 'match') {
      m.entries = before + (failed?.size ?? 0);
      return true;
    }
    const next = step(m, instruction, { pc, place, choices, failed });
    if (next !== undefined) {
      ({ pc, place } = next);
      m.entries = before + choices.length + (failed?.size ?? 0);
      continue;
    }
    const choice = resume(m, choices);
    if (choice === undefined) {
      m.entries = before + (failed?.size ?? 0);
      return false;
    }
    ({ pc, place } = choice);
  }
}

interface State {
  readonly pc: number;
  readonly place: number;
  readonly choices: Choice[];
  readonly failed: Set<number> | undefined;
}

type Next = { readonly pc: number; readonly place: number } | undefined;

/** What follows one instruction; undefined: it fails. */
function step(m: Matcher, instruction: PatternInstruction, state: State): Next {
  const { pc, place, choices, failed } = state;
  const next = pc + 1;
  switch (instruction.op) {
    case 'set': {
      const width = matchNear(instruction.set, m.text, place, instruction.behind);
      return width === 0 ? undefined : { pc: next, place: moved(place, width, instruction.behind) };
    }
    case 'run':
      return startRun(m, instruction, state);
    case 'split': {
      if (failed !== undefined) {
        const key = pc * (m.text.length + 1) + place;
        if (failed.has(key)) return undefined;
        failed.add(key);
      }
      choices.push({ kind: 'at', pc: instruction.second, place });
      return { pc: instruction.first, place };
    }
    case 'jump':
      return { pc: instruction.to, place };
    case 'assert':
      return assertionHolds(instruction.assertion, m.text, place) ? { pc: next, place } : undefined;
    case 'save':
      set(m, choices, instruction.register, place);
      return { pc: next, place };
    case 'clear':
      spend(m, (instruction.to - instruction.from) >> 2);
      for (let at = instruction.from; at < instruction.to; at++) set(m, choices, at, -1);
      return { pc: next, place };
    case 'moved':
      return m.registers[instruction.register] === place ? undefined : { pc: next, place };
    case 'look':
      return look(m, instruction, state);
    case 'back':
      return backReference(m, instruction, state);
    default:
      return undefined;
  }
}

function matchNear(wanted: CharSet, text: string, place: number, behind: boolean): number {
  if (!behind) return matchSet(wanted, text, place);
  if (place === 0) return 0;
  const width = widthBefore(text, place);
  return matchSet(wanted, text, place - width);
}

function moved(place: number, width: number, behind: boolean): number {
  return behind ? place - width : place + width;
}

function set(m: Matcher, choices: Choice[], register: number, value: number): void {
  const old = m.registers[register] ?? -1;
  if (old === value) return;
  choices.push({ kind: 'register', register, value: old });
  m.registers[register] = value;
}

type Run = PatternInstruction & { readonly op: 'run' };

function startRun(m: Matcher, instruction: Run, { pc, place, choices, failed }: State): Next {
  const { min, max, behind } = instruction;
  let end = place;
  let least = place;
  let count = 0;
  for (; count < max; count++) {
    const width = matchNear(instruction.set, m.text, end, behind);
    if (width === 0) break;
    end = moved(end, width, behind);
    if (count < min) least = end;
  }
  spend(m, count >> 2);
  if (count < min) return undefined;
  if (end === least) return { pc: pc + 1, place: end };
  if (failed !== undefined) {
    const key = pc * (m.text.length + 1) + place;
    if (failed.has(key)) return undefined;
    failed.add(key);
  }
  choices.push({ kind: 'run', pc, place: end, least });
  return { pc: pc + 1, place: end };
}

/** Takes back choices until one can go on. */
function resume(m: Matcher, choices: Choice[]): Next {
  for (let choice = choices.pop(); choice !== undefined; choice = choices.pop()) {
    if (choice.kind === 'register') {
      m.registers[choice.register] = choice.value;
      continue;
    }
    if (choice.kind === 'at') return choice;
    const { pc, place, least } = choice;
    const { behind } = m.program.code[pc] as Run;
    const shorter = behind ? place + widthAt(m.text, place) : place - widthBefore(m.text, place);
    if (shorter !== least) choices.push({ ...choice, place: shorter });
    return { pc: pc + 1, place: shorter };
  }
  return undefined;
}

function look(m: Matcher, instruction: PatternInstruction & { op: 'look' }, state: State): Next {
  const { pc, place, choices, failed } = state;
  const kept = [...m.registers];
  spend(m, kept.length >> 2);
  // Its memory of failures is its own: what it tries may fail here and match later.
  const found = run(m, pc + 1, place, failed === undefined ? undefined : new Set());
  const taken = m.registers.splice(0, kept.length, ...kept);
  if (found === instruction.negative) return undefined;
  if (found) taken.forEach((value, register) => set(m, choices, register, value));
  return { pc: instruction.end, place };
}

function backReference(
  m: Matcher,
  instruction: PatternInstruction & { op: 'back' },
  state: State,
): Next {
  const { pc, place } = state;
  const { groups, behind } = instruction;
  const group = groups.find((number) => (m.registers[2 * number + 1] ?? -1) >= 0) ?? 0;
  const from = m.registers[2 * group] ?? -1;
  const to = m.registers[2 * group + 1] ?? -1;
  // A group that took no part is the empty text.
  if (group === 0 || from < 0 || to < 0) return { pc: pc + 1, place };
  const length = to - from;
  spend(m, length >> 2);
  const start = behind ? place - length : place;
  const end = behind ? start : place + length;
  const isSame = start >= 0 && m.text.startsWith(m.text.slice(from, to), start);
  return isSame && !isInsidePair(m.text, end) ? { pc: pc + 1, place: end } : undefined;
}

function isInsidePair(text: string, place: number): boolean {
  return place > 0 && widthAt(text, place - 1) === 2;
}
