/**
 * Binds definitions.
 *
 * I1  The first definition in a branch copies the definitions that it shares with its parent.
 * I2  Every definition starts a new `epoch`, which ends cached reads of definitions.
 * I3  A definition that can change which calls are free of effects also starts a new `purity`.
 */
import type { Branch } from './state.ts';
import type { Context } from '../value/context.ts';
import type { Value } from '../value/value.ts';

/** Whether a call of the value can never lead to an effect. */
function isPlain(value: Value | undefined): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const { kind } = value;
  return kind !== 'closure' && kind !== 'combinator' && kind !== 'tool' && kind !== 'builtin';
}

/** Binds `name` in the definitions of the running branch. */
export function define(ctx: Context, branch: Branch, name: string, value: Value): void {
  const before = ctx.globals.get(name);
  if (branch.parent !== null && branch.globals === branch.parent.globals) {
    ctx.globals = new Map(ctx.globals);
    branch.globals = ctx.globals;
  }
  ctx.globals.set(name, value);
  ctx.epoch = {};
  // A call of an unbound name fails, so to define it as data does not change which calls are free.
  if (!isPlain(before) || !isPlain(value)) ctx.purity = {};
}
