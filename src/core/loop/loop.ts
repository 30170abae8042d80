/**
 * The loop: iterations until a run ends or hands over. With `work.ts`, `ask-model.ts`, `run-calls.ts`,
 * `run-call.ts`, `ask-person.ts` and `wait-for-person.ts` (what one iteration may do), `run-compaction.ts` (what may stand between two) and
 * `mode-loop.ts` (the iteration of the built-in modes) it is all that is asynchronous in the core. They decide nothing by themselves: they ask pure functions what to do, the host
 * to do it, and record what happened.
 *
 * I1  The order of one run is L1 to L9; each step is named where it stands.
 * I2  After each wait the world may have changed in four ways only: a cancel or inputs in the
 *     mailbox, other limits, a pause, a breach by time. The transcript changes here alone.
 * I3  Results of parallel work are recorded in request order, whatever finished first.
 * I4  Nothing thrown escapes: `runLoop` turns it into an ending.
 * I5  Whatever is in flight is awaited before the run ends or hands over.
 */
import { errorText } from '../base/error-text.ts';
import type { Json } from '../base/json.ts';
import { leaveOf, type Ending, type Leave } from '../run/ending.ts';
import type { IterationOutcome } from '../contract/events.ts';
import { hearKept } from '../children/family.ts';
import type { Host } from '../run/host.ts';
import type { CancelRequest } from '../run/inbox.ts';
import type { KeptTurn } from '../run/kept-turn.ts';
import { makeRoom } from '../run/make-room.ts';
import { modeOf } from '../modes/modes.ts';
import { isStopped, type Run } from '../run/run.ts';
import { compactDue, compactToFit, isCompactionDue, type Pass } from '../ask/run-compaction.ts';
import { messageOf, outcomeOf } from '../run/step-of.ts';
import { fitEnding } from '../run/step-size.ts';
import { createWork, type Next, type TurnEnd } from './work.ts';

/** How a run left `runLoop`. */
export type LoopEnd =
  { readonly kind: 'ended'; readonly ending: Ending } | { readonly kind: 'handover' };

/** What was found out about a run before it begins. */
export interface Opening {
  /** What is odd about what it was given. */
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
  /** Why it cannot run: it ends with this before the first iteration. */
  readonly refusal?: { readonly code: string; readonly message: string; readonly details?: Json };
}

/**
 * Runs iterations until the run ends or the host asks for a hand-over. Never throws. `opening` is what
 * was found when a fresh run was loaded.
 */
export async function runLoop(
  run: Run,
  host: Host,
  next: Next,
  opening?: Opening,
): Promise<LoopEnd> {
  try {
    if (run.state.seq === 0) {
      run.record({ type: 'agent:execution:before', mode: run.state.head.spec.mode }); // L1
      for (const warning of opening?.warnings ?? []) {
        run.record({ type: 'agent:warning', ...warning });
      }
      const refusal = opening?.refusal;
      if (refusal !== undefined) {
        const { code, message: cause, details } = refusal;
        const because = details === undefined ? {} : { details };
        return finish(run, { kind: 'error', code, cause, ...because });
      }
    }
    hearKept(run, host);
    // A turn that waits for people may be handed over in its middle: it goes on inside L9.
    if ((run.state.turn ?? null) !== null) {
      const left = await iterate(run, host, next);
      if (left !== null) return left;
    }
    for (;;) {
      if (run.state.pausedAt !== null) await waitWhilePaused(run, host); // L2
      const room = makeRoom(run, host, { 'agent:iterations': 1 });
      if (room !== undefined) await room;
      const left = leaveBeforeIteration(run, host); // L2 to L6
      if (left === NEEDS_ROOM || (left === null && isCompactionDue(run))) {
        const compact = left === NEEDS_ROOM ? compactToFit : compactDue;
        const then = afterPass(run, host, await compact(run, host)); // L7
        if (then !== 'on' && then !== 'again') return then;
        if (then === 'on' && left === NEEDS_ROOM) return handOver(run);
        if (then === 'again' || hasNews(run, host)) continue;
      } else if (left !== null) return left;
      run.record({ type: 'agent:iteration:before' }); // L8
      const over = await iterate(run, host, next);
      if (over !== null) return over;
    }
  } catch (error) {
    return finish(run, { kind: 'error', code: 'internal', cause: errorText(error) });
  }
}

/** One iteration, from behind its beginning (L9); null when the run goes on. */
async function iterate(run: Run, host: Host, next: Next): Promise<LoopEnd | null> {
  const work = createWork(run, host);
  let end: TurnEnd | Threw;
  try {
    end = await next(work);
  } catch (error) {
    end = { kind: 'threw', error };
  }
  if (work.isOpen()) await work.settle();
  const left = end.kind === 'threw' ? leaveOf(end.error) : undefined;
  if (left?.kind === 'handover') return handOver(run, left.turn);
  const { outcome, ending } = outcomeOfIteration(run, host, end);
  const durationMs = host.now() - work.startedAt;
  run.record({ type: 'agent:iteration:after', outcome, durationMs });
  return ending === null ? null : finish(run, ending);
}

/** An iteration that threw. */
interface Threw {
  readonly kind: 'threw';
  readonly error: unknown;
}

/** The state would not fit into a hand-over as it is. */
const NEEDS_ROOM = 'needs_room';

/** Takes inputs in, then finds out why no further iteration begins; null when one does. */
function leaveBeforeIteration(run: Run, host: Host): LoopEnd | typeof NEEDS_ROOM | null {
  if (!isStopped(run, host)) takeIn(run, host); // L2
  const over = endingFound(run, host); // L3, L4
  if (over !== null) return finish(run, over);
  if (host.capacity.isHandoverDue())
    return host.capacity.fits(run.state) ? handOver(run) : NEEDS_ROOM; // L5
  const crossed = iterationBreach(run); // L6
  if (crossed === null) return null;
  run.breach(crossed);
  return finish(run, { kind: 'limit_exceeded', breach: crossed });
}

function handOver(run: Run, turn?: KeptTurn): LoopEnd {
  const carried = turn === undefined ? {} : { turn };
  run.record({ type: 'agent:execution:handover', run: run.state.link }, carried);
  return { kind: 'handover' };
}

/** What a compaction between two iterations leaves to do: L3 and L4 again, then on, or L2 again. */
function afterPass(run: Run, host: Host, pass: Pass): LoopEnd | 'on' | 'again' {
  if (pass.kind === 'unchanged') return 'on';
  const over = endingFound(run, host);
  if (over !== null) return finish(run, over);
  if (pass.kind === 'failed') return finish(run, { kind: 'compaction_failed', cause: pass.cause });
  return pass.kind === 'interrupted' ? 'again' : 'on';
}

/** Whether something came during a compaction that acts before the next model call. */
function hasNews(run: Run, host: Host): boolean {
  return run.state.pausedAt !== null || host.mailbox.peek().waiting.length > 0;
}

/** Records the end of a run, also of one whose hand-over failed; a Step that is too large ends it otherwise. */
export function finish(run: Run, wanted: Ending): Extract<LoopEnd, { readonly kind: 'ended' }> {
  const ending = fitEnding(run.state, wanted);
  const message = messageOf(ending, run.state.iteration);
  if (message !== undefined && (ending.kind === 'error' || ending.kind === 'compaction_failed')) {
    run.record({ type: 'agent:error', message });
  }
  const { breach } = run.state;
  run.record({
    type: 'agent:execution:after',
    ...outcomeOf(ending),
    ...(breach === null ? {} : { exceededLimit: breach }),
  });
  return { kind: 'ended', ending };
}

async function waitWhilePaused(run: Run, host: Host): Promise<void> {
  // A paused run still hands over: months of messages would reach the limits of one execution.
  const mayGoOn = (): boolean =>
    run.state.pausedAt === null || isStopped(run, host) || host.capacity.isHandoverDue();
  // A pause may come again between the end of the wait and this line.
  while (!mayGoOn()) await host.waits.until(mayGoOn);
}

/** Takes in what was sent: an entry for each input, in the order in which it is to be read. */
function takeIn(run: Run, host: Host): void {
  for (const { id, kind, position, text, media = [] } of host.mailbox.take()) {
    run.record({ type: 'agent:input', inputId: id, kind, position });
    const messages = modeOf(run.state.head.spec).inputMessages({ text, media });
    run.append({ iteration: run.state.iteration, origin: 'input', messages }, 'both');
  }
}

/** How a run ends that is to stop: canceled, or for a limit of an ancestor, which it then names. */
export function cancelEnding(run: Run, { reason, message, breach }: CancelRequest): Ending {
  if (breach === undefined) return { kind: 'canceled', reason, message };
  run.breach(breach);
  return { kind: 'limit_exceeded', breach: run.state.breach ?? breach };
}

function endingFound(run: Run, host: Host): Ending | null {
  const { cancel } = host.mailbox.peek();
  if (cancel !== null) return cancelEnding(run, cancel);
  const { breach } = run.state;
  return breach === null ? null : { kind: 'limit_exceeded', breach };
}

function iterationBreach(run: Run): ReturnType<Run['wouldCross']> {
  return run.wouldCross(['agent:iterations']);
}

/** How an iteration ended; `ending` is null when the run goes on. */
interface ClosedIteration {
  readonly outcome: IterationOutcome;
  readonly ending: Ending | null;
}

function outcomeOfIteration(run: Run, host: Host, end: TurnEnd | Threw): ClosedIteration {
  switch (end.kind) {
    case 'continue':
      return { outcome: 'continue', ending: null };
    case 'threw':
      return outcomeOfThrow(run, host, end.error);
    case 'end': {
      const isLate = hasLateInput(run, host);
      if (end.entry !== undefined) {
        const entry = { iteration: run.state.iteration, origin: 'original' as const, ...end.entry };
        run.append(entry, isLate ? 'both' : 'history');
      }
      // An entry can cross a limit on the scratchpad: the answer in hand wins then.
      return isLate && run.state.breach === null
        ? { outcome: 'continue', ending: null }
        : {
            outcome: 'end',
            ending: {
              kind: 'success',
              value: end.value,
              ...(end.passedOn === undefined ? {} : { passedOn: end.passedOn }),
              ...(end.fallbackUsed === undefined ? {} : { fallbackUsed: end.fallbackUsed }),
            },
          };
    }
  }
}

/** Whether an accepted answer came while inputs waited, and there is room to read them. */
function hasLateInput(run: Run, host: Host): boolean {
  if (host.mailbox.peek().waiting.length === 0 || isStopped(run, host)) return false;
  return iterationBreach(run) === null;
}

function outcomeOfThrow(run: Run, host: Host, error: unknown): ClosedIteration {
  const left = leaveOf(error);
  if (left?.kind === 'interrupted') return { outcome: 'interrupted', ending: null };
  // A cancel or a breach can surface as any error of a call: look for them first.
  return { outcome: 'failed', ending: endingFound(run, host) ?? failureOf(left, error) };
}

function failureOf(left: Leave | undefined, error: unknown): Ending {
  switch (left?.kind) {
    case 'failed':
      return {
        kind: 'error',
        code: left.code,
        cause: left.cause,
        ...(left.details === undefined ? {} : { details: left.details }),
        ...(left.isVerbatim === undefined ? {} : { isVerbatim: left.isVerbatim }),
      };
    case 'compaction_failed':
      return left;
    default:
      return { kind: 'error', code: 'loop_error', cause: errorText(error) };
  }
}
