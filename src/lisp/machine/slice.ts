/**
 * Slices: after a fixed amount of fuel the machine stops between two instructions, so that its host
 * can handle queries, cancels and results. See `advanceSlice`.
 *
 * I1  Where a slice ends depends on fuel alone, so it is the same in every replay.
 * I2  Compiled code cannot stop. If a slice ends inside it, the code is abandoned: its fuel is
 *     given back, its effects on the context are undone, and it runs again as instructions.
 * I3  Code is abandoned only if it had a whole slice for itself. From then on it runs as
 *     instructions to its end (`Stack.slow`), so no work is abandoned twice.
 * I4  Fuel, value and notes are the same as without slices.
 */
import type { Stack } from '../code/code.ts';
import type { Value } from '../value/value.ts';
import { endSlice, fuelLeft, SLICE, SLICE_END, type Context } from '../value/context.ts';

/** Begins a slice, or lets the machine run on to the end of its fuel. */
export function beginSlice(ctx: Context, hasSlices: boolean): void {
  const left = fuelLeft(ctx);
  ctx.sliced = false;
  ctx.reserve = hasSlices && left > SLICE ? left - SLICE : 0;
  ctx.fuel = left - ctx.reserve;
}

/** Whether the code that is called now must not run compiled. */
export function isSlow(s: Stack): boolean {
  if (s.forced) return true;
  if (s.slow === Infinity) return false;
  if (s.frames.length >= s.slow) return true;
  s.slow = Infinity;
  return false;
}

/**
 * Runs compiled code; undefined when it was abandoned. Then the caller begins it again as
 * instructions, in frames from number `base` on.
 */
export function runFree(s: Stack, base: number, work: () => Value): Value | undefined {
  const { ctx } = s;
  if (ctx.reserve === 0 || ctx.restartable) return work();
  const { fuel, reserve, depth, nesting, waiting, noteCount, records } = ctx;
  const notes = records.notes.length;
  const { droppedNotes } = records;
  const lent = SLICE - fuel < reserve ? SLICE - fuel : reserve;
  ctx.fuel += lent;
  ctx.reserve -= lent;
  ctx.restartable = true;
  ctx.undo.length = 0;
  let value: Value | undefined;
  try {
    value = work();
  } catch (thrown) {
    ctx.restartable = false;
    if (thrown !== SLICE_END) {
      ctx.fuel -= lent;
      ctx.reserve += lent;
      throw thrown;
    }
    for (const putBack of ctx.undo.toReversed()) putBack();
    Object.assign(ctx, { fuel, reserve, depth, nesting, waiting, noteCount });
    records.notes.length = notes;
    records.droppedNotes = droppedNotes;
    ctx.sliced = true;
    s.slow = base;
    return undefined;
  }
  ctx.restartable = false;
  ctx.fuel -= lent;
  ctx.reserve += lent;
  if (ctx.fuel < 0) endSlice(ctx);
  return value;
}
