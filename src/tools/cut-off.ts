/**
 * Runs code that nothing else bounds, such as a schema library's check, whose regular expressions
 * run on V8's engine: a watchdog of V8 ends it. Only what it does before its first wait is watched.
 */
import { Script } from 'node:vm';

/** How long the code may hold the thread. */
const MAX_HELD_MS = 250;

/** Tries: the first may have met a pause of the whole machine. */
const TRIES = 2;

const SLOT = Symbol.for('everloop.cut-off');
const slots = globalThis as { [SLOT]?: () => unknown };
const call = new Script("globalThis[Symbol.for('everloop.cut-off')]()");

/** What `work` returns, or undefined if it held the thread too long, twice. It may run twice. */
export function cutOff<Result>(work: () => Result): { readonly result: Result } | undefined {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const outer = slots[SLOT];
    try {
      slots[SLOT] = work;
      return { result: call.runInThisContext({ timeout: MAX_HELD_MS }) as Result };
    } catch (error) {
      const { code } = Object(error) as { readonly code?: unknown };
      if (code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    } finally {
      if (outer === undefined) delete slots[SLOT];
      else slots[SLOT] = outer;
    }
  }
  return undefined;
}
