/**
 * Beginning a builtin that calls functions; what builtins are is told in `value/value.ts`.
 */
import type { Steps, Value } from '../../value/value.ts';

/** Replaced before anything is put into it. */
const NONE: Value[] = Object.freeze([]) as unknown as Value[];

/** A state that has not asked for anything yet. */
export function newSteps(): Steps {
  return {
    done: false,
    result: null,
    fn: null,
    args: NONE,
    at: 0,
    phase: 0,
    items: NONE,
    out: [],
    acc: null,
    extra: null,
  };
}
