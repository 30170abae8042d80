/**
 * Compiles a pattern to instructions for `backtracking.ts`. Unlike the program of the language's
 * engine, they look around, refer back, and count repetitions of one character.
 */
import { toCharSet, type CharSet } from '../../lisp/regex/char-set.ts';
import type { Assertion } from '../../lisp/regex/syntax.ts';
import { PatternError, type PatternNode, type PatternTree } from './pattern-tree.ts';

/** The most instructions of a pattern; counts of more than one character are written out. */
const MAX_INSTRUCTIONS = 20_000;

/** One instruction; it goes on at the next one if it says nothing else. */
export type PatternInstruction =
  | { readonly op: 'match' }
  | { readonly op: 'set'; readonly set: CharSet; readonly behind: boolean }
  /** From `min` to `max` characters of the set, the most first. */
  | {
      readonly op: 'run';
      readonly set: CharSet;
      readonly min: number;
      readonly max: number;
      readonly behind: boolean;
    }
  /** Goes on at `first`; if that fails, at `second`. */
  | { readonly op: 'split'; first: number; second: number }
  | { readonly op: 'jump'; to: number }
  | { readonly op: 'assert'; readonly assertion: Assertion }
  /** Keeps the place in a register. */
  | { readonly op: 'save'; readonly register: number }
  /** Empties registers: groups inside a repetition begin each turn without a text. */
  | { readonly op: 'clear'; readonly from: number; readonly to: number }
  /** Fails at the place that the register has: a turn took no character. */
  | { readonly op: 'moved'; readonly register: number }
  /** Runs from the next instruction to its `match`, at this place; goes on at `end`. */
  | { readonly op: 'look'; readonly negative: boolean; end: number }
  | { readonly op: 'back'; readonly groups: readonly number[]; readonly behind: boolean };

/** A compiled pattern. */
export interface BacktrackingProgram {
  readonly code: readonly PatternInstruction[];
  /** Two for each group, from group 1 at 2; then one for each loop. */
  readonly registers: number;
  /** Whether what matched before changes what can match: then no failure is remembered. */
  readonly refersBack: boolean;
}

interface Draft {
  readonly code: PatternInstruction[];
  registers: number;
  /** Only references read what groups have matched. */
  readonly keepsGroups: boolean;
}

/** The program of `tree`. Throws a {@link PatternError} when it would be too long. */
export function compileBacktracking(tree: PatternTree): BacktrackingProgram {
  const { groupCount, refersBack } = tree;
  const registers = refersBack ? 2 * (groupCount + 1) : 0;
  const draft: Draft = { code: [], registers, keepsGroups: refersBack };
  emitNode(draft, tree.root, false);
  emit(draft, { op: 'match' });
  return { code: draft.code, registers: draft.registers, refersBack };
}

function emit(draft: Draft, instruction: PatternInstruction): void {
  if (draft.code.length >= MAX_INSTRUCTIONS) {
    throw new PatternError('a pattern with smaller repeat counts');
  }
  draft.code.push(instruction);
}

function emitNode(draft: Draft, node: PatternNode, behind: boolean): void {
  switch (node.kind) {
    case 'empty':
      return;
    case 'set':
      return emit(draft, { op: 'set', set: toCharSet(node.ranges), behind });
    case 'assert':
      return emit(draft, { op: 'assert', assertion: node.assertion });
    case 'sequence':
      // Behind a place, the last part is matched first.
      for (const item of behind ? node.items.toReversed() : node.items) {
        emitNode(draft, item, behind);
      }
      return;
    case 'choice':
      return emitChoice(draft, node.items, behind);
    case 'group': {
      if (!draft.keepsGroups) return emitNode(draft, node.item, behind);
      const first = 2 * node.index;
      emit(draft, { op: 'save', register: behind ? first + 1 : first });
      emitNode(draft, node.item, behind);
      return emit(draft, { op: 'save', register: behind ? first : first + 1 });
    }
    case 'repeat':
      return emitRepeat(draft, node, behind);
    case 'look':
      return emitLook(draft, node);
    case 'back':
      return emit(draft, { op: 'back', groups: node.groups, behind });
  }
}

function emitChoice(draft: Draft, items: readonly PatternNode[], behind: boolean): void {
  const jumps: { op: 'jump'; to: number }[] = [];
  items.forEach((item, index) => {
    if (index === items.length - 1) return emitNode(draft, item, behind);
    const split = { op: 'split' as const, first: draft.code.length + 1, second: 0 };
    emit(draft, split);
    emitNode(draft, item, behind);
    const jump = { op: 'jump' as const, to: 0 };
    emit(draft, jump);
    jumps.push(jump);
    split.second = draft.code.length;
  });
  for (const jump of jumps) jump.to = draft.code.length;
}

function emitLook(draft: Draft, node: PatternNode & { kind: 'look' }): void {
  const look = { op: 'look' as const, negative: node.negative, end: 0 };
  emit(draft, look);
  emitNode(draft, node.item, node.behind);
  emit(draft, { op: 'match' });
  look.end = draft.code.length;
}

type Repeat = PatternNode & { kind: 'repeat' };

function emitRepeat(draft: Draft, node: Repeat, behind: boolean): void {
  const { item, min, max, lazy } = node;
  if (isEmpty(item)) return;
  if (item.kind === 'set' && !lazy) {
    const most = max < 0 ? Number.POSITIVE_INFINITY : max;
    return emit(draft, { op: 'run', set: toCharSet(item.ranges), min, max: most, behind });
  }
  for (let turn = 0; turn < min; turn++) emitTurn(draft, node, behind);
  if (max < 0) return emitLoop(draft, node, behind);
  const splits: { op: 'split'; first: number; second: number }[] = [];
  for (let turn = min; turn < max; turn++) {
    const split = { op: 'split' as const, first: draft.code.length + 1, second: 0 };
    emit(draft, split);
    splits.push(split);
    emitOptionalTurn(draft, node, behind);
  }
  for (const split of splits) leave(split, draft.code.length, lazy);
}

/** One turn of a repetition, which its groups begin without a text. */
function emitTurn(draft: Draft, node: Repeat, behind: boolean): void {
  const [from, to] = node.groups;
  if (draft.keepsGroups && to > from) emit(draft, { op: 'clear', from: 2 * from, to: 2 * to });
  emitNode(draft, node.item, behind);
}

/** A turn beyond the least count has to take a character. */
function emitOptionalTurn(draft: Draft, node: Repeat, behind: boolean): void {
  if (!canBeEmpty(node.item)) return emitTurn(draft, node, behind);
  const register = draft.registers++;
  emit(draft, { op: 'save', register });
  emitTurn(draft, node, behind);
  emit(draft, { op: 'moved', register });
}

/** Whether `node` has no instructions. */
function isEmpty(node: PatternNode): boolean {
  if (node.kind === 'sequence') return node.items.every(isEmpty);
  if (node.kind === 'repeat') return isEmpty(node.item);
  return node.kind === 'empty';
}

/** Whether `node` can match without taking a character. */
function canBeEmpty(node: PatternNode): boolean {
  switch (node.kind) {
    case 'set':
      return false;
    case 'sequence':
      return node.items.every(canBeEmpty);
    case 'choice':
      return node.items.some(canBeEmpty);
    case 'group':
      return canBeEmpty(node.item);
    case 'repeat':
      return node.min === 0 || canBeEmpty(node.item);
    default:
      return true;
  }
}

function emitLoop(draft: Draft, node: Repeat, behind: boolean): void {
  const start = draft.code.length;
  const split = { op: 'split' as const, first: start + 1, second: 0 };
  emit(draft, split);
  emitOptionalTurn(draft, node, behind);
  emit(draft, { op: 'jump', to: start });
  leave(split, draft.code.length, node.lazy);
}

/** Sets where `split` goes on after the repetition: last, or first if that is lazy. */
function leave(split: { first: number; second: number }, end: number, lazy: boolean): void {
  if (lazy) {
    split.second = split.first;
    split.first = end;
  } else {
    split.second = end;
  }
}
