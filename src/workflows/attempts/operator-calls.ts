/** Calls that have lost too many workers, and wait until an operator has them tried again. */
import type { CancellationScope } from '@temporalio/workflow';
import type { Waits } from '../../core/run/waits.ts';

/** The calls of a run that wait for an operator. */
export interface OperatorCalls {
  /** A call waits. Returns whether it was asked for, and what ends the wait. */
  readonly begin: (callId: string) => {
    readonly isRetried: () => boolean;
    readonly end: () => void;
  };
  /** Why the call cannot be tried again; null: it waits. */
  readonly problem: (callId: unknown) => string | null;
  /** Has a call that waits tried again. */
  readonly retry: (callId: string) => void;
}

/** No calls yet. */
export function createOperatorCalls(): OperatorCalls {
  const waiting = new Map<string, { isRetried: boolean }>();
  return {
    begin: (callId) => {
      const call = { isRetried: false };
      waiting.set(callId, call);
      return { isRetried: () => call.isRetried, end: () => void waiting.delete(callId) };
    },
    problem: (callId) => {
      if (typeof callId === 'string' && waiting.has(callId)) return null;
      const ids = [...waiting.keys()];
      const got = ids.length === 0 ? 'none waits' : `these wait: ${ids.slice(0, 20).join(', ')}`;
      return `Expected the id of a call that waits for an operator; ${got}. See the status of the run.`;
    },
    retry: (callId) => {
      const call = waiting.get(callId);
      if (call !== undefined) call.isRetried = true;
    },
  };
}

/** Waits until an operator has the call tried again, or `scope` is canceled. */
export type OperatorWait = (
  scope: CancellationScope,
  callId: string,
) => Promise<'retried' | 'aborted'>;

/** Waits of the calls of a run. */
export function createOperatorWait(waits: Waits, calls: OperatorCalls): OperatorWait {
  return async (scope, callId) => {
    const { isRetried, end } = calls.begin(callId);
    const isOver = (): boolean => scope.consideredCancelled;
    scope.cancelRequested.catch(() => waits.wake());
    await waits.until(() => isOver() || isRetried());
    end();
    return isOver() ? 'aborted' : 'retried';
  };
}
