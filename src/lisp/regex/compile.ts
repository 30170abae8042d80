/**
 * Compiles the tree of a pattern to a program.
 *
 * A repetition of something that can be empty is compiled as `(?:x+)?`: the loop ends after one
 * empty iteration, as in Java and Go. Counted repetitions are unrolled, up to the limit of
 * instructions.
 */

import { toCharSet, type CharSet, type Ranges } from './char-set.ts';
import { analyzeProgram, type DraftProgram } from './analyze.ts';
import { OP, STRIDE, type Regex } from './program.ts';
import type { RegexNode, RegexRepeat } from './syntax.ts';

/** Greatest number of instructions of a program. */
const MAX_INSTRUCTIONS = 5000;

/** The program of `node`, or `null` when it needs more than `MAX_INSTRUCTIONS`. */
export function compileNode(
  node: RegexNode,
  source: string,
  groupNames: readonly (string | null)[],
): Regex | null {
  // Checked first, since the product of nested counts can be larger than memory.
  if (sizeOf(node) + 1 > MAX_INSTRUCTIONS) return null;
  const draft: DraftProgram = { code: [], ranges: [] };
  emitNode(draft, node);
  emit(draft, OP.MATCH);
  const analysis = analyzeProgram(draft);
  const groupCount = groupNames.length - 1;
  return {
    source,
    groupCount,
    groupNames,
    literal: groupCount === 0 ? analysis.literal : null,
    straight: analysis.straight,
    prefix: analysis.prefix,
    first: analysis.first === null ? null : toCharSet(analysis.first),
    anchored: analysis.anchored,
    code: draft.code,
    sets: draft.ranges.map((ranges): CharSet => toCharSet(ranges)),
    memoCount: analysis.memoCount,
  };
}

/** The number of instructions that `emitNode` writes for `node`. */
function sizeOf(node: RegexNode): number {
  switch (node.kind) {
    case 'empty':
      return 0;
    case 'char':
      return node.code > 0xffff ? 2 : 1;
    case 'set':
    case 'assert':
      return 1;
    case 'sequence':
      return sumOfSizes(node.items);
    case 'choice':
      return sumOfSizes(node.items) + 2 * (node.items.length - 1);
    case 'group':
      return sizeOf(node.item) + 2;
    case 'repeat':
      return sizeOfRepeat(node);
  }
}

function sumOfSizes(items: readonly RegexNode[]): number {
  return items.reduce((sum, item) => sum + sizeOf(item), 0);
}

function sizeOfRepeat(node: RegexRepeat): number {
  // Limited, so that nested counts cannot overflow.
  const size = Math.min(sizeOf(node.item), MAX_INSTRUCTIONS + 1);
  if (size === 0) return 0;
  if (node.max >= 0) return size * node.min + (size + 1) * (node.max - node.min);
  if (isSingle(node.item)) return node.min + 1;
  return node.min > 0 ? size * node.min + 1 : size + 2;
}

function emitNode(draft: DraftProgram, node: RegexNode): void {
  switch (node.kind) {
    case 'empty':
      return;
    case 'char':
      emitChar(draft, node.code);
      return;
    case 'set':
      emit(draft, OP.SET, setNumber(draft, node.ranges));
      return;
    case 'assert':
      emit(draft, OP.ASSERT, node.assertion);
      return;
    case 'sequence':
      for (const item of node.items) emitNode(draft, item);
      return;
    case 'choice':
      emitChoice(draft, node.items);
      return;
    case 'group':
      emit(draft, OP.SAVE, 2 * node.index);
      emitNode(draft, node.item);
      emit(draft, OP.SAVE, 2 * node.index + 1);
      return;
    case 'repeat':
      emitRepeat(draft, node);
  }
}

/** A character outside the basic plane is its two UTF-16 units. */
function emitChar(draft: DraftProgram, code: number): void {
  if (code <= 0xffff) {
    emit(draft, OP.UNIT, code);
    return;
  }
  emit(draft, OP.UNIT, 0xd800 + ((code - 0x10000) >> 10));
  emit(draft, OP.UNIT, 0xdc00 + ((code - 0x10000) & 0x3ff));
}

function emitChoice(draft: DraftProgram, items: readonly RegexNode[]): void {
  const jumps: number[] = [];
  items.forEach((item, index) => {
    const isLast = index === items.length - 1;
    const split = isLast ? -1 : emit(draft, OP.SPLIT);
    if (!isLast) setTarget(draft, split, 1, next(draft));
    emitNode(draft, item);
    if (isLast) return;
    jumps.push(emit(draft, OP.JUMP));
    setTarget(draft, split, 2, next(draft));
  });
  for (const jump of jumps) setTarget(draft, jump, 1, next(draft));
}

function emitRepeat(draft: DraftProgram, node: RegexRepeat): void {
  if (sizeOf(node.item) === 0) return;
  const isRun = node.max < 0 && isSingle(node.item);
  const copies = node.max < 0 && node.min > 0 && !isRun ? node.min - 1 : node.min;
  for (let copy = 0; copy < copies; copy++) emitNode(draft, node.item);
  if (isRun) {
    emit(draft, node.lazy ? OP.LAZY_RUN : OP.RUN, setNumber(draft, rangesOfSingle(node.item)), -1);
  } else if (node.max >= 0) {
    emitOptional(draft, node, node.max - node.min);
  } else if (node.min === 0) {
    emitStar(draft, node);
  } else {
    emitPlus(draft, node);
  }
}

/** Whether the node is one character, which a run instruction can repeat. */
function isSingle(node: RegexNode): boolean {
  return node.kind === 'set' || (node.kind === 'char' && node.code <= 0xffff);
}

function rangesOfSingle(node: RegexNode): Ranges {
  if (node.kind === 'set') return node.ranges;
  return node.kind === 'char' ? [node.code, node.code] : [];
}

/** `x*`. */
function emitStar(draft: DraftProgram, node: RegexRepeat): void {
  const split = emit(draft, OP.SPLIT);
  const body = next(draft);
  emitNode(draft, node.item);
  if (isNullable(node.item)) {
    const again = emit(draft, OP.SPLIT);
    setBranches(draft, node, again, [body, next(draft)]);
  } else {
    setTarget(draft, emit(draft, OP.JUMP), 1, split);
  }
  setBranches(draft, node, split, [body, next(draft)]);
}

/** `x+`. */
function emitPlus(draft: DraftProgram, node: RegexRepeat): void {
  const body = next(draft);
  emitNode(draft, node.item);
  const again = emit(draft, OP.SPLIT);
  setBranches(draft, node, again, [body, next(draft)]);
}

/** `(?:x(?:x(?:x)?)?)?`, `count` deep: each `x` is tried only after the one before it. */
function emitOptional(draft: DraftProgram, node: RegexRepeat, count: number): void {
  const splits: number[] = [];
  for (let copy = 0; copy < count; copy++) {
    splits.push(emit(draft, OP.SPLIT));
    emitNode(draft, node.item);
  }
  const end = next(draft);
  for (const split of splits) setBranches(draft, node, split, [split + 1, end]);
}

/** Whether `node` can match the empty text. */
function isNullable(node: RegexNode): boolean {
  switch (node.kind) {
    case 'char':
    case 'set':
      return false;
    case 'empty':
    case 'assert':
      return true;
    case 'sequence':
      return node.items.every(isNullable);
    case 'choice':
      return node.items.some(isNullable);
    case 'group':
      return isNullable(node.item);
    case 'repeat':
      return node.min === 0 || isNullable(node.item);
  }
}

/** Writes an instruction and returns its number. */
function emit(draft: DraftProgram, op: number, first: number = 0, second: number = 0): number {
  draft.code.push(op, first, second, -1);
  return draft.code.length / STRIDE - 1;
}

/** The number of the instruction that is written next. */
function next(draft: DraftProgram): number {
  return draft.code.length / STRIDE;
}

function setTarget(draft: DraftProgram, instruction: number, operand: number, to: number): void {
  draft.code[instruction * STRIDE + operand] = to;
}

/** Sets the branches of a loop's split: the body first, or, when lazy, the exit. */
function setBranches(
  draft: DraftProgram,
  { lazy }: RegexRepeat,
  split: number,
  [body, exit]: readonly [body: number, exit: number],
): void {
  setTarget(draft, split, 1, lazy ? exit : body);
  setTarget(draft, split, 2, lazy ? body : exit);
}

/** The number of the set. Equal sets share one. */
function setNumber(draft: DraftProgram, ranges: Ranges): number {
  const known = draft.ranges.findIndex(
    (other) =>
      other === ranges ||
      (other.length === ranges.length && other.every((value, at) => value === ranges[at])),
  );
  return known >= 0 ? known : draft.ranges.push(ranges) - 1;
}
