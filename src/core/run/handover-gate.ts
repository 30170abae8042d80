/**
 * How a turn that waits only for people is handed over before its end. All waits of a turn share
 * one gate: once it opens, each of them leaves.
 */
import { leaving } from './ending.ts';
import type { KeptTurn } from './kept-turn.ts';
import type { Run } from './run.ts';

/** The gate of a turn. */
export interface HandoverGate {
  /** Whether the turn should be handed over now. */
  isDue(): boolean;
  /** Opens the gate: the turn to hand over, or null when it must stay. Decided once. */
  open(): Promise<KeptTurn | null>;
  /** Whether `open` was called. */
  isOpen(): boolean;
  /** Notes that the wait of a call rests: it has taken no answer, so it can be handed over. */
  markResting(callId: string): void;
  /** Notes that the wait of a call no longer rests. */
  markActive(callId: string): void;
  /** Whether, apart from the wait of this call, only waits are left. */
  isOnlyWaiting(callId: string): boolean;
  /** Whether the end of this call is no longer needed. */
  isUnneeded(callId: string): boolean;
}

/**
 * The gate of a turn that cannot be handed over, such as one of a loop that cannot resume a turn.
 */
export const CLOSED_GATE: HandoverGate = {
  isDue: () => false,
  open: () => Promise.resolve(null),
  isOpen: () => false,
  markResting: () => undefined,
  markActive: () => undefined,
  isOnlyWaiting: () => true,
  isUnneeded: () => false,
};

/**
 * The gate of a turn. `gather` makes the turn to hand over; if that does not fit, the turn stays.
 */
export function createGate(run: Run, gather: () => Promise<KeptTurn>): HandoverGate {
  const { host } = run;
  let opening: Promise<KeptTurn | null> | null = null;
  const keep = async (): Promise<KeptTurn | null> => {
    const turn = await gather();
    return host.link.fits({ ...run.state, turn }) ? turn : null;
  };
  return {
    ...CLOSED_GATE,
    isDue: () => opening === null && host.isIdle() && host.link.isHandoverDue(),
    open: () => (opening ??= keep()),
    isOpen: () => opening !== null,
  };
}

/**
 * Leaves the iteration if the turn can be handed over. Waits call it if the gate is due or open.
 */
export async function leaveThrough(gate: HandoverGate): Promise<void> {
  const turn = await gate.open();
  if (turn !== null) throw leaving({ kind: 'handover', turn });
}
