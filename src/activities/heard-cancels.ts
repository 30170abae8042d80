/**
 * Cancels that a workflow tells the activities of its own process, so that none waits for a
 * heartbeat. A workflow in another process tells nobody here: its activities hear from the service.
 *
 * I1  The service learns of each cancel, too, by the command of the workflow. Nothing is canceled
 *     only here.
 * I2  A workflow tells a cancel before it begins any later call, so the cancel is for those that
 *     listen when it is told.
 */

/** A call that can be canceled. */
export interface ListeningCall {
  /** The execution of its workflow; absent: it has none. */
  readonly executionId: string | undefined;
  /** The id under which it can be aborted alone; absent: it cannot. */
  readonly abortId: string | undefined;
}

/** Where workflows tell cancels, and activities hear them. */
export interface HeardCancels {
  /** Calls `onCancel` once when the call is canceled; the returned function ends that. */
  readonly listen: (call: ListeningCall, onCancel: () => void) => () => void;
  /** Cancels the calls of an execution, or only that with `abortId`. */
  readonly tell: (executionId: string, abortId?: string) => void;
}

/** Tells nothing. */
export const NO_CANCELS: HeardCancels = {
  listen: () => () => undefined,
  tell: () => undefined,
};

/** An activity that listens. */
interface Listener {
  readonly abortId: string | undefined;
  readonly onCancel: () => void;
}

/** Cancels of one process. */
export function createHeardCancels(): HeardCancels {
  const listening = new Map<string, Set<Listener>>();
  return {
    listen: ({ executionId, abortId }, onCancel) => {
      if (executionId === undefined) return () => undefined;
      const listener = { abortId, onCancel };
      const calls = listening.get(executionId) ?? new Set();
      listening.set(executionId, calls.add(listener));
      return () => {
        calls.delete(listener);
        if (calls.size === 0 && listening.get(executionId) === calls) listening.delete(executionId);
      };
    },
    tell: (executionId, abortId) => {
      const calls = [...(listening.get(executionId) ?? [])];
      for (const call of calls) {
        if (abortId === undefined || call.abortId === abortId) call.onCancel();
      }
    },
  };
}
