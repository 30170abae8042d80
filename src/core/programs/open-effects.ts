/**
 * The effects of a program that have begun and whose ends the program has not taken.
 *
 * I1  Each arrives once, with its end, unless it leaves for a hand-over. A dropped one is awaited.
 * I2  Effects that ended at the same time are taken in the order in which they began.
 */
import type { EffectRequest } from '../../lisp.ts';
import type { AskOutcome } from '../people/ask-person.ts';
import type { CallEnd } from '../contract/outcome.ts';
import { leaveOf } from '../run/ending.ts';
import type { KeptEffect } from '../run/kept-program.ts';
import { callIdOf, type RunningProgram } from './program-context.ts';

/** How an effect ended. */
export type EffectEnd =
  | { readonly kind: 'call'; readonly end: CallEnd }
  | { readonly kind: 'ask'; readonly outcome: AskOutcome }
  | { readonly kind: 'sleep' }
  | { readonly kind: 'unfit'; readonly message: string }
  /** A limit let no further call run. */
  | { readonly kind: 'refused'; readonly text: string }
  /** The history has no room for it. */
  | { readonly kind: 'full' };

/** An effect that has ended. */
export interface EndedEffect extends KeptEffect {
  readonly end: EffectEnd;
}

/** The effects that have begun. */
export interface OpenEffects {
  /** Adds an effect, and begins it. */
  readonly add: (effect: KeptEffect, begin: () => Promise<EffectEnd> | EffectEnd) => void;
  /** Ends those of `ids`, which the program no longer needs. */
  readonly drop: (ids: readonly string[]) => void;
  /** Removes and returns those that have ended. Throws the first error that was kept. */
  readonly take: () => readonly EndedEffect[];
  /** Settles when all that began have arrived or left; never rejects. */
  readonly settled: () => Promise<unknown>;
  /** Keeps an error for `take`. */
  readonly fail: (error: unknown) => void;
  /** Whether there is something to take. */
  readonly hasArrived: () => boolean;
  /** Whether all are at rest, apart from that of `callId`. */
  readonly areResting: (callId?: string) => boolean;
  /** Notes that the wait of a call rests. */
  readonly markResting: (callId: string) => void;
  /** Notes that the wait of a call no longer rests. */
  readonly markActive: (callId: string) => void;
  /** Whether the program no longer needs the end of a call. */
  readonly isUnneeded: (callId: string) => boolean;
  /** The tools of its calls. */
  readonly tools: () => readonly string[];
  /** When its timers end, in milliseconds since 1970. */
  readonly timers: () => readonly number[];
  /** All of them, as a hand-over carries them. */
  readonly kept: () => readonly KeptEffect[];
}

interface OpenEffect extends KeptEffect {
  readonly callId: string;
  /** Settles when it has arrived or left; never rejects. */
  settled: Promise<void> | null;
  isResting: boolean;
  isUnneeded: boolean;
  end: EffectEnd | null;
}

/** No effects yet. */
export function createOpenEffects({ run, order }: RunningProgram): OpenEffects {
  const { host } = run;
  let open: readonly OpenEffect[] = [];
  let failure: { readonly error: unknown } | null = null;

  const find = (callId: string): OpenEffect | undefined =>
    open.find((effect) => effect.callId === callId);
  const fail = (error: unknown): void => {
    failure ??= { error };
  };
  const follow = (effect: OpenEffect, begun: Promise<EffectEnd>): void => {
    effect.settled = begun.then(
      (end) => {
        effect.end = end;
        effect.isResting = false;
        host.waits.wake();
      },
      (error: unknown) => {
        if (leaveOf(error)?.kind === 'handover') return;
        fail(error);
        host.waits.wake();
      },
    );
  };
  return {
    fail,
    add: ({ request, startedAt }, begin) => {
      const effect = openEffect(callIdOf(order.programId, request.id), request, startedAt);
      open = [...open, effect];
      const begun = begin();
      if ('then' in begun) follow(effect, begun);
      else effect.end = begun;
    },
    drop: (ids) => {
      for (const effect of open) {
        if (!ids.includes(effect.request.id)) continue;
        effect.isUnneeded = true;
        effect.isResting = false;
        host.abort(effect.callId);
      }
    },
    take: () => {
      if (failure !== null) throw failure.error;
      const ended = open.flatMap(endedOf);
      open = open.filter(({ end }) => end === null);
      return ended;
    },
    settled: () => Promise.all(open.flatMap(({ settled }) => settled ?? [])),
    hasArrived: () => failure !== null || open.some(({ end }) => end !== null),
    areResting: (callId) => open.every((effect) => effect.isResting || effect.callId === callId),
    markResting: (callId) => {
      const effect = find(callId);
      if (effect !== undefined) effect.isResting = !effect.isUnneeded;
    },
    markActive: (callId) => {
      const effect = find(callId);
      if (effect !== undefined) effect.isResting = false;
    },
    isUnneeded: (callId) => find(callId)?.isUnneeded === true,
    tools: () => open.flatMap(({ request }) => (request.kind === 'tool' ? request.name : [])),
    timers: () => open.flatMap(timerOf),
    kept: () => open.map(({ request, startedAt }) => ({ request, startedAt })),
  };
}

function openEffect(callId: string, request: EffectRequest, startedAt: number): OpenEffect {
  const begun = { settled: null, isResting: false, isUnneeded: false, end: null };
  return { request, startedAt, callId, ...begun };
}

function endedOf({ request, startedAt, end }: OpenEffect): readonly EndedEffect[] {
  return end === null ? [] : [{ request, startedAt, end }];
}

function timerOf({ request, startedAt, end, isUnneeded }: OpenEffect): readonly number[] {
  const isTimer = request.kind === 'sleep' && end === null && !isUnneeded;
  return isTimer ? [startedAt + request.ms] : [];
}
