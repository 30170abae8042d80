/**
 * The wait for a person or the outside: the one mechanism behind questions, approvals and work that
 * ends later. Asynchronous, like `work.ts`, of which it is a part.
 *
 * I1  An item that is recorded ends by an answer, its deadline or a stop, in this link or a later one.
 * I2  An answer is taken from the mailbox by the wait that it is for; until then it is handed over.
 * I3  Once a wait leaves for a hand-over, all do: nothing of the turn goes on behind it.
 * I4  A wait at rest has taken nothing from anybody; before it goes on it looks at the door. So a turn
 *     whose waits are all at rest can be handed over as it stands.
 */
import type { CallEnd } from '../contract/call-end.ts';
import { leaving } from '../run/ending.ts';
import type { Host } from '../run/host.ts';
import type { KeptTurn } from '../run/kept-turn.ts';
import type { AnswerBody, WaitingItem } from '../contract/pending.ts';
import { isInterrupted, isStopped, type Run } from '../run/run.ts';

/** What ended a wait. */
export type WaitEnd =
  | AnswerBody
  | { readonly kind: 'timed_out' }
  /** A cancel, a breach or an interrupt; whoever looks finds it. */
  | { readonly kind: 'stopped' };

/** The way out for a turn that waits for people alone; shared by all waits of a turn. */
export interface Door {
  /** Whether the turn is to be handed over now. */
  isDue(): boolean;
  /** The turn to leave with, or null when it has to stay; decided once. */
  leave(): Promise<KeptTurn | null>;
  /** Whether `leave` was called. */
  isOpen(): boolean;
  /** Hears that the wait of a call is at rest, or goes on: see I4. */
  rest(callId: string, isResting: boolean): void;
  /** Whether, beside the wait of this call, nothing is left but waits. */
  isQuiet(callId: string): boolean;
  /** Whether nobody needs the end of the call any more. */
  isDropped(callId: string): boolean;
}

/** A turn that stays where it is, as in a loop that cannot go on in the middle of an iteration. */
export const SHUT_DOOR: Door = {
  isDue: () => false,
  leave: () => Promise.resolve(null),
  isOpen: () => false,
  rest: () => undefined,
  isQuiet: () => true,
  isDropped: () => false,
};

/** A door for a turn whose ended calls `gather` collects; a turn that does not fit stays. */
export function createDoor(run: Run, host: Host, gather: () => Promise<KeptTurn>): Door {
  let going: Promise<KeptTurn | null> | null = null;
  const tryToLeave = async (): Promise<KeptTurn | null> => {
    const turn = await gather();
    return host.capacity.fits({ ...run.state, turn }) ? turn : null;
  };
  return {
    isDue: () => going === null && host.isIdle() && host.capacity.isHandoverDue(),
    leave: () => (going ??= tryToLeave()),
    isOpen: () => going !== null,
    rest: () => undefined,
    isQuiet: () => true,
    isDropped: () => false,
  };
}

/** Longest wait in one piece, 20 days: see MAX_TIMER_MS of `run.ts`. */
const MAX_WAIT_MS = 1_728_000_000;

/** Waits for the end of `item`, which stands in the state. Throws only to leave for a hand-over. */
export async function waitForPerson(
  run: Run,
  host: Host,
  item: WaitingItem,
  door: Door,
): Promise<WaitEnd> {
  const isAnswered = (): boolean =>
    host.mailbox.peek().answers?.some(({ id }) => id === item.id) ?? false;
  const isOver = (): boolean =>
    isAnswered() || isStopped(run, host) || isInterrupted(host) || door.isDropped(item.callId);
  const isNewlyQuiet = (): boolean => isNewlyIdle(run, host) && door.isQuiet(item.callId);
  const isQuiet = (): boolean => isNewlyQuiet() || door.isDue();
  let hasWaited = false;
  for (;;) {
    if (door.isDue() || door.isOpen()) await leaveBy(door);
    door.rest(item.callId, false);
    const answer = host.mailbox.takeAnswer(item.id);
    if (answer !== undefined) return answer;
    if (isOver()) return { kind: 'stopped' };
    const now = host.now();
    if (item.deadline !== undefined && now >= item.deadline) return { kind: 'timed_out' };
    // What begins in the same breath as this is not seen yet.
    if (hasWaited && isNewlyQuiet()) run.record({ type: 'agent:waiting' });
    hasWaited = true;
    const until = Math.min(item.deadline ?? Infinity, now + MAX_WAIT_MS);
    door.rest(item.callId, true);
    // Without a deadline nothing has to happen by itself, for as long as it takes.
    await host.waits.until(
      () => isOver() || isQuiet(),
      ...(item.deadline === undefined ? [] : [until]),
    );
  }
}

/** Waits until `time`; false when something ended the wait before. Throws only to leave for a hand-over. */
export async function waitForTime(
  run: Run,
  host: Host,
  { callId, time }: { readonly callId: string; readonly time: number },
  door: Door,
): Promise<boolean> {
  const isOver = (): boolean =>
    isStopped(run, host) || isInterrupted(host) || door.isDropped(callId);
  for (;;) {
    if (door.isDue() || door.isOpen()) await leaveBy(door);
    door.rest(callId, false);
    if (isOver()) return false;
    const now = host.now();
    if (now >= time) return true;
    door.rest(callId, true);
    await host.waits.until(() => isOver() || door.isDue(), Math.min(time, now + MAX_WAIT_MS));
  }
}

/** What each wait does first, whenever it goes on while the door is due or open. */
async function leaveBy(door: Door): Promise<void> {
  const turn = await door.leave();
  if (turn !== null) throw leaving({ kind: 'handover', turn });
}

/** Whether nothing but people is waited for, and nobody has said so. */
function isNewlyIdle(run: Run, host: Host): boolean {
  return host.isIdle() && (run.state.waitingSince ?? null) === null;
}

/** Whether the call of `end` is one that waits no more. */
export function hasEnded(run: Run, callId: string): boolean {
  return !(run.state.pending ?? []).some((item) => item.callId === callId);
}

/** When an item that begins at `now` ends without an answer. */
export function deadlineOf(
  now: number,
  timeoutMs: number | undefined,
): Pick<WaitingItem, 'deadline' | 'timeoutMs'> {
  return timeoutMs === undefined ? {} : { timeoutMs, deadline: now + timeoutMs };
}

/** An end of a call that nobody ran. */
export function unstarted(
  outcome: CallEnd['result']['outcome'],
  error: string,
  endedAt: number,
): CallEnd {
  return { result: { outcome, error, attempts: 0, started: false }, endedAt };
}
