/**
 * The act of every instruction: one small function each.
 *
 * I1  `run.ts` has advanced `pc` and charged the cost before an act begins.
 * I2  An act takes its operands off the stack, and pushes a value, pushes a frame or sets `pc`.
 * I3  An act that can fail sets `c.at` first, so a fault has a place in the source.
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
import { keyword, type Value, type Vector } from '../value/value.ts';
import { EMPTY_VECTOR, vectorAt, vectorCount, vectorOf, vectorPush } from '../value/vector.ts';
import { callValue, runBuiltin } from './call.ts';
import { checkCount, pay, type Run } from '../value/context.ts';
import {
  closureOf,
  jumpLimit,
  literalOf,
  matchCase,
  readData,
  readGlobal,
  walkItems,
} from '../code/node-values.ts';
import { operand, operands } from './operands.ts';
import { partOf } from '../code/parts.ts';

function nodeFault(): Fault {
  return new Fault('runtime_error', 'This instruction does not fit its node.');
}

function literal(s: Stack, f: CodeFrame, i: Instruction): void {
  const { kind, span } = i.node;
  const values = operands(s, f, i);
  if (kind === 'vector' || kind === 'map' || kind === 'set') {
    s.values.push(literalOf(s.c, kind, values, span));
  }
}

/** Pushes the value of compiled code, or makes the tail call that it ends in. */
function pushRun(s: Stack, f: CodeFrame, run: Run): void {
  const value = run(f.L, s.c);
  if (value !== TAIL) s.values.push(value);
  else callValue(s, s.c.tailFn, s.c.tailArgs, s.c.at, true);
}

function isFalse(value: Value): boolean {
  return value === null || value === false;
}

/** The slots of one level of a `for`. */
function levelOf(i: Instruction, at: number): { items: number; index: number; item: number } {
  const level = i.node.kind === 'for' ? i.node.levels[at] : undefined;
  if (level === undefined) throw nodeFault();
  return level;
}

/** The acts by op. */
export const ACTS: Acts = Object.freeze<Acts>({
  leaf: (s, f, i) => {
    s.values.push(operand(s, f, i));
  },
  global: (s, _f, i) => {
    if (i.node.kind === 'global') s.values.push(readGlobal(s.c, i.node));
  },
  data: (s, _f, i) => {
    if (i.node.kind === 'data') s.values.push(readData(s.c, i.node.key));
  },
  drop: (s) => {
    s.values.pop();
  },
  set: (s, f, i) => {
    f.L[i.a] = operand(s, f, i);
  },
  jump: (_s, f, i) => {
    f.pc = i.a;
  },
  unless: (s, f, i) => {
    if (isFalse(operand(s, f, i))) f.pc = i.a;
  },
  and: (s, f, i) => {
    const value = operand(s, f, i);
    if (!isFalse(value)) return;
    s.values.push(value);
    f.pc = i.a;
  },
  or: (s, f, i) => {
    const value = operand(s, f, i);
    if (isFalse(value)) return;
    s.values.push(value);
    f.pc = i.a;
  },
  vector: literal,
  map: literal,
  'set-literal': literal,
  fn: (s, f, i) => {
    if (i.node.kind === 'fn') s.values.push(closureOf(i.node.code, f.L));
  },
  call: (s, f, i) => {
    const { node } = i;
    if (node.kind !== 'call') throw nodeFault();
    const values = operands(s, f, i);
    const fn = values.shift() ?? null;
    callValue(s, fn, values, node.span, node.tail);
  },
  builtin: (s, f, i) => {
    const { node } = i;
    if (node.kind !== 'builtin') throw nodeFault();
    runBuiltin(s, node.builtin, operands(s, f, i), node.span);
  },
  enter: (_s, f, i) => {
    f.L[i.a] = 0;
  },
  recur: (s, f, i) => {
    const { node } = i;
    if (node.kind !== 'recur') throw nodeFault();
    const values = operands(s, f, i);
    const jumps = ((f.L[node.counter] as number | undefined) ?? 0) + 1;
    if (jumps > s.c.limits.loopIterations) throw jumpLimit(s.c, node);
    f.L[node.counter] = jumps;
    for (let index = 0; index < values.length; index++) {
      f.L[node.slots[index] as number] = values[index] as Value;
    }
    f.pc = i.a;
  },
  return: (s, f) => {
    s.frames.pop();
    if (f.span !== null) s.c.depth -= 1;
  },
  def: (s, f, i) => {
    if (i.node.kind !== 'def') throw nodeFault();
    s.host?.define(i.node.name, operand(s, f, i));
    s.values.push({ kind: 'var', name: i.node.name });
  },
  defonce: (s, f, i) => {
    if (i.node.kind !== 'def' || !s.c.globals.has(i.node.name)) return;
    pay(s.c, i.node.cost, i.node.span);
    s.values.push({ kind: 'var', name: i.node.name });
    f.pc = i.a;
  },
  part: (s, f, i) => {
    if (i.node.kind !== 'part') throw nodeFault();
    const value = operand(s, f, i);
    s.c.at = i.node.span;
    s.values.push(partOf(s.c, i.node, value));
  },
  case: (s, f, i) => {
    if (i.node.kind !== 'case') throw nodeFault();
    const chosen = matchCase(s.c, i.node, operand(s, f, i));
    f.pc = chosen < 0 ? i.a : (i.targets[chosen] ?? i.a);
  },
  walk: (s, f, i) => {
    if (i.node.kind !== 'for') throw nodeFault();
    s.c.at = i.node.span;
    const slots = levelOf(i, i.a);
    f.L[slots.items] = vectorOf(walkItems(s.c, operand(s, f, i), i.node.counts));
    f.L[slots.index] = 0;
  },
  next: (s, f, i) => {
    const slots = levelOf(i, i.targets[0] ?? 0);
    const items = f.L[slots.items] as Vector;
    const index = f.L[slots.index] as number;
    if (index >= vectorCount(items)) {
      f.L[slots.items] = EMPTY_VECTOR;
      f.pc = i.a;
      return;
    }
    pay(s.c, 1, i.node.span);
    f.L[slots.item] = vectorAt(items, index);
    f.L[slots.index] = index + 1;
  },
  gather: (_s, f, i) => {
    if (i.a >= 0) f.L[i.a] = EMPTY_VECTOR;
  },
  keep: (s, f, i) => {
    const value = operand(s, f, i);
    if (i.a < 0) return;
    const gathered = f.L[i.a] as Vector;
    s.c.at = i.node.span;
    checkCount(s.c, vectorCount(gathered) + 1);
    f.L[i.a] = vectorPush(gathered, value);
  },
  gathered: (s, f, i) => {
    s.values.push(i.a < 0 ? null : (f.L[i.a] as Value));
  },
  attempt: (s, _f, i) => {
    s.attempts.push({ frames: s.frames.length, values: s.values.length, pc: i.a });
  },
  attempted: (s, f, i) => {
    s.attempts.pop();
    s.values.push(mapOf([keyword('ok')], [operand(s, f, i)], s.c));
  },
  task: (s, f, i) => {
    const { node } = i;
    if (node.kind !== 'task') throw nodeFault();
    s.c.at = node.span;
    const id = readable(operand(s, f, i), s.c);
    f.L[node.slot] = id;
    const known = s.c.records.journal.get(id);
    if (known === undefined) return;
    s.values.push(known);
    f.pc = i.a;
  },
  done: (s, f, i) => {
    const { node } = i;
    if (node.kind !== 'task') throw nodeFault();
    const id = f.L[node.slot] as string;
    const value = s.values[s.values.length - 1] as Value;
    s.c.records.journal.set(id, value);
    s.c.records.journalChanges.set(id, value);
  },
  run: (s, f, i) => {
    i.run ??= compileValue(i.node);
    pushRun(s, f, i.run);
  },
  try: (s, f, i) => {
    i.demands ??= demandsOf(i.node);
    i.bound ??= boundIn(i.node);
    const place = { code: f.code, locals: f.L, demands: i.demands, bound: i.bound };
    if (!isFreeHere(s.c, place)) return;
    i.run ??= compileValue(i.node);
    f.pc = i.a;
    pushRun(s, f, i.run);
  },
});
