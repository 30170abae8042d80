/**
 * The effects of one program: begun within the limits, waited for, recorded as they come. Asynchronous,
 * a part of `run-program.ts`.
 *
 * I1  Effects begin in request order, but for calls that the limits or other calls hold back; what
 *     ends in one go is recorded and given to the program in the order of beginning.
 * I2  While a hand-over is due nothing begins. Once all that is open is at rest, the program leaves as
 *     it stands; a program that does not fit stays, and then begins everything at once.
 * I3  While the run is paused nothing but timers begins; what began goes on to its end.
 */
import type { EffectRequest, EffectResult } from '../../lisp.ts';
import type { Starters } from '../children/run-child.ts';
import { resumeEffect, type BeginPlace } from './begin-effect.ts';
import { createEffectRecord, type EffectRecord } from './effect-record.ts';
import type { EffectPlace } from './effect-place.ts';
import { createHeldEffects } from './held-effects.ts';
import type { KeptEffects } from '../run/kept-program.ts';
import { createOpenEffects, type OpenEffects } from './open-effects.ts';
import { createProgramDoor } from './program-door.ts';
import { isOver } from './running-program.ts';

/** The effects of one program. */
export interface Effects
  extends Pick<EffectRecord, 'done' | 'hidden' | 'edits'>, Pick<OpenEffects, 'timers'> {
  /** Takes requests of the program, to be begun in this order. */
  request(requests: readonly EffectRequest[]): void;
  /** Ends effects that the program does not need any more, one by one. */
  drop(ids: readonly string[]): void;
  /** Begins what may begin. May find a limit that ends the run. */
  begin(): void;
  /** Waits until something came of an effect, or may begin, or the run is to stop. May leave. */
  next(): Promise<void>;
  /** Records what came, and gives it to the program. */
  take(): readonly EffectResult[];
  /** Waits until all effects that began have arrived, and records them. */
  settle(): Promise<void>;
  /** Whether the program is to end. */
  isOver(): boolean;
  /** Effects that began or were refused. */
  calls(): number;
}

/** The effects of a program that begins, or goes on with those that an earlier link kept. */
export function createEffects(place: EffectPlace, kept?: KeptEffects): Effects {
  const { host } = place;
  const record = createEffectRecord(place, kept);
  const open = createOpenEffects(place);
  const exit = createProgramDoor(place, open, () => ({
    open: open.kept(),
    held: held.requests(),
    done: record.done(),
    calls: held.calls(),
    ...(record.hidden().length === 0 ? {} : { hidden: record.hidden() }),
  }));
  const starters: Starters = { children: 0 };
  const begin: BeginPlace = {
    ...place,
    starters,
    door: exit.door,
    // Only what stands in a branch can be dropped while the program goes on.
    program: { isSeparate: (callId) => callId.includes('/'), hidden: record.hidden },
  };
  const held = createHeldEffects({ place, begin, starters, open, hold: exit.hold }, kept);
  const take = (): readonly EffectResult[] => open.take().map(record.add);

  for (const effect of kept?.open ?? []) open.add(effect, () => resumeEffect(begin, effect));
  return {
    edits: record.edits,
    done: record.done,
    hidden: record.hidden,
    take,
    isOver: () => isOver(place),
    timers: open.timers,
    begin: held.begin,
    calls: held.calls,
    request: held.add,
    drop: (ids) => {
      if (ids.length === 0) return;
      held.drop(ids);
      open.drop(ids);
      host.waits.wake();
    },
    next: () => exit.wait(() => open.hasArrived() || held.isAnswered()),
    settle: async () => {
      held.clear();
      await open.settled();
      take();
    },
  };
}
