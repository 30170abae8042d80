/**
 * The acts of the instructions: one small function for each.
 *
 * I1  `run.ts` has advanced `pc` and charged the cost before an act begins.
 * I2  An act takes its operands off the stack, and pushes a value, pushes a frame or sets `pc`.
 * I3  An act that can fail sets `ctx.at` or gives its fault a span, so each fault has a place.
 * I4  Between two acts the whole state is in frames, slots and stacks, so a snapshot is possible.
 * I5  `run` and `try` execute compiled code to its end; only free code gets there.
 */
import type { Acts, Instruction, CodeFrame, Stack } from '../code/code.ts';
import { boundIn, demandsOf, isFreeHere } from '../code/effects.ts';
import { compileValue } from '../code/closures.ts';
import { TAIL } from '../code/invoke.ts';
import { Fault } from '../base/problem.ts';
import { readable } from '../value/print.ts';
import { mapOf } from '../value/tree.ts';
import { isVector, keyword, type Value, type Vector } from '../value/value.ts';
import { EMPTY_VECTOR, vectorAt, vectorCount, vectorOf, vectorPush } from '../value/vector.ts';
import { callInTail, callValue, runBuiltin } from './call.ts';
import { checkCount, pay, type CompiledNode } from '../value/context.ts';
import {
  closureOf,
  jumpLimit,
  literalOf,
  matchCase,
  readData,
  readGlobal,
  walkItems,
} from '../code/node-values.ts';
import { endsEarly, type ForLevel } from '../ast/core-ast.ts';
import { partOps } from './instructions.ts';
import { isSlow, runFree } from './slice.ts';
import { operand, operands } from './operands.ts';
import { partOf } from '../code/parts.ts';

function nodeFault(): Fault {
  return new Fault('runtime_error', 'This instruction does not fit its node.');
}

function literal(s: Stack, frame: CodeFrame, instruction: Instruction): void {
  const { kind, span } = instruction.node;
  const values = operands(s, frame, instruction);
  if (kind === 'vector' || kind === 'map' || kind === 'set') {
    s.values.push(literalOf(s.ctx, kind, values, span));
  }
}

/**
 * Pushes the value of compiled code, or makes the tail call that it ends in. False when it was
 * abandoned: then the frames from number `base` on are to do its work.
 */
function pushRun(s: Stack, frame: CodeFrame, run: CompiledNode, base: number): boolean {
  const value = runFree(s, base, () => run(frame.L, s.ctx));
  if (value === undefined) return false;
  if (value !== TAIL) s.values.push(value);
  else callInTail(s, s.ctx.tailFn, s.ctx.tailArgs, s.ctx.at);
  return true;
}

/** Does the work of a `run` by its parts. */
function pushParts(s: Stack, frame: CodeFrame): void {
  const { code, L } = frame;
  const part = frame.pc - 1;
  s.frames.push({ kind: 'code', code, ops: partOps(s, code, part), part, pc: 0, L, span: null });
}

function isFalse(value: Value): boolean {
  return value === null || value === false;
}

/** The slots of one level of a `for`. */
function levelOf(instruction: Instruction, at: number): ForLevel {
  const level = instruction.node.kind === 'for' ? instruction.node.levels[at] : undefined;
  if (level === undefined) throw nodeFault();
  return level;
}

/** The acts by op. */
export const ACTS: Acts = Object.freeze<Acts>({
  leaf: (s, frame, instruction) => {
    s.values.push(operand(s, frame, instruction));
  },
  global: (s, _frame, instruction) => {
    if (instruction.node.kind === 'global') s.values.push(readGlobal(s.ctx, instruction.node));
  },
  data: (s, _frame, instruction) => {
    if (instruction.node.kind === 'data') s.values.push(readData(s.ctx, instruction.node.key));
  },
  drop: (s) => {
    s.values.pop();
  },
  set: (s, frame, instruction) => {
    frame.L[instruction.a] = operand(s, frame, instruction);
  },
  jump: (_s, frame, instruction) => {
    frame.pc = instruction.a;
  },
  unless: (s, frame, instruction) => {
    if (isFalse(operand(s, frame, instruction))) frame.pc = instruction.a;
  },
  and: (s, frame, instruction) => {
    const value = operand(s, frame, instruction);
    if (!isFalse(value)) return;
    s.values.push(value);
    frame.pc = instruction.a;
  },
  or: (s, frame, instruction) => {
    const value = operand(s, frame, instruction);
    if (isFalse(value)) return;
    s.values.push(value);
    frame.pc = instruction.a;
  },
  vector: literal,
  map: literal,
  'set-literal': literal,
  fn: (s, frame, instruction) => {
    if (instruction.node.kind === 'fn') s.values.push(closureOf(instruction.node.code, frame.L));
  },
  call: (s, frame, instruction) => {
    const { node } = instruction;
    if (node.kind !== 'call') throw nodeFault();
    const values = operands(s, frame, instruction);
    const fn = values.shift() ?? null;
    if (node.tail) callInTail(s, fn, values, node.span);
    else callValue(s, fn, values, node.span);
  },
  builtin: (s, frame, instruction) => {
    const { node } = instruction;
    if (node.kind !== 'builtin') throw nodeFault();
    runBuiltin(s, node.builtin, operands(s, frame, instruction), node.span);
  },
  enter: (_s, frame, instruction) => {
    frame.L[instruction.a] = 0;
  },
  recur: (s, frame, instruction) => {
    const { node } = instruction;
    if (node.kind !== 'recur') throw nodeFault();
    const values = operands(s, frame, instruction);
    const jumps = ((frame.L[node.counter] as number | undefined) ?? 0) + 1;
    if (jumps > s.ctx.limits.loopIterations) throw jumpLimit(s.ctx, node);
    frame.L[node.counter] = jumps;
    for (let index = 0; index < values.length; index++) {
      frame.L[node.slots[index] as number] = values[index] as Value;
    }
    frame.pc = instruction.a;
  },
  return: (s, frame) => {
    s.frames.pop();
    if (frame.span !== null) s.ctx.depth -= 1;
  },
  def: (s, frame, instruction) => {
    if (instruction.node.kind !== 'def') throw nodeFault();
    s.host?.define(instruction.node.name, operand(s, frame, instruction));
    s.values.push({ kind: 'var', name: instruction.node.name });
  },
  defonce: (s, frame, instruction) => {
    if (instruction.node.kind !== 'def' || !s.ctx.globals.has(instruction.node.name)) return;
    pay(s.ctx, instruction.node.cost, instruction.node.span);
    s.values.push({ kind: 'var', name: instruction.node.name });
    frame.pc = instruction.a;
  },
  part: (s, frame, instruction) => {
    if (instruction.node.kind !== 'part') throw nodeFault();
    const value = operand(s, frame, instruction);
    s.ctx.at = instruction.node.span;
    s.values.push(partOf(s.ctx, instruction.node, value));
  },
  case: (s, frame, instruction) => {
    if (instruction.node.kind !== 'case') throw nodeFault();
    const chosen = matchCase(s.ctx, instruction.node, operand(s, frame, instruction));
    frame.pc = chosen < 0 ? instruction.a : (instruction.targets[chosen] ?? instruction.a);
  },
  walk: (s, frame, instruction) => {
    if (instruction.node.kind !== 'for') throw nodeFault();
    s.ctx.at = instruction.node.span;
    const slots = levelOf(instruction, instruction.a);
    const value = operand(s, frame, instruction);
    const { counts } = instruction.node;
    frame.L[slots.items] =
      isVector(value) && !counts
        ? value
        : vectorOf(walkItems(s.ctx, value, counts, endsEarly(slots)));
    frame.L[slots.index] = 0;
  },
  next: (s, frame, instruction) => {
    const slots = levelOf(instruction, instruction.targets[0] ?? 0);
    const items = frame.L[slots.items] as Vector;
    const index = frame.L[slots.index] as number;
    if (index >= vectorCount(items)) {
      frame.L[slots.items] = EMPTY_VECTOR;
      frame.pc = instruction.a;
      return;
    }
    pay(s.ctx, 1, instruction.node.span);
    frame.L[slots.item] = vectorAt(items, index);
    frame.L[slots.index] = index + 1;
  },
  gather: (_s, frame, instruction) => {
    if (instruction.a >= 0) frame.L[instruction.a] = EMPTY_VECTOR;
  },
  keep: (s, frame, instruction) => {
    const value = operand(s, frame, instruction);
    if (instruction.a < 0) return;
    const gathered = frame.L[instruction.a] as Vector;
    s.ctx.at = instruction.node.span;
    checkCount(s.ctx, vectorCount(gathered) + 1);
    frame.L[instruction.a] = vectorPush(gathered, value);
  },
  gathered: (s, frame, instruction) => {
    s.values.push(instruction.a < 0 ? null : (frame.L[instruction.a] as Value));
  },
  attempt: (s, _frame, instruction) => {
    s.attempts.push({ frames: s.frames.length, values: s.values.length, pc: instruction.a });
  },
  attempted: (s, frame, instruction) => {
    s.attempts.pop();
    s.values.push(mapOf([keyword('ok')], [operand(s, frame, instruction)], s.ctx));
  },
  task: (s, frame, instruction) => {
    const { node } = instruction;
    if (node.kind !== 'task') throw nodeFault();
    s.ctx.at = node.span;
    const id = readable(operand(s, frame, instruction), s.ctx);
    frame.L[node.slot] = id;
    const known = s.ctx.records.journal.get(id);
    if (known === undefined) return;
    s.values.push(known);
    frame.pc = instruction.a;
  },
  done: (s, frame, instruction) => {
    const { node } = instruction;
    if (node.kind !== 'task') throw nodeFault();
    const id = frame.L[node.slot] as string;
    const value = s.values[s.values.length - 1] as Value;
    s.ctx.records.journal.set(id, value);
    s.ctx.records.journalChanges.set(id, value);
  },
  run: (s, frame, instruction) => {
    instruction.run ??= compileValue(instruction.node);
    const isDone = !isSlow(s) && pushRun(s, frame, instruction.run, s.frames.length + 1);
    if (!isDone) pushParts(s, frame);
  },
  try: (s, frame, instruction) => {
    if (isSlow(s)) return;
    instruction.demands ??= demandsOf(instruction.node);
    instruction.bound ??= boundIn(instruction.node);
    const place = {
      code: frame.code,
      locals: frame.L,
      demands: instruction.demands,
      bound: instruction.bound,
    };
    if (!isFreeHere(s.ctx, place)) return;
    instruction.run ??= compileValue(instruction.node);
    const parts = frame.pc;
    frame.pc = instruction.a;
    if (!pushRun(s, frame, instruction.run, s.frames.length)) frame.pc = parts;
  },
});
