/**
 * The way out for a program in its middle: it leaves once all that is open is at rest, in a wait for a
 * person, the outside or a time. A program that does not fit stays, which is decided once.
 */
import type { KeptTurn } from '../kept-turn.ts';
import type { Door } from '../wait-for-person.ts';
import type { EffectPlace } from './effect-place.ts';
import type { KeptEffects } from './kept-program.ts';
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
  /** Hears whether the program itself waits for its effects. */
  readonly park: (isParked: boolean) => void;
  /** The turn to leave with, or null when it has to stay; decided once. */
  readonly leave: () => KeptTurn | null;
  /** What `leave` has decided; null before. */
  readonly turn: () => KeptTurn | null;
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
    keep !== undefined && leave === null && host.handoverDue() && !isOver(place);
  const isDue = (): boolean =>
    isParked && !open.hasArrived() && mayLeave() && host.isIdle() && open.areResting();
  const tryToLeave = (): KeptTurn | null => {
    if (leave === null) {
      leave = { turn: keep?.(gather()) ?? null };
      // The others leave, too; or what was held begins.
      host.wake();
    }
    return leave.turn;
  };
  return {
    hold: () => {
      if (mayLeave()) return 'handover';
      return run.state.pausedAt === null ? null : 'pause';
    },
    park: (is) => {
      isParked = is;
    },
    leave: tryToLeave,
    turn: () => leave?.turn ?? null,
    door: {
      isDue,
      leave: () => Promise.resolve(tryToLeave()),
      isOpen: () => leave !== null && leave.turn !== null,
      rest: open.rest,
      isQuiet: (callId) => isParked && !open.hasArrived() && open.areResting(callId),
      isDropped: (callId) => place.open.isOver === true || open.isDropped(callId),
    },
  };
}
