/**
 * The wait of a call for a worker that has what the call needs: its agent, tool, model, validator,
 * or credentials that the provider takes.
 *
 * E1  A worker says that it lacks something before the call has any effect. So the call is tried
 *     again even if its tool is `once`, and no attempt is used.
 * E2  The pauses grow by half, from 1 s to 30 s, until together they reach `elsewhereMs` of the run;
 *     see `spread-pauses.ts`. The last failure is then that of the call.
 * E3  An abort ends the wait. A pause of the run ends it too: when the run resumes, the call is
 *     tried at once, and a new wait begins if it has to.
 */
import type { ActivityRuntime } from '../../activities/activity-types.ts';
import type { AttemptFailure } from '../../core/attempt/failure.ts';
import type { Run } from '../../core/run/run.ts';
import type { OpenCall } from './open-call.ts';
import { failureOf, WaitAborted } from './read-failure.ts';
import type { Rest } from './rests.ts';
import { DEFAULT_ELSEWHERE_MS, pausesOf, type Spread } from './spread-pauses.ts';

/** A call that failed on a worker, and how to begin it on another. */
export interface FailedCall<Result> extends OpenCall {
  readonly again: () => Promise<Result>;
  /** True: another model is asked next, so this call does not wait. Default false. */
  readonly hasFallback?: boolean;
}

/** Waits for other workers. */
export interface Elsewhere {
  /**
   * Tries the call again until a worker has what it needs. Null: `failure` says something else, or
   * the call does not wait. Rejects with WaitAborted, with any other failure of a later try, or with
   * the last failure of this kind when the time is over.
   */
  readonly retry: <Result>(
    failure: AttemptFailure,
    call: FailedCall<Result>,
  ) => Promise<Result> | null;
}

/** What waits need from the host and its run. */
export interface ElsewhereParts {
  readonly runtime: ActivityRuntime;
  readonly rest: Rest;
  /** Null before the run has begun. */
  readonly run: () => Run | null;
  /** Moves the tries of this run. */
  readonly spread: Spread;
}

/** The waits of one run. */
export function createElsewhere({ runtime, rest, run, spread }: ElsewhereParts): Elsewhere {
  const limitMs = elsewhereMsOf(runtime.elsewhereMs);
  const tryAgain = async <Result>(call: FailedCall<Result>, what: string): Promise<Result> => {
    let last: unknown;
    let lacking = what;
    let pauses = pausesOf(limitMs, spread);
    for (let pause = pauses.next(); pause.done !== true; pause = pauses.next()) {
      call.relabel(`worker with ${lacking}`);
      const ended = await rest(call.scope, pause.value);
      if (ended === 'aborted') throw new WaitAborted();
      if (ended === 'resumed') pauses = pausesOf(limitMs, spread, { isResumed: true });
      call.relabel(null);
      try {
        return await call.scope.run(call.again);
      } catch (thrown) {
        const { lack } = failureOf(thrown);
        if (lack === undefined) throw thrown;
        last = thrown;
        lacking = lack.what;
      }
    }
    throw last;
  };
  return {
    retry: ({ lack, message }, call) => {
      if (lack === undefined || limitMs === 0) return null;
      const { what } = lack;
      const { hasFallback = false } = call;
      const does = hasFallback ? 'asks the next model and not' : 'waits for';
      const warning = `${does} a worker with ${what}: ${message}`;
      run()?.record({ type: 'agent:warning', code: 'elsewhere', message: warning });
      return hasFallback ? null : tryAgain(call, what);
    },
  };
}

/** The recorded wait as a number: null is for ever. */
export function elsewhereMsOf(recorded: number | null | undefined): number {
  return recorded === null ? Infinity : (recorded ?? DEFAULT_ELSEWHERE_MS);
}
