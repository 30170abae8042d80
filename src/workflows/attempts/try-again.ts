/**
 * The attempts of a call. The workflow begins each one, so that what the provider or tool tried is
 * told from what was lost with a worker.
 *
 * T1  An attempt that was lost is nobody's: it uses up no attempt of the provider or tool.
 * T2  The service is asked for one attempt. After five losses it is asked for as many as it takes:
 *     it repeats what is lost, and writes no events. Any other failure comes back to the workflow.
 * T3  An abort ends each wait. A pause of the run ends it too: when the run resumes, the next attempt
 *     begins at once.
 * T4  An attempt whose worker lacks something never began; see `retry-elsewhere.ts`.
 * T5  A call that too many workers died with waits for an operator; a cancel ends that too. A worker
 *     that stops in order gives the call back and has not died.
 */
import { defined } from '../../core/base/defined.ts';
import { isoOfMoment } from '../../core/text/civil-date.ts';
import { clip } from '../../core/text/cut.ts';
import { isRepeatedByService } from './activity-options.ts';
import { lackOf } from './call-failures.ts';
import type { OpenCall, RunCall } from './open-call.ts';
import type { Elsewhere } from './retry-elsewhere.ts';
import type { OperatorWait } from './operator-calls.ts';
import type { Rest } from './rests.ts';
import { recorded } from '../recorded/recorded.ts';

/** What was tried of a call and has ended. */
export interface Tried {
  /** Attempts of the provider, tool or validators. */
  readonly attempts: number;
  /** Attempts that were lost with their worker. */
  readonly losses: number;
  /** Those of the losses whose worker stopped in order and gave the call back. */
  readonly givenBack: number;
  /** The workers that had died when an operator last had the call tried again. */
  readonly retriedAfter?: number;
}

/** Why an attempt failed, for the status, and how many attempts there are. */
export interface AttemptFailure {
  readonly message: string;
  readonly of: number;
}

/** What a failure means for its call: it ends the call, or another attempt follows. */
export type Failed<Outcome> =
  | { readonly kind: 'final'; readonly outcome: Outcome }
  | {
      readonly kind: 'again';
      readonly tried: Tried;
      readonly inMs: number;
      /** Absent after a loss. */
      readonly failure?: AttemptFailure;
      /** What the call waits for that was not tried, in words. */
      readonly waitsFor?: string;
      /** The outcome if an abort ends the wait. */
      readonly aborted: () => Outcome;
      /** Asked after the wait: an outcome ends the call, null lets the next attempt begin. */
      readonly refused?: () => Outcome | null;
    };

/** A call that only an operator may have tried again. */
export interface OperatorNeeded<Outcome> {
  readonly kind: 'operator';
  readonly callId: string;
  readonly tried: Tried;
  /** The outcome if an abort ends the wait. */
  readonly aborted: () => Outcome;
}

/** A call that is tried until it ends. */
export interface TriedCall<Result, Outcome> {
  /** For people: `model gpt-5`, `tool search`. */
  readonly label: string;
  /** Set when the call can be aborted alone, under this id. */
  readonly abortId?: string | undefined;
  /** What was tried before its first attempt here. Default: nothing. */
  readonly before?: Tried;
  /** True: another model is asked next, so this call waits for no other worker. Default false. */
  readonly hasFallback?: boolean;
  /** Begins an attempt; `isElsewhere`: not on the worker that asks for it. */
  readonly schedule: (tried: Tried, isElsewhere: boolean) => Promise<Result>;
  readonly onResult: (result: Result, tried: Tried) => Outcome;
  readonly onFailure: (error: unknown, tried: Tried) => Failed<Outcome> | OperatorNeeded<Outcome>;
}

/** Tries a call until it ends; never rejects. */
export type TryCall = <Result, Outcome>(call: TriedCall<Result, Outcome>) => Promise<Outcome>;

/** What attempts need from their host. */
export interface TryParts {
  readonly run: RunCall;
  readonly elsewhere: Elsewhere;
  readonly rest: Rest;
  readonly operator: OperatorWait;
}

const NOTHING: Tried = { attempts: 0, losses: 0, givenBack: 0 };

/** The attempts of the calls of a run. */
export function createTryCall({ run, elsewhere, rest, operator }: TryParts): TryCall {
  /** Goes on after `error`, until the call ends. */
  const tryAgain = async <Result, Outcome>(
    call: TriedCall<Result, Outcome>,
    { scope, relabel }: OpenCall,
    error: unknown,
  ): Promise<Outcome> => {
    let tried = call.before ?? NOTHING;
    let failure = error;
    let shown: string | null = null;
    let hasSearched = false;
    const search = (): Promise<Result> | null =>
      elsewhere.retry(failure, {
        scope,
        relabel: (text) => relabel(text ?? shown),
        again: () => call.schedule(tried, true),
        ...defined({ hasFallback: call.hasFallback }),
      });
    for (;;) {
      const found: Promise<Result> | null = hasSearched ? null : search();
      let attempt = found;
      if (attempt === null) {
        const failed = call.onFailure(failure, tried);
        if (failed.kind === 'final') return failed.outcome;
        tried = failed.tried;
        if (failed.kind === 'operator') {
          const deaths = tried.losses - tried.givenBack;
          relabel(`operator: ${call.label} ended ${deaths} workers`);
          if ((await operator(scope, failed.callId)) === 'aborted') return failed.aborted();
          tried = { ...tried, retriedAfter: deaths };
        } else {
          relabel(waitLabel(call.label, failed));
          if ((await rest(scope, failed.inMs)) === 'aborted') return failed.aborted();
          const refused = failed.refused?.() ?? null;
          if (refused !== null) return refused;
        }
        shown = hasTried(tried) ? labelOf(call.label, { ...failed, tried }) : call.label;
        relabel(shown);
        attempt = scope.run(() => call.schedule(tried, false));
      }
      try {
        return call.onResult(await attempt, tried);
      } catch (next) {
        failure = next;
        // After a search that is a lack whose time is over.
        hasSearched = found !== null && lackOf(next) !== null;
      }
    }
  };
  return (call) =>
    run({
      label: call.label,
      abortId: call.abortId,
      schedule: () => call.schedule(call.before ?? NOTHING, false),
      onResult: (result) => call.onResult(result, call.before ?? NOTHING),
      onFailure: (error, open) => tryAgain(call, open, error),
    });
}

/** What a call waits for before its next attempt. */
function waitLabel(label: string, failed: Extract<Failed<unknown>, { kind: 'again' }>): string {
  const { waitsFor, inMs } = failed;
  if (waitsFor !== undefined) return `${label} (waits for ${waitsFor})`;
  return labelOf(label, failed, recorded().now() + inMs);
}

/** A call that only waited for its rate has not been tried. */
function hasTried({ attempts, losses }: Tried): boolean {
  return attempts + losses > 0;
}

/** Characters of a failure that a status shows. */
const MAX_SHOWN = 200;

/**
 * The call with what was tried and why that failed: `model gpt-5 (lost 2 workers)`,
 * `model gpt-5 (attempt 3 of 8 at 2026-03-10T09:00:00.000Z: HTTP 503: Overloaded)`. `at`: when the
 * next attempt begins; absent: it has begun.
 */
export function labelOf(
  label: string,
  {
    tried,
    failure,
  }: {
    readonly tried: Omit<Tried, 'givenBack'>;
    readonly failure?: AttemptFailure;
  },
  at?: number,
): string {
  const { attempts, losses } = tried;
  const many = isRepeatedByService(losses) ? ' or more' : '';
  const when = at === undefined ? '' : ` at ${isoOfMoment(at, 0)}`;
  const why = failure === undefined ? '' : `${when}: ${clip(failure.message, MAX_SHOWN)}`;
  const notes = [
    ...(losses > 0 ? [`lost ${losses}${many} worker${losses === 1 ? '' : 's'}`] : []),
    ...(failure === undefined ? [] : [`attempt ${attempts + 1} of ${failure.of}${why}`]),
  ];
  return `${label} (${notes.join(', ')})`;
}
