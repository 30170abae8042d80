/**
 * The calls of a turn: wave after wave, within the limits, recorded in request order (I3 of loop.ts).
 * Asynchronous, like `work.ts`, of which it is a part. What one call goes through is in `run-call.ts`.
 */
import { refusedText } from '../toolchain/call-texts.ts';
import { roomFor, wavesOf } from '../toolchain/batch.ts';
import type { ToolCall } from '../base/message.ts';
import type { CallEnd } from '../contract/call-end.ts';
import { leaveOf } from '../run/ending.ts';
import type { Host } from '../run/host.ts';
import type { KeptCalls, KeptTurn } from '../run/kept-turn.ts';
import { roomForCalls } from '../run/make-room.ts';
import type { CallResult } from '../modes/observation.ts';
import type { OpenCount } from '../run/open-count.ts';
import { leaveOut, recordCall, recordUnstarted } from './record-call.ts';
import { resumeCall, startCall, type CallPlace } from './run-call.ts';
import { isInterrupted, isStopped, type Run } from '../run/run.ts';
import type { Starters } from '../children/run-child.ts';
import { createDoor, hasEnded, SHUT_DOOR } from '../people/wait-for-person.ts';

/** What calls know of the turn that they belong to. */
export interface CallTurn {
  /** What the model wrote beside them, for people who approve one. */
  readonly reasoning?: string;
  /** How far an earlier link came with them. */
  readonly kept?: KeptCalls;
  /** Makes the turn of its calls, so that it can be handed over while only people are waited for. */
  readonly keep?: (calls: KeptCalls) => KeptTurn;
}

/** All calls of a turn; the results are in request order, one for each call. */
export async function runCalls(
  run: Run,
  host: Host,
  open: OpenCount,
  calls: readonly ToolCall[],
  turn: CallTurn = {},
): Promise<readonly CallResult[]> {
  const { tools, parallel } = run.state.head.spec;
  const { kept, keep, reasoning = '' } = turn;
  const results: CallResult[] = [...(kept?.results ?? [])];
  const shownTools = new Set(results.flatMap(({ shown = [] }) => shown));
  let unrecorded: readonly BegunCall[] = [];
  const gather = async (make: (calls: KeptCalls) => KeptTurn): Promise<KeptTurn> => {
    for (;;) {
      const asked = unrecorded;
      const begun = await Promise.all(asked.map((one) => endOf(run, one)));
      // What has ended in front of the first that waits is recorded first: it must not be kept twice.
      if (asked === unrecorded && begun[0] === null) return make({ results, begun });
    }
  };
  const door = keep === undefined ? SHUT_DOOR : createDoor(run, host, () => gather(keep));
  const starters: Starters = { children: 0 };
  const place: CallPlace = { run, host, open, door, reasoning, starters };
  let resumed = kept?.begun ?? [];
  let before = 0;
  try {
    for (const wave of wavesOf(calls, tools, parallel)) {
      for (let done = results.length - before; done < wave.length; done = results.length - before) {
        const room = roomForCalls(
          run,
          host,
          wave.slice(done).map(({ tool }) => tool),
        );
        if (room !== undefined) await room;
        // When calls that started did not count after all, more of the wave fit.
        unrecorded = beginCalls(place, wave.slice(done), resumed);
        resumed = [];
        open.count += unrecorded.length;
        hearLater(unrecorded);
        for (const one of unrecorded) {
          results.push(
            one.kind === 'settled'
              ? one.result
              : recordCall(run, one, await one.pending, shownTools),
          );
          unrecorded = unrecorded.slice(1);
          open.count -= 1;
        }
      }
      before += wave.length;
    }
  } catch (error) {
    // A hand-over takes the turn away: nothing of it is open any more.
    if (leaveOf(error)?.kind === 'handover') open.count -= unrecorded.length;
    throw error;
  }
  return results;
}

/** What a call that began has come to; null while it waits for a person. */
async function endOf(run: Run, one: BegunCall): Promise<CallEnd | null> {
  if (one.kind !== 'started' || !hasEnded(run, one.call.callId)) return null;
  return { startedAt: one.startedAt, ...(await one.pending) };
}

/** A call that a broken host rejects before its turn comes must not count as unhandled till then. */
function hearLater(begun: readonly BegunCall[]): void {
  for (const one of begun.slice(1)) {
    if (one.kind === 'started' && 'then' in one.pending) one.pending.catch(() => undefined);
  }
}

/** A call that runs, or one that nobody will start. */
type BegunCall = StartedCall | { readonly kind: 'settled'; readonly result: CallResult };

interface StartedCall {
  readonly kind: 'started';
  readonly call: ToolCall;
  readonly startedAt: number;
  readonly pending: Promise<CallEnd> | CallEnd;
}

/**
 * Starts as many of `calls` as fit, and settles at least the first. All that start overlap; what one
 * of them crosses aborts the others. The first calls are those of `resumed`, if an earlier link began
 * them.
 */
function beginCalls(
  place: CallPlace,
  calls: readonly ToolCall[],
  resumed: KeptCalls['begun'],
): readonly BegunCall[] {
  const [first] = calls;
  if (first === undefined) return [];
  const { run, host } = place;
  if (resumed.length > 0) {
    return calls.slice(0, resumed.length).map((call, index) => goOn(place, call, resumed[index]));
  }
  if (isStopped(run, host) || isInterrupted(host)) {
    return calls.map((call) => ({ kind: 'settled', result: leaveOut(run, call) }));
  }
  const { fits, breach } = roomFor(calls, run.state.head.spec.tools, run.wouldCross);
  if (fits > 0) {
    const fitting = calls.slice(0, fits);
    if (place.starters !== undefined) place.starters.children = agentCalls(run, fitting);
    return fitting.map((call) => {
      const startedAt = host.now();
      return { kind: 'started', call, startedAt, pending: startCall(place, call) };
    });
  }
  if (breach?.limit.onReach === 'refuse') {
    const text = refusedText(breach.key, breach.limit.max);
    return [{ kind: 'settled', result: recordUnstarted(run, first, 'refused', text) }];
  }
  if (breach !== null) run.breach(breach);
  return calls.map((call) => ({ kind: 'settled', result: leaveOut(run, call) }));
}

function agentCalls(run: Run, calls: readonly ToolCall[]): number {
  const { tools } = run.state.head.spec;
  const agents = tools.filter(({ agent }) => agent !== undefined).map(({ name }) => name);
  return agents.length === 0 ? 0 : calls.filter(({ tool }) => agents.includes(tool)).length;
}

/** A call that an earlier link began: its end, or what it waits for. */
function goOn(place: CallPlace, call: ToolCall, end: CallEnd | null | undefined): StartedCall {
  const { run, host } = place;
  const item = (run.state.pending ?? []).find(({ callId }) => callId === call.callId);
  const startedAt = item?.since ?? host.now();
  if (item !== undefined) {
    return { kind: 'started', call, startedAt, pending: resumeCall(place, call, item) };
  }
  const pending = end ?? startCall(place, call);
  return { kind: 'started', call, startedAt, pending };
}
