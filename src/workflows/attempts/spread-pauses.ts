/**
 * The pauses of a wait for another worker, spread so that the tries of two runs do not stay in step.
 *
 * Runs in step take turns that may suit neither: the service gives each call to the worker that has
 * asked the longest, so two calls can go to each other's worker again and again.
 *
 * S1  A spread moves a try, and neither adds nor removes one: links that began before there was a
 *     spread have the same commands, in the same order.
 * S2  The pauses of a wait add up to its limit.
 * S3  The same run, replayed, has the same pauses.
 */
import { EMPTY_DIGEST, rollDigest } from '../../core/base/digest.ts';

/** The wait when neither the agent nor the worker's environment says otherwise. */
export const DEFAULT_ELSEWHERE_MS = 600_000;

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

/** The most that a try is moved, as a share of the pause before it. */
const MAX_SHIFT = 0.25;

/** Gives the next number from -1 to 1, excluding 1. */
export type Spread = () => number;

/** Numbers that differ between runs and between calls, but not between replays. */
export function createSpread(seed: string): Spread {
  let drawn = 0;
  return () => {
    drawn += 1;
    const digest = rollDigest(EMPTY_DIGEST, `${seed}/${drawn}`);
    return Number.parseInt(digest.slice(0, 8), 16) / 2 ** 31 - 1;
  };
}

/** `ms`, moved by up to a quarter. */
export function spreadMs(ms: number, spread: Spread): number {
  return Math.round(ms * (1 + MAX_SHIFT * spread()));
}

/** Where a wait begins. */
export interface WaitStart {
  /** True: the call was tried when the run resumed, so the first pause is over. Default false. */
  readonly isResumed?: boolean;
}

/** The pauses of a wait of `limitMs`, in ms, a try after each; Infinity has no end. */
export function* pausesOf(
  limitMs: number,
  spread: Spread,
  { isResumed = false }: WaitStart = {},
): Generator<number, undefined> {
  let waitedMs = 0;
  let shiftMs = 0;
  let next = isResumed ? FIRST_PAUSE_MS * PAUSE_FACTOR : FIRST_PAUSE_MS;
  while (waitedMs < limitMs) {
    const ms = Math.min(next, limitMs - waitedMs);
    waitedMs += ms;
    const earlierMs = shiftMs;
    // The last try is at the limit, and no other comes after it.
    const leftMs = limitMs - waitedMs;
    shiftMs = leftMs > 0 ? Math.min(spreadMs(ms, spread) - ms, leftMs) : 0;
    yield ms + shiftMs - earlierMs;
    next = Math.min(
      next * PAUSE_FACTOR,
      waitedMs < DEFAULT_ELSEWHERE_MS ? MAX_PAUSE_MS : MAX_LATE_PAUSE_MS,
    );
  }
}
