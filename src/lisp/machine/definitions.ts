/**
 * Binding definitions.
 */
import type { Branch } from './state.ts';
import type { Context } from '../value/context.ts';
import type { Value } from '../value/value.ts';

/** Values that can never lead to an effect when they are called. */
function isPlain(value: Value | undefined): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const { kind } = value;
  return kind !== 'closure' && kind !== 'combinator' && kind !== 'tool' && kind !== 'builtin';
}

/** Binds `name` in the definitions that the running branch sees. */
export function define(c: Context, branch: Branch, name: string, value: Value): void {
  const before = c.globals.get(name);
  if (branch.parent !== null && branch.globals === branch.parent.globals) {
    // A branch has definitions of its own from its first one on.
    c.globals = new Map(c.globals);
    branch.globals = c.globals;
  }
  c.globals.set(name, value);
  c.epoch = {};
  // An unbound name is not called, or fails; what was remembered about it stays true for data.
  if (!isPlain(before) || !isPlain(value)) c.purity = {};
}
