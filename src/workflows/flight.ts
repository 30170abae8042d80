/**
 * The calls in flight, and the cancellation scopes that an abort cancels.
 *
 * I1  All calls share one cancellable scope, that of the caller, until an abort cancels it; later
 *     calls get a new one. The workflow's own cancellation reaches every one of them. A run that goes
 *     on for long after an abort has a new scope from the start, so that its own stays usable.
 * I2  A call never rejects: `onFailure` turns its failure into an outcome.
 */
import { CancellationScope } from '@temporalio/workflow';
import { defined } from '../core/base/defined.ts';
import type { RunCall } from './attempts/open-call.ts';
import { isUnreadable, UNREADABLE_PAYLOAD } from './payload-converter.ts';

/** The calls in flight. */
export interface Flight {
  readonly labels: () => readonly string[];
  readonly isIdle: () => boolean;
  /** Adds what is not an activity; call the returned function when it has ended. */
  readonly add: (label: string) => () => void;
  /** Schedules a call, and settles with its outcome however it ended. */
  readonly run: RunCall;
  /** Cancels all calls, or only that with `abortId`. */
  readonly abort: (abortId?: string) => void;
  /** A scope beside that of the calls, so that an abort of one does not reach the other. */
  readonly newScope: () => CancellationScope;
}

/** The labels of the calls in flight. */
function createLabels(onEnd: () => void) {
  const labels: { text: string }[] = [];
  const push = (label: { text: string }): (() => void) => {
    labels.push(label);
    return () => {
      labels.splice(labels.indexOf(label), 1);
      onEnd();
    };
  };
  return { labels, push };
}

/** Hears of the calls of a flight. */
export interface FlightListener {
  /** A call has ended. */
  readonly onEnd: () => void;
  /** All calls are canceled, or only that with `abortId`. */
  readonly onCancel: (abortId?: string) => void;
}

/** No calls yet. */
export function createFlight({ onEnd, onCancel }: FlightListener, outlivesAborts = false): Flight {
  const ambient = CancellationScope.current();
  // The workflow's own cancellation.
  ambient.cancelRequested.catch(() => onCancel());
  const { labels, push } = createLabels(onEnd);
  const alone = new Map<string, CancellationScope>();
  const newScope = (): CancellationScope =>
    new CancellationScope({ cancellable: true, ...defined({ parent: ambient.parent }) });
  let scope = outlivesAborts ? newScope() : ambient;
  const scopeOf = (abortId: string | undefined): CancellationScope => {
    if (abortId === undefined) return scope;
    const own = new CancellationScope({ cancellable: true, parent: scope });
    alone.set(abortId, own);
    return own;
  };
  return {
    add: (text) => push({ text }),
    newScope,
    labels: () => labels.map(({ text }) => text),
    isIdle: () => labels.length === 0,
    run: ({ label, abortId, schedule, onResult, onFailure }) => {
      const shown = { text: label };
      const end = push(shown);
      const forget = <Outcome>(outcome: Outcome): Outcome => {
        if (abortId !== undefined) alone.delete(abortId);
        return outcome;
      };
      const ended = <Outcome>(outcome: Outcome): Outcome => (end(), outcome);
      const within = scopeOf(abortId);
      const begun = within === ambient ? schedule() : within.run(schedule);
      const failed = (error: unknown) => {
        const relabel = (text: string | null): void => void (shown.text = text ?? label);
        const outcome = onFailure(error, { scope: within, relabel });
        return outcome instanceof Promise
          ? outcome.then(forget).then(ended)
          : ended(forget(outcome));
      };
      return begun.then(
        (result) =>
          isUnreadable(result)
            ? failed(new Error(`the result is ${UNREADABLE_PAYLOAD}`))
            : ended(forget(onResult(result))),
        failed,
      );
    },
    abort: (abortId) => {
      if (abortId !== undefined) {
        const one = alone.get(abortId);
        if (one === undefined) return;
        one.cancel();
        return onCancel(abortId);
      }
      const aborted = scope;
      scope = newScope();
      aborted.cancel();
      onCancel();
    },
  };
}
