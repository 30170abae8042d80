/**
 * Beginning a builtin that calls functions; what builtins are is told in `value/value.ts`.
 */
import type { Steps } from '../value/value.ts';

/** A state that has not asked for anything yet. */
export function newSteps(): Steps {
  return {
    done: false,
    result: null,
    fn: null,
    args: [],
    at: 0,
    phase: 0,
    items: [],
    out: [],
    acc: null,
    extra: null,
  };
}
