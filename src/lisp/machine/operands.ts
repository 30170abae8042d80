/**
 * Reads the operands of an instruction.
 *
 * I1  Leaves are read in place; computed operands are on the stack and are popped, last one first.
 */
import { slots } from '../value/slots.ts';
import type { Instruction, LeafNode, CodeFrame, Stack } from '../code/code.ts';
import type { Value } from '../value/value.ts';

function read(leaf: LeafNode, frame: CodeFrame): Value {
  return leaf.kind === 'local' ? (frame.L[leaf.slot] as Value) : leaf.value;
}

/** The first, or only, operand. */
export function operand(s: Stack, frame: CodeFrame, instruction: Instruction): Value {
  const leaf = instruction.leaves[0];
  return leaf === null || leaf === undefined ? (s.values.pop() as Value) : read(leaf, frame);
}

/** All operands, in order. */
export function operands(s: Stack, frame: CodeFrame, instruction: Instruction): Value[] {
  const { leaves } = instruction;
  const values = slots<Value>(leaves.length);
  for (let index = leaves.length - 1; index >= 0; index--) {
    const leaf = leaves[index];
    values[index] =
      leaf === null || leaf === undefined ? (s.values.pop() as Value) : read(leaf, frame);
  }
  return values;
}
