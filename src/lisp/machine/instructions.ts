/**
 * The instructions of functions, compiled when they are first needed.
 *
 * I1  A function has at most two arrays of instructions: with compiled parts, and `forced`.
 */
import type { FnCode } from '../ast/core-ast.ts';
import type { Instruction, Stack } from '../code/code.ts';

/** The instructions of `code` for the stack. */
export function instructionsOf(s: Stack, code: FnCode): readonly Instruction[] {
  const known = s.forced ? code.forced : code.instructions;
  if (known !== null) return known as readonly Instruction[];
  const made = s.ctx.assemble(code, s.forced) as readonly Instruction[];
  if (s.forced) code.forced = made;
  else code.instructions = made;
  return made;
}
