/**
 * The wait for a person, outside work or a time: the one mechanism for questions, approvals,
 * outside work and timers.
 *
 * I1  A recorded item ends by an answer, its deadline or a stop, in this link or a later one.
 * I2  The wait that an answer ends takes it from the inbox; until then, hand-overs carry it.
 * I3  When one wait leaves for a hand-over, all do: nothing of the turn happens after it.
 * I4  A resting wait has taken no answer, and checks the gate before it goes on. So a turn whose
 *     waits all rest can be handed over as it is.
 * I5  What was reported before the item began ends it at once, unless that was too long ago.
 */
import { defined } from '../base/defined.ts';
import type { AnswerBody, PersonAnswer, StatedActor, WaitingItem } from '../contract/pending.ts';
import { dropEarly, earlyAnswers, EARLY_MS } from './early-answers.ts';
import { leaveThrough } from '../run/handover-gate.ts';
import type { Iteration } from '../run/iteration.ts';
import { MAX_TIMER_MS, type Run } from '../run/run.ts';
import type { RunState } from '../run/run-state.ts';

/** How a wait ended. */
export type WaitEnd =
  | (AnswerBody & StatedActor & Partial<Pick<PersonAnswer, 'updateId'>>)
  | { readonly kind: 'timed_out' }
  /** By a cancel, a breach or an interrupt, which the caller finds in the run. */
  | { readonly kind: 'stopped' };

/** Waits for the end of `item`, which is in the state. Throws only to leave for a hand-over. */
export async function waitForPerson(
  { run, gate }: Iteration,
  { id, callId, deadline, since }: WaitingItem,
): Promise<WaitEnd> {
  const { host } = run;
  const early = earlyAnswers(host.mailbox.peek()).find((answer) => answer.id === id)?.early;
  if (early !== undefined && since - early > EARLY_MS) dropEarly(run, callId);
  const isAnswered = (): boolean =>
    host.mailbox.peek().answers?.some((answer) => answer.id === id) ?? false;
  const isOver = (): boolean => isAnswered() || run.mustLeave() || gate.isUnneeded(callId);
  const isNewlyIdle = (): boolean =>
    host.isIdle() &&
    (run.state.waitingSince ?? null) === null &&
    gate.isOnlyWaiting(callId) &&
    areCallsWaiting(run.state);
  const mustLook = (): boolean => isOver() || isNewlyIdle() || gate.isDue();
  let hasWaited = false;
  for (;;) {
    if (gate.isDue() || gate.isOpen()) await leaveThrough(gate);
    gate.markActive(callId);
    const answer = host.mailbox.takeAnswer(id);
    if (answer !== undefined) return answer;
    if (isOver()) return { kind: 'stopped' };
    const now = host.now();
    if (deadline !== undefined && now >= deadline) return { kind: 'timed_out' };
    // Work that begins at the same moment is not in flight yet, so the first pass cannot tell.
    if (hasWaited && isNewlyIdle()) run.record({ type: 'agent:waiting' });
    hasWaited = true;
    gate.markResting(callId);
    // Without a deadline there is no timer, however long it takes.
    const until = deadline === undefined ? undefined : Math.min(deadline, now + MAX_TIMER_MS);
    await host.waits.until(mustLook, until);
  }
}

/** A wait for a time. */
export interface TimeWait {
  readonly callId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** Waits until a time; false if something else ended the wait. Throws only to hand over. */
export async function waitForTime(
  { run, gate }: Iteration,
  { callId, time }: TimeWait,
): Promise<boolean> {
  const { host } = run;
  const isOver = (): boolean => run.mustLeave() || gate.isUnneeded(callId);
  for (;;) {
    if (gate.isDue() || gate.isOpen()) await leaveThrough(gate);
    gate.markActive(callId);
    if (isOver()) return false;
    const now = host.now();
    if (now >= time) return true;
    gate.markResting(callId);
    await host.waits.until(() => isOver() || gate.isDue(), Math.min(time, now + MAX_TIMER_MS));
  }
}

/** Whether every call that has begun waits: the end of any other is recorded first. */
function areCallsWaiting({ openCalls = [], pending = [] }: RunState): boolean {
  return openCalls.every((call) => pending.some(({ callId }) => callId === call.callId));
}

/** Whether a call no longer waits. */
export function hasEnded(run: Run, callId: string): boolean {
  return !(run.state.pending ?? []).some((item) => item.callId === callId);
}

/** When an item that begins at `now` ends without an answer. */
export function deadlineOf(
  now: number,
  timeoutMs: number | undefined,
): Pick<WaitingItem, 'deadline' | 'timeoutMs'> {
  return defined({ timeoutMs, deadline: timeoutMs === undefined ? undefined : now + timeoutMs });
}
