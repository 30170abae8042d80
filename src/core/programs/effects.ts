/**
 * The effects of one program: begun within the limits, waited for, recorded as they end.
 *
 * I1  Effects begin in request order, except for calls that the limits or other calls hold back;
 *     those that end at the same time are recorded and passed to the program in the order in which
 *     they began.
 * I2  While a hand-over is due nothing begins. When all open effects rest, the program is handed
 *     over as it is; a program that does not fit stays, and then begins everything at once.
 * I3  During a pause only timers begin; what has begun runs to its end.
 */
import { createHeldReads } from '../toolchain/held-reads.ts';
import type { EffectRequest, EffectResult } from '../../lisp.ts';
import { defined } from '../base/defined.ts';
import { leaving } from '../run/ending.ts';
import type { HandoverGate } from '../run/handover-gate.ts';
import type { KeptEffects } from '../run/kept-program.ts';
import type { KeptTurn } from '../run/kept-turn.ts';
import { resumeEffect } from './begin-effect.ts';
import { createEffectRecord, type EffectRecord } from './effect-results.ts';
import { createHeldEffects, type Hold } from './held-effects.ts';
import { createOpenEffects, type OpenEffects } from './open-effects.ts';
import { isOver, type EffectContext, type RunningProgram } from './program-context.ts';

/** The effects of one program. */
export interface Effects
  extends Pick<EffectRecord, 'done' | 'hidden' | 'edits'>, Pick<OpenEffects, 'timers'> {
  /** Takes requests of the program, which begin in this order. */
  request(requests: readonly EffectRequest[]): void;
  /** Ends effects that the program no longer needs. */
  drop(ids: readonly string[]): void;
  /** Begins what may begin. May find a limit that ends the run. */
  begin(): void;
  /** Waits until an effect has ended or may begin, or the run must stop. May leave. */
  next(): Promise<void>;
  /** Records what has ended, and returns it for the program. */
  take(): readonly EffectResult[];
  /** Waits until all effects that began have arrived, and records them. */
  settle(): Promise<void>;
  /** Whether the program must end. */
  isOver(): boolean;
  /** Effects that began or were refused. */
  calls(): number;
}

/** Makes the turn to hand over with these effects, which all rest; null when it does not fit. */
export type KeepEffects = (kept: KeptEffects) => KeptTurn | null;

/** The effects of a program that begins, or continues with those that an earlier link kept. */
export function createEffects(
  running: RunningProgram,
  keep: KeepEffects | undefined,
  kept?: KeptEffects,
): Effects {
  const { run, order } = running;
  const record = createEffectRecord(running, kept);
  const open = createOpenEffects(running);
  const exit = createExit(running, open, () =>
    keep === undefined
      ? null
      : keep({
          open: open.kept(),
          held: held.requests(),
          done: record.done(),
          calls: held.calls(),
          ...defined({ hidden: record.hidden().length === 0 ? undefined : record.hidden() }),
        }),
  );
  const starting = { children: 0 };
  const context: EffectContext = {
    run,
    open: running.open,
    gate: exit.gate,
    // No call of a program runs beside a reply.
    reads: createHeldReads(run.state.iteration),
    programId: order.programId,
    reasoning: order.reasoning ?? '',
    starting,
    // Only effects in a branch can be dropped while the program goes on.
    program: { isSeparate: (callId) => callId.includes('/'), hidden: record.hidden },
  };
  const held = createHeldEffects({ running, context, starting, open, hold: exit.hold }, kept);
  const take = (): readonly EffectResult[] => open.take().map(record.add);

  for (const effect of kept?.open ?? []) open.add(effect, () => resumeEffect(context, effect));
  return {
    edits: record.edits,
    done: record.done,
    hidden: record.hidden,
    take,
    isOver: () => isOver(running),
    timers: open.timers,
    begin: held.begin,
    calls: held.calls,
    request: held.add,
    drop: (ids) => {
      if (ids.length === 0) return;
      held.drop(ids);
      open.drop(ids);
      run.host.waits.wake();
    },
    next: () => exit.wait(() => open.hasArrived() || held.isAnswered()),
    settle: async () => {
      held.clear();
      await open.settled();
      take();
    },
  };
}

/** How a program is handed over before its end. */
interface Exit {
  /** The gate for the waits of its effects. */
  readonly gate: HandoverGate;
  /** What holds back effects now; null: nothing. */
  readonly hold: () => Hold | null;
  /** The wait of the program itself: until `hasNews`, a stop or another hold. May leave. */
  readonly wait: (hasNews: () => boolean) => Promise<void>;
}

/**
 * The exit of a program. It leaves when all open effects rest: each waits for a person, outside
 * work or a time. `keep` makes the turn to hand over. It is called once; null means that the
 * program stays.
 */
function createExit(running: RunningProgram, open: OpenEffects, keep: () => KeptTurn | null): Exit {
  const { run, order } = running;
  const { host } = run;
  let isParked = false;
  let leave: { readonly turn: KeptTurn | null } | null = null;

  const mayLeave = (): boolean =>
    order.keep !== undefined && leave === null && host.link.isHandoverDue() && !isOver(running);
  const isDue = (): boolean =>
    isParked && !open.hasArrived() && mayLeave() && host.isIdle() && open.areResting();
  const tryToLeave = (): KeptTurn | null => {
    if (leave === null) {
      leave = { turn: keep() };
      // The other waits leave too; or what was held begins.
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
      // Waits for people can see only now that nothing else goes on.
      host.waits.wake();
      await host.waits.until(
        () => hasNews() || isOver(running) || isDue() || isOpen() || before !== hold(),
      );
      if (isDue()) tryToLeave();
      isParked = false;
      // Every other wait checks the gate before it does anything.
      if (leave?.turn) throw leaving({ kind: 'handover', turn: leave.turn });
    },
    gate: {
      isDue,
      open: () => Promise.resolve(tryToLeave()),
      isOpen,
      markResting: open.markResting,
      markActive: open.markActive,
      isOnlyWaiting: (callId) => isParked && !open.hasArrived() && open.areResting(callId),
      isUnneeded: (callId) => running.open.isOver === true || open.isUnneeded(callId),
    },
  };
}
