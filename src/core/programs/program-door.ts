/**
 * The way out for a program in its middle: it leaves once all that is open is at rest, in a wait for a
 * person, the outside or a time. A program that does not fit stays, which is decided once.
 */
import { leaving } from '../run/ending.ts';
import type { KeptTurn } from '../run/kept-turn.ts';
import type { Door } from '../people/wait-for-person.ts';
import type { EffectPlace } from './effect-place.ts';
import type { KeptEffects } from '../run/kept-program.ts';
import type { OpenEffects } from './open-effects.ts';
import { isOver } from './running-program.ts';

/** What holds back effects that want to begin: a hand-over that is due all, a pause all but timers. */
export type Hold = 'handover' | 'pause';

/** The door of a program. */
export interface ProgramDoor {
  /** As the waits of its effects see it. */
  readonly door: Door;
  /** What holds back effects now; null: nothing. */
  readonly hold: () => Hold | null;
  /** Waits for news, the program itself: what `hasNews` says, a stop, another hold. May leave. */
  readonly wait: (hasNews: () => boolean) => Promise<void>;
}

/** The door of a program with the effects `open`; `gather` says what it would leave with. */
export function createProgramDoor(
  place: EffectPlace,
  open: OpenEffects,
  gather: () => KeptEffects,
): ProgramDoor {
  const { run, host, keep } = place;
  let isParked = false;
  let leave: { readonly turn: KeptTurn | null } | null = null;

  const mayLeave = (): boolean =>
    keep !== undefined && leave === null && host.capacity.isHandoverDue() && !isOver(place);
  const isDue = (): boolean =>
    isParked && !open.hasArrived() && mayLeave() && host.isIdle() && open.areResting();
  const tryToLeave = (): KeptTurn | null => {
    if (leave === null) {
      leave = { turn: keep?.(gather()) ?? null };
      // The others leave, too; or what was held begins.
      host.waits.wake();
    }
    return leave.turn;
  };
  const hold = (): Hold | null => {
    if (mayLeave()) return 'handover';
    return run.state.pausedAt === null ? null : 'pause';
  };
  const isOpen = (): boolean => leave !== null && leave.turn !== null;
  return {
    hold,
    wait: async (hasNews) => {
      const before = hold();
      isParked = true;
      // Those who wait for a person see only now that nothing else goes on.
      host.waits.wake();
      await host.waits.until(
        () => hasNews() || isOver(place) || isDue() || isOpen() || before !== hold(),
      );
      if (isDue()) tryToLeave();
      isParked = false;
      // What still waits looks at the door before it does anything.
      if (leave?.turn) throw leaving({ kind: 'handover', turn: leave.turn });
    },
    door: {
      isDue,
      leave: () => Promise.resolve(tryToLeave()),
      isOpen,
      rest: open.rest,
      isQuiet: (callId) => isParked && !open.hasArrived() && open.areResting(callId),
      isDropped: (callId) => place.open.isOver === true || open.isDropped(callId),
    },
  };
}
