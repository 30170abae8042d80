/**
 * Operands of compiled code.
 *
 * I1  Constants and locals are read in place; a closure call for each would cost more than the
 *     work.
 * I2  The user of an operand pays for a leaf; any other operand pays for itself when it runs.
 */
import type { Node } from '../ast/core-ast.ts';
import type { Context, CompiledNode } from '../value/context.ts';
import type { Value } from '../value/value.ts';

/** A constant, a local, or code that has to run. */
export interface Operand {
  /** The slot of a local, or −1. */
  readonly slot: number;
  /** The value of a constant. */
  readonly value: Value;
  /** The code of another node, or null. */
  readonly run: CompiledNode | null;
}

/** `node` as an operand; `compile` makes the code of a node that is not a leaf. */
export function operandOf(node: Node, compile: (node: Node) => CompiledNode): Operand {
  if (node.kind === 'const') return { slot: -1, value: node.value, run: null };
  if (node.kind === 'local') return { slot: node.slot, value: null, run: null };
  return { slot: -1, value: null, run: compile(node) };
}

/** The value of an operand (I2). */
export function read(operand: Operand, L: readonly Value[], c: Context): Value {
  const { slot, run } = operand;
  if (slot >= 0) return L[slot] as Value;
  return run === null ? operand.value : run(L as Value[], c);
}
