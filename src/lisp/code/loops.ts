/**
 * Compiled code of `loop` and `recur`.
 *
 * I1  A `recur` evaluates all its arguments, then sets the slots of its loop, then returns `RECUR`.
 * I2  The usual loop, `(if test (recur …) end)`, is compiled as a whole and needs no mark.
 * I3  The iterations of a loop are counted in a slot; too many of them are a fault on both tiers.
 */
import type { Node, NodeOf } from '../ast/core-ast.ts';
import { spend, type Context, type CompiledNode } from '../value/context.ts';
import { jumpLimit } from './node-values.ts';
import type { Span } from '../base/source.ts';
import type { Value, VarMark } from '../value/value.ts';
import { operandOf, read, type Operand } from './operand.ts';

/** Compiles a node of the loop. */
type Compile = (node: Node) => CompiledNode;

/** The mark that a `recur` returns to its loop. */
export const RECUR: VarMark = Object.freeze({ kind: 'var', name: 'recur~' });

/** Runs bindings one after another. */
export function compileInits(
  inits: NodeOf<'loop'>['inits'],
  compile: Compile,
): (L: Value[], c: Context) => void {
  const runs = inits.map(({ slot, value, cost }) => ({
    slot,
    cost,
    span: value.span,
    init: operandOf(value, compile),
  }));
  return (L, c) => {
    for (let index = 0; index < runs.length; index++) {
      const one = runs[index];
      if (one === undefined) return;
      const bound = read(one.init, L, c);
      spend(c, one.cost, one.span);
      L[one.slot] = bound;
    }
  };
}

/** Compiled code of a `loop`. */
export function compileLoop(node: NodeOf<'loop'>, compile: Compile): CompiledNode {
  const inits = compileInits(node.inits, compile);
  const rounds = compileRounds(node, compile);
  const { counter } = node;
  return (L, c) => {
    inits(L, c);
    L[counter] = 0;
    return rounds(L, c);
  };
}

/** The iterations of a loop whose locals are set. */
function compileRounds({ body, counter }: NodeOf<'loop'>, compile: Compile): CompiledNode {
  if (body.kind === 'if') {
    const { test, chosen, otherwise } = body;
    const next = [chosen, otherwise].find(
      (node) => node.kind === 'recur' && node.counter === counter,
    );
    if (next?.kind === 'recur') {
      const end = next === chosen ? otherwise : chosen;
      return compileCounting(
        {
          test,
          next,
          end,
          jumpsWhen: next === chosen,
          cost: body.cost,
          span: body.span,
        },
        compile,
      );
    }
  }
  const run = compile(body);
  return (L, c) => {
    for (;;) {
      const value = run(L, c);
      if (value !== RECUR) return value;
    }
  };
}

/** The parts of a loop of the form `(if test (recur …) end)` or `(if test end (recur …))`. */
interface LoopParts {
  readonly test: Node;
  readonly next: NodeOf<'recur'>;
  readonly end: Node;
  readonly jumpsWhen: boolean;
  readonly cost: number;
  readonly span: Span;
}

/** The iterations of such a loop. */
function compileCounting(parts: LoopParts, compile: Compile): CompiledNode {
  const { jumpsWhen, cost, span, next } = parts;
  const test = operandOf(parts.test, compile);
  const bound = boundOf(parts.test);
  const end = compile(parts.end);
  const { first, second, third, slotA, slotB, slotC, count } = jumpParts(next, compile);
  const jump = next.args.length > 3 ? compileJump(next, compile) : null;
  const { counter } = next;
  return (L, c) => {
    for (;;) {
      const counted = bound === null ? null : (L[bound.slot] as Value);
      let value: Value;
      if (bound !== null && typeof counted === 'number') {
        if ((c.fuel -= bound.cost) < 0) spend(c, 0, bound.span);
        value = bound.below ? counted < bound.limit : counted > bound.limit;
      } else value = read(test, L, c);
      if ((c.fuel -= cost) < 0) spend(c, 0, span);
      if ((value !== null && value !== false) !== jumpsWhen) {
        const last = end(L, c);
        if (last !== RECUR) return last;
      } else if (jump !== null) jump(L, c);
      else {
        // The same as `compileJump`, without a call.
        const a = count > 0 ? read(first, L, c) : null;
        const b = count > 1 ? read(second, L, c) : null;
        const d = count > 2 ? read(third, L, c) : null;
        if ((c.fuel -= next.cost) < 0) spend(c, 0, next.span);
        const jumps = (L[counter] as number) + 1;
        if (jumps > c.loopIterations) throw jumpLimit(c, next);
        L[counter] = jumps;
        if (count > 0) L[slotA] = a;
        if (count > 1) L[slotB] = b;
        if (count > 2) L[slotC] = d;
      }
    }
  };
}

/** A test `(< local constant)` or `(> local constant)`, which needs no call. */
interface Bound {
  readonly slot: number;
  readonly limit: number;
  readonly below: boolean;
  readonly cost: number;
  readonly span: Span;
}

function boundOf(test: Node): Bound | null {
  if (test.kind !== 'builtin' || test.args.length !== 2) return null;
  const { name } = test.builtin;
  if (name !== '<' && name !== '>') return null;
  const [local, limit] = test.args;
  if (local?.kind !== 'local' || limit?.kind !== 'const') return null;
  if (typeof limit.value !== 'number') return null;
  const { cost, span } = test;
  return { slot: local.slot, limit: limit.value, below: name === '<', cost, span };
}

/** The first three arguments of a jump and their slots; a missing one is nil. */
function jumpParts({ args, slots }: NodeOf<'recur'>, compile: Compile): JumpParts {
  const [first = NOTHING, second = NOTHING, third = NOTHING] = args
    .slice(0, 3)
    .map((arg) => operandOf(arg, compile));
  const [slotA = 0, slotB = 0, slotC = 0] = slots;
  return { first, second, third, slotA, slotB, slotC, count: args.length };
}

interface JumpParts {
  readonly first: Operand;
  readonly second: Operand;
  readonly third: Operand;
  readonly slotA: number;
  readonly slotB: number;
  readonly slotC: number;
  readonly count: number;
}

const NOTHING: Operand = Object.freeze<Operand>({ slot: -1, value: null, run: null });

/** Compiled code of a `recur` at any place of a loop or function. */
export function compileRecur(node: NodeOf<'recur'>, compile: Compile): CompiledNode {
  const jump = compileJump(node, compile);
  return (L, c) => {
    jump(L, c);
    return RECUR;
  };
}

/** Sets the slots of a loop for its next iteration, and counts the jump. */
function compileJump(node: NodeOf<'recur'>, compile: Compile): (L: Value[], c: Context) => void {
  const { slots, counter, cost, span } = node;
  const args = node.args.map((arg) => operandOf(arg, compile));
  return (L, c) => {
    const values: Value[] = [];
    for (let index = 0; index < args.length; index++) {
      values.push(read(args[index] as Operand, L, c));
    }
    if ((c.fuel -= cost) < 0) spend(c, 0, span);
    const jumps = ((L[counter] as number | undefined) ?? 0) + 1;
    if (jumps > c.loopIterations) throw jumpLimit(c, node);
    L[counter] = jumps;
    for (let index = 0; index < slots.length; index++) {
      L[slots[index] as number] = values[index] as Value;
    }
  };
}
