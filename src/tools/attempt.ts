/**
 * Runs a user's function with a deadline and a signal to stop it. If the function ignores the
 * signal, the caller goes on after a grace time, and the late result is dropped.
 */
import { defined } from '../core/base/defined.ts';
import type { HideText } from '../core/text/hide.ts';

/** How long a stopped function may take to settle, in ms. One that heeds the signal is faster. */
export const STOP_GRACE_MS = 3_000;

/** How a function settled: with a value or an error. */
export type Settled =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown };

/**
 * The result of an attempt; `late` is how the function settled within the grace time, if it did.
 */
export type AttemptOutcome =
  | Settled
  | { readonly kind: 'timed_out'; readonly late?: Settled }
  | { readonly kind: 'stopped'; readonly late?: Settled }
  /** Stopped before the function was called, so it did nothing. */
  | { readonly kind: 'unstarted' };

/** What an attempt of a call or a judgement gets besides its order. */
export interface AttemptOptions {
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** Aborted by a cancel, an interrupt or a shutdown of the worker. */
  readonly signal: AbortSignal;
  /** How long a stopped function may take to settle; see `attempt`. */
  readonly graceMs?: number;
  /**
   * Called with the milliseconds that the function took before it first waited for anything:
   * nothing else of this process could run meanwhile.
   */
  readonly onHeld?: (heldMs: number) => void;
  /** Takes values out of what the code returns, throws and emits; default: nothing does. */
  readonly hide?: HideText;
}

/** The bounds of an attempt. */
export interface AttemptBounds {
  /** Stops the attempt from outside. */
  readonly signal: AbortSignal;
  /** Absent: no deadline. */
  readonly timeoutMs?: number;
  /** How long it may take to settle after a stop; default {@link STOP_GRACE_MS}. */
  readonly graceMs?: number;
  /** Whether the grace time also applies at the deadline. Default false. */
  readonly graceAtDeadline?: boolean;
  /** See {@link AttemptOptions}. */
  readonly onHeld?: (heldMs: number) => void;
}

/** Runs `work` until it settles, its time is up or it is stopped. Never rejects. */
export async function attempt(
  work: (signal: AbortSignal) => unknown,
  bounds: AttemptBounds,
): Promise<AttemptOutcome> {
  if (bounds.signal.aborted) return { kind: 'unstarted' };
  const stop = new AbortController();
  const settled = settle(work, stop.signal, bounds.onHeld);
  const first = await firstOf(settled, bounds);
  if (first === 'timed_out' || first === 'stopped') {
    stop.abort(first === 'stopped' ? bounds.signal.reason : timeoutReason());
    const isWaited = first === 'stopped' || bounds.graceAtDeadline === true;
    const late = isWaited ? await within(settled, bounds.graceMs ?? STOP_GRACE_MS) : undefined;
    return { kind: first, ...defined({ late }) };
  }
  return first;
}

async function settle(
  work: (signal: AbortSignal) => unknown,
  signal: AbortSignal,
  onHeld: (heldMs: number) => void = () => undefined,
): Promise<Settled> {
  try {
    const value = timed(() => work(signal), onHeld);
    return { kind: 'returned', value: await value };
  } catch (error) {
    return { kind: 'threw', error };
  }
}

/** Calls `work` and then `onTime` with how long the call itself took. */
function timed<Result>(work: () => Result, onTime: (ms: number) => void): Result {
  const begunAt = performance.now();
  try {
    return work();
  } finally {
    onTime(performance.now() - begunAt);
  }
}

function firstOf(
  settled: Promise<Settled>,
  { signal, timeoutMs }: AttemptBounds,
): Promise<Settled | 'timed_out' | 'stopped'> {
  return new Promise((resolve) => {
    const timer =
      timeoutMs === undefined ? undefined : setTimeout(() => finish('timed_out'), timeoutMs);
    const onAbort = (): void => finish('stopped');
    const finish = (outcome: Settled | 'timed_out' | 'stopped'): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      resolve(outcome);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    // The stop may have come during the synchronous part of the function.
    if (signal.aborted) onAbort();
    void settled.then(finish);
  });
}

function within(settled: Promise<Settled>, graceMs: number): Promise<Settled | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), graceMs);
    void settled.then((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}

function timeoutReason(): DOMException {
  return new DOMException('The time of the call is up.', 'TimeoutError');
}
