/**
 * The wait of a call for a worker that has what the call needs: its agent, tool, model, validator,
 * or credentials that the provider takes.
 *
 * E1  A worker says that it lacks something before the call has any effect. So the call is tried
 *     again even if its tool is `once`, and no attempt is used.
 * E2  The pauses grow by half, from 1 s to 30 s, until together they reach `elsewhereMs` of the run.
 *     The last failure is then that of the call.
 * E3  An abort ends the wait. A pause of the run ends it too: when the run resumes, the call is
 *     tried at once, and a new wait begins if it has to.
 */
import type { ActivityRuntime } from '../../activities/activity-types.ts';
import type { Run } from '../../core/run/run.ts';
import { lackOf, WaitAborted } from './call-failures.ts';
import type { OpenCall } from './open-call.ts';
import type { Rest } from './rests.ts';

/** The wait when neither the agent nor the worker's environment says otherwise. */
const DEFAULT_ELSEWHERE_MS = 600_000;

/**
 * Pauses grow slowly, because which worker takes a call is chance: with one fit worker of two, one
 * call in sixty misses six times in a row, which takes 20 s, and a minute if pauses doubled.
 */
const FIRST_PAUSE_MS = 1_000;
const PAUSE_FACTOR = 1.5;
const MAX_PAUSE_MS = 30_000;

/**
 * After the default wait, pauses grow up to this: each try adds a dozen events to a history that
 * cannot be handed over meanwhile.
 */
const MAX_LATE_PAUSE_MS = 600_000;

/** A call that failed on a worker, and how to begin it on another. */
export interface FailedCall<Result> extends OpenCall {
  readonly again: () => Promise<Result>;
  /** True: the first try was a local activity. Default false. */
  readonly isLocal?: boolean;
  /** True: another model is asked next, so this call does not wait. Default false. */
  readonly hasFallback?: boolean;
}

/** Waits for other workers. */
export interface Elsewhere {
  /**
   * Tries the call again until a worker has what it needs. Null: `error` says something else, or
   * the call does not wait. Rejects with WaitAborted, with any other failure of a later try, or with
   * the last failure of this kind when the time is over.
   */
  readonly retry: <Result>(error: unknown, call: FailedCall<Result>) => Promise<Result> | null;
}

/** What waits need from the host and its run. */
export interface ElsewhereParts {
  readonly runtime: ActivityRuntime;
  readonly rest: Rest;
  /** Null before the run has begun. */
  readonly run: () => Run | null;
  /** False in a link that began before there were such waits; see `Link.limitsAtOnce`. */
  readonly isNew: boolean;
}

/** The waits of one run. */
export function createElsewhere({ runtime, rest, run, isNew }: ElsewhereParts): Elsewhere {
  const limitMs = elsewhereMsOf(runtime.elsewhereMs);
  const tryAgain = async <Result>(call: FailedCall<Result>, what: string): Promise<Result> => {
    let waitedMs = 0;
    let lacking = what;
    for (let next = FIRST_PAUSE_MS; ; next = longer(next, waitedMs)) {
      call.relabel(`worker with ${lacking}`);
      const ms = Math.min(next, limitMs - waitedMs);
      const ended = await rest(call.scope, ms);
      if (ended === 'aborted') throw new WaitAborted();
      if (ended === 'resumed') [waitedMs, next] = [0, FIRST_PAUSE_MS];
      else waitedMs += ms;
      call.relabel(null);
      try {
        return await call.scope.run(call.again);
      } catch (error) {
        const lack = lackOf(error);
        if (lack === null || waitedMs >= limitMs) throw error;
        lacking = lack.what;
      }
    }
  };
  return {
    retry: (error, call) => {
      const lack = lackOf(error);
      if (lack === null || limitMs === 0) return null;
      // The worker of the failure may have been newer than that of the workflow. A local activity
      // ran in the worker of the workflow, so its failure shows what that one does.
      if (call.isLocal !== true && !isNew) return null;
      const { what, message } = lack;
      const { hasFallback = false } = call;
      const does = hasFallback ? 'asks the next model and not' : 'waits for';
      const warning = `${does} a worker with ${what}: ${message}`;
      run()?.record({ type: 'agent:warning', code: 'elsewhere', message: warning });
      return hasFallback ? null : tryAgain(call, what);
    },
  };
}

/** A call that begins again on another worker, and what its end means. */
export interface CallElsewhere<Result, Outcome> extends Pick<
  FailedCall<Result>,
  'again' | 'isLocal'
> {
  readonly onResult: (result: Result) => Outcome;
  readonly onFailure: (error: unknown) => Outcome;
}

/** Reads the failure of a call, after a wait for a worker that has what the call needs. */
export function onFailureElsewhere<Result, Outcome>(
  elsewhere: Elsewhere,
  { again, isLocal = false, onResult, onFailure }: CallElsewhere<Result, Outcome>,
): (error: unknown, open: OpenCall) => Outcome | Promise<Outcome> {
  return (error, open) =>
    elsewhere.retry(error, { ...open, again, isLocal })?.then(onResult, onFailure) ??
    onFailure(error);
}

/** The pause after one of `ms`, when the call has waited for `waitedMs` in all. */
function longer(ms: number, waitedMs: number): number {
  const maxMs = waitedMs < DEFAULT_ELSEWHERE_MS ? MAX_PAUSE_MS : MAX_LATE_PAUSE_MS;
  return Math.min(ms * PAUSE_FACTOR, maxMs);
}

/** The recorded wait as a number: null is for ever. */
export function elsewhereMsOf(recorded: number | null | undefined): number {
  return recorded === null ? Infinity : (recorded ?? DEFAULT_ELSEWHERE_MS);
}
