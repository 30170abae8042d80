/**
 * Carries out what `core/attempt` decides about the attempts of a call. The workflow begins each one, so
 * that what the provider or tool tried is told from what was lost with a worker.
 *
 * T1  The service is asked for one attempt. After five losses it is asked for as many as it takes:
 *     it repeats what is lost, and writes no events. Any other failure comes back to the workflow.
 * T2  An abort ends each wait. A pause of the run ends it too: when the run resumes, the next attempt
 *     begins at once.
 * T3  An attempt whose worker lacks something never began; see `retry-elsewhere.ts`.
 * T4  A call that too many workers died with waits for an operator; a cancel ends that too. A worker
 *     that stops in order gives the call back and has not died.
 */
import { isRepeatedByService } from '../../core/attempt/attempts.ts';
import { LEFT, type AttemptFailure } from '../../core/attempt/failure.ts';
import {
  deathsOf,
  retriedByOperator,
  type ShownFailure,
  type NextAttempt,
  type Tried,
} from '../../core/attempt/table.ts';
import { defined } from '../../core/base/defined.ts';
import { isoOfMoment } from '../../core/text/civil-date.ts';
import { clip } from '../../core/text/cut.ts';
import type { OpenCall, RunCall } from './open-call.ts';
import type { OperatorWait } from './operator-calls.ts';
import { failureOf } from './read-failure.ts';
import type { Rest, RestEnd } from './rests.ts';
import type { Elsewhere } from './retry-elsewhere.ts';

/** A call that is tried until it ends. */
export interface TriedCall<Result, Outcome, State extends Tried = Tried> {
  /** For people: `model gpt-5`, `tool search`. */
  readonly label: string;
  /** Set when the call can be aborted alone, under this id. */
  readonly abortId?: string | undefined;
  /** The id under which an operator has the call tried again. Default: none can. */
  readonly callId?: string;
  /** What was tried before its first attempt here. */
  readonly before: State;
  /** True: another model is asked next, so this call waits for no other worker. Default false. */
  readonly hasFallback?: boolean;
  /** Begins an attempt; `isElsewhere`: not on the worker that asks for it. */
  readonly schedule: (tried: State, isElsewhere: boolean) => Promise<Result>;
  readonly onResult: (result: Result, tried: State) => Outcome;
  /** What follows from a failure; total, since `core/attempt/table.ts` is. */
  readonly onFailure: (failure: AttemptFailure, tried: State) => NextAttempt<Outcome, State>;
}

/** Tries a call until it ends; never rejects. */
export type TryCall = <Result, Outcome, State extends Tried>(
  call: TriedCall<Result, Outcome, State>,
) => Promise<Outcome>;

/** What attempts need from their host. */
export interface TryParts {
  readonly run: RunCall;
  readonly elsewhere: Elsewhere;
  readonly rest: Rest;
  readonly operator: OperatorWait;
  /** Milliseconds since 1970, as they are recorded. */
  readonly now: () => number;
}

/** The attempts of the calls of a run. */
export function createTryCall(parts: TryParts): TryCall {
  return (call) =>
    parts.run({
      label: call.label,
      abortId: call.abortId,
      schedule: () => call.schedule(call.before, false),
      onResult: (result) => call.onResult(result, call.before),
      onFailure: (error, open) => tryAgain(parts, call, open, error),
    });
}

/** Goes on after `error`, until the call ends. */
async function tryAgain<Result, Outcome, State extends Tried>(
  parts: TryParts,
  call: TriedCall<Result, Outcome, State>,
  open: OpenCall,
  error: unknown,
): Promise<Outcome> {
  const { scope, relabel } = open;
  let tried = call.before;
  let failure = failureOf(error);
  let shown: string | null = null;
  for (;;) {
    const next = call.onFailure(failure, tried);
    if (next.kind === 'end') return next.outcome;
    let attempt: Promise<Result>;
    if (next.kind === 'elsewhere') {
      const found = parts.elsewhere.retry(failure, {
        scope,
        relabel: (text) => relabel(text ?? shown),
        again: () => call.schedule(tried, true),
        ...defined({ hasFallback: call.hasFallback }),
      });
      if (found === null) {
        failure = { ...failure, kind: 'nowhere' };
        continue;
      }
      attempt = found;
    } else {
      const rested = await restBefore(parts, call, open, next);
      tried = next.kind === 'operator' ? retriedByOperator(next.tried) : next.tried;
      if (rested === 'aborted') {
        failure = LEFT;
        continue;
      }
      const refused = next.kind === 'again' ? (next.refused?.() ?? null) : null;
      if (refused !== null) return refused;
      shown = hasTried(tried) ? labelOf(call.label, { ...next, tried }) : call.label;
      relabel(shown);
      attempt = scope.run(() => call.schedule(tried, false));
    }
    try {
      return call.onResult(await attempt, tried);
    } catch (thrown) {
      failure = failureOf(thrown);
      // After a search that is a lack whose time is over.
      if (next.kind === 'elsewhere' && failure.kind === 'lack') {
        failure = { ...failure, kind: 'nowhere' };
      }
    }
  }
}

/** Rests before an attempt, or waits for an operator. */
function restBefore<State extends Tried>(
  { rest, operator, now }: TryParts,
  { label, callId = '' }: { readonly label: string; readonly callId?: string },
  { scope, relabel }: OpenCall,
  next: Exclude<NextAttempt<unknown, State>, { readonly kind: 'end' | 'elsewhere' }>,
): Promise<RestEnd | 'retried'> {
  if (next.kind === 'operator') {
    relabel(`operator: ${label} ended ${deathsOf(next.tried)} workers`);
    return operator(scope, callId);
  }
  relabel(waitLabel(label, next, now()));
  return rest(scope, next.inMs);
}

/** What a call waits for before its next attempt. */
function waitLabel(
  label: string,
  next: Extract<NextAttempt<unknown>, { readonly kind: 'again' }>,
  now: number,
): string {
  const { waitsFor, inMs } = next;
  if (waitsFor !== undefined) return `${label} (waits for ${waitsFor})`;
  return labelOf(label, next, now + inMs);
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
    readonly failure?: ShownFailure;
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
