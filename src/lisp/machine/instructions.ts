/**
 * Finds the instructions of a function, compiling them when they are first needed.
 */
import type { FnCode, Instruction } from '../code/code.ts';
import type { Stack } from './state.ts';

/** The instructions of `code` for the stack at hand. */
export function instructionsOf(s: Stack, code: FnCode): readonly Instruction[] {
  const known = s.forced ? code.forced : code.instructions;
  if (known !== null) return known;
  const made = s.c.assemble(code, s.forced);
  if (s.forced) code.forced = made;
  else code.instructions = made;
  return made;
}
