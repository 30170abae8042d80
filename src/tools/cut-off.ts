/**
 * Runs code that nothing else bounds, such as a schema library's check, whose regular expressions
 * run on V8's engine: a watchdog of V8 ends it. Only what it does before its first wait is watched.
 */
import { Script } from 'node:vm';

/** How long each try may hold the thread. The later ones are for a machine that gives it little time. */
const TRIES_MS = [250, 250, 500, 1_000, 2_000] as const;

/** CPU time of this process that a try must have had to count: else the machine was slow, not the code. */
const COUNTS_FROM_MS = 200;

/** Tries that count: another thread of the process may have used the time of the first. */
const MAX_COUNTED = 2;

const SLOT = Symbol.for('everloop.cut-off');
const slots = globalThis as { [SLOT]?: () => unknown };
const call = new Script("globalThis[Symbol.for('everloop.cut-off')]()");

/** What `work` returns, or undefined if it held the thread too long. It may run five times. */
export function cutOff<Result>(work: () => Result): { readonly result: Result } | undefined {
  let counted = 0;
  for (const timeout of TRIES_MS) {
    const outer = slots[SLOT];
    const before = process.cpuUsage();
    try {
      slots[SLOT] = work;
      return { result: call.runInThisContext({ timeout }) as Result };
    } catch (error) {
      const { code } = Object(error) as { readonly code?: unknown };
      if (code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      const { user, system } = process.cpuUsage(before);
      if ((user + system) / 1_000 >= COUNTS_FROM_MS) counted += 1;
      if (counted === MAX_COUNTED) return undefined;
    } finally {
      if (outer === undefined) delete slots[SLOT];
      else slots[SLOT] = outer;
    }
  }
  return undefined;
}
