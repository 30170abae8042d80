/** What the local tries of one workflow task may take together: time, and places in its completion. */
import { MOST_LOCAL_TRIES } from '../../core/attempt/attempts.ts';

/** The time of the local tries of a workflow task together. A steer must take effect in 1.5 s. */
export const LOCAL_TRIES_MS = 800;

/** With less time left, a call is not tried. */
const LEAST_MS = 50;

/** The budget of the tries of a task. */
export interface TryBudget {
  /** Begins a try that has so many milliseconds; null: there is no room for one. */
  readonly begin: () => number | null;
  /** A try has ended. */
  readonly end: () => void;
  /** Something has come that a new task brought. While tries are open, it is still the same one. */
  readonly nextTask: () => void;
}

/** The budget of a first task. `now`: in the workflow, it moves when an activity ends. */
export function createTryBudget(now: () => number): TryBudget {
  /** When the first try of this task began, as far as that is known; null: none has. */
  let since: number | null = null;
  let begun = 0;
  let open = 0;
  return {
    begin: () => {
      const ms = LOCAL_TRIES_MS - (since === null ? 0 : now() - since);
      if (ms < LEAST_MS || begun >= MOST_LOCAL_TRIES) return null;
      since ??= now();
      begun += 1;
      open += 1;
      return ms;
    },
    end: () => {
      open -= 1;
    },
    nextTask: () => {
      if (open > 0) return;
      since = null;
      begun = 0;
    },
  };
}
