/**
 * The loop: iterations until a run ends or hands over. It decides nothing by itself: it asks pure
 * functions what to do, lets the host do it, and records what happened.
 *
 * L1  Begin: record the start of a fresh run, or end one that was refused.
 * L2  Wait while the run is paused, get the budget of an iteration, accept inputs.
 * L3  End when a cancel waits.
 * L4  End when a limit was crossed.
 * L5  Hand over when that is due; a state that does not fit is compacted first.
 * L6  End when the limit on iterations has no room for another one.
 * L7  Compact the conversation when a trigger fires.
 * L8  Before the first request: have the guards look at the task, then L2 again.
 * L9  Begin the iteration.
 * L10 Run it, and end it in one place, whatever it did or threw.
 *
 * I1  The order is L1 to L10; each step is named where it happens.
 * I2  What can change during a wait: inputs or a cancel in the inbox, limits and leases, what
 *     children report, a pause, a limit on time that is crossed. Handlers never change the
 *     transcript.
 * I3  Parallel work is recorded as it ends; the model reads its results in request order.
 * I4  Nothing thrown escapes: `runLoop` turns it into an ending.
 * I5  Whatever is in flight is awaited before the run ends or hands over.
 */
import { defined } from '../base/defined.ts';
import { errorText } from '../base/error-text.ts';
import type { Json } from '../base/json.ts';
import { leaveOf, type Ending, type Leave } from '../run/ending.ts';
import type { IterationOutcome } from '../contract/events.ts';
import type { AgentSpec } from '../contract/spec.ts';
import { applyKeptMessages } from '../children/tree-handlers.ts';
import { limitsByDefault } from '../limits/default-limits.ts';
import { unreadCount, type CancelRequest } from '../run/inbox.ts';
import type { KeptTurn } from '../run/kept-turn.ts';
import { ensureBudget } from '../run/ensure-budget.ts';
import { modeOf } from '../modes/modes.ts';
import type { RunState } from '../run/run-state.ts';
import type { Run } from '../run/run.ts';
import { compactDue, compactToFit, isCompactionDue, type Pass } from '../ask/run-compaction.ts';
import { messageOf, outcomeOf } from '../run/step-of.ts';
import { fitEnding } from '../run/step-size.ts';
import { compiledLoop } from './compiled-loop.ts';
import { evaluationLoop } from './evaluation-loop.ts';
import { fanOutLoop } from './fan-out-loop.ts';
import { guardTask, mustGuard } from './guard-text.ts';
import { modeLoop } from './mode-loop.ts';
import { pipelineLoop } from './pipeline-loop.ts';
import { createWork, type Next, type TurnEnd } from './work.ts';

/** The iteration that `spec` asks for: of its mode, its pipeline, its fan-out or its compiled program. */
export function nextOf(spec: AgentSpec): Next {
  if (spec.pipeline !== undefined) return pipelineLoop(spec.pipeline);
  if (spec.fanOut !== undefined) return fanOutLoop(spec.fanOut);
  if (spec.evaluation !== undefined) return evaluationLoop(spec.evaluation);
  if (spec.compiled !== undefined) return compiledLoop;
  return modeLoop(modeOf(spec));
}

/** How a run left `runLoop`. */
export type LoopEnd =
  { readonly kind: 'ended'; readonly ending: Ending } | { readonly kind: 'handover' };

/** What is known of a run before it begins. */
export interface Opening {
  /** What is unusual about its input. */
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
  /** Why it cannot run: it ends with this before the first iteration. */
  readonly refusal?: { readonly code: string; readonly message: string; readonly details?: Json };
}

/**
 * Runs iterations until the run ends or the host asks for a hand-over. Never throws. `opening` is
 * what loading a fresh run has found.
 */
export async function runLoop(run: Run, next: Next, opening?: Opening): Promise<LoopEnd> {
  const isNew = isFresh(run.state);
  if (isNew) begin(run); // L1
  const left = await runToEnding(run, next, isNew ? opening : undefined);
  return left.kind === 'handover' ? left : finish(run, left.ending);
}

/** Records the start of a run of which nothing is recorded. */
export function begin(run: Run): void {
  const { head, limits } = run.state;
  const defaultLimits = limitsByDefault(limits);
  const { mode } = head.spec;
  run.record({ type: 'agent:execution:before', mode, limits, ...defined({ defaultLimits }) });
}

/** Whether nothing of the run's own has happened: the events before it are those of its source. */
export function isFresh({ seq, fork }: RunState): boolean {
  return seq === (fork?.events ?? 0);
}

/** Why no further iteration begins. */
export type LoopLeft =
  { readonly kind: 'over'; readonly ending: Ending } | { readonly kind: 'handover' };

/**
 * Runs iterations until there is an ending, which is not recorded, or the host asks for a hand-over.
 * Never throws. `opening` is what loading the agent has found; absent if a link before has loaded it.
 */
export async function runToEnding(run: Run, next: Next, opening?: Opening): Promise<LoopLeft> {
  try {
    for (const warning of opening?.warnings ?? []) {
      run.record({ type: 'agent:warning', ...warning });
    }
    if (opening?.refusal !== undefined) {
      const { code, message: cause, details } = opening.refusal;
      return over({ kind: 'error', code, cause, ...defined({ details }) });
    }
    applyKeptMessages(run);
    // A turn that waited for people may have been handed over: it continues inside L10.
    if ((run.state.turn ?? null) !== null) {
      const left = await iterate(run, next);
      if (left !== null) return left;
    }
    for (;;) {
      if (run.state.pausedAt !== null) await waitWhilePaused(run); // L2
      const budget = ensureBudget(run, { 'agent:iterations': 1 });
      if (budget !== undefined) await budget;
      const left = leaveBeforeIteration(run); // L2 to L6
      if (left === TOO_LARGE || (left === null && isCompactionDue(run))) {
        const compact = left === TOO_LARGE ? compactToFit : compactDue;
        const then = afterPass(run, await compact(run)); // L7
        if (then !== 'on' && then !== 'again') return then;
        if (then === 'on' && left === TOO_LARGE) return handOver(run);
        if (then === 'again' || mustLookAgain(run)) continue;
      } else if (left !== null) return left;
      if (mustGuard(run.state)) {
        const blocked = await guardTask(run); // L8
        if (blocked !== null) return over(blocked);
        continue;
      }
      run.record({ type: 'agent:iteration:before' }); // L9
      const end = await iterate(run, next);
      if (end !== null) return end;
    }
  } catch (error) {
    return over({ kind: 'error', code: 'internal', cause: errorText(error) });
  }
}

function over(ending: Ending): LoopLeft {
  return { kind: 'over', ending };
}

/** Runs one iteration that has begun (L10); null when the run goes on. */
async function iterate(run: Run, next: Next): Promise<LoopLeft | null> {
  const work = createWork(run);
  let end: TurnEnd | Threw;
  try {
    end = await next(work);
  } catch (error) {
    end = { kind: 'threw', error };
  }
  if (work.isOpen()) await work.settle();
  const left = end.kind === 'threw' ? leaveOf(end.error) : undefined;
  if (left?.kind === 'handover') return handOver(run, left.turn);
  work.loseReads();
  const { outcome, ending } = outcomeOfIteration(run, end);
  const durationMs = run.host.now() - work.startedAt;
  run.record({ type: 'agent:iteration:after', outcome, durationMs });
  return ending === null ? null : over(ending);
}

/** An iteration that threw. */
interface Threw {
  readonly kind: 'threw';
  readonly error: unknown;
}

/** The state does not fit into a hand-over as it is. */
const TOO_LARGE = 'too_large';

/** Accepts inputs, then finds why no further iteration begins; null when one does. */
function leaveBeforeIteration(run: Run): LoopLeft | typeof TOO_LARGE | null {
  if (!run.isStopped()) acceptInputs(run); // L2
  const found = endingFound(run); // L3, L4
  if (found !== null) return over(found);
  run.host.link.probe?.boundary(run.state);
  if (run.host.link.isHandoverDue())
    return run.host.link.fits(run.state) ? handOver(run) : TOO_LARGE; // L5
  const crossed = iterationBreach(run); // L6
  if (crossed === null) return null;
  run.breach(crossed);
  return over({ kind: 'limit_exceeded', breach: crossed });
}

/** Records that this link of the run ends, and the next one goes on. */
export function handOver(run: Run, turn?: KeptTurn): { readonly kind: 'handover' } {
  const event = { type: 'agent:execution:handover', run: run.state.link } as const;
  run.record(event, defined({ turn }));
  return { kind: 'handover' };
}

/** What follows a compaction between two iterations: L3 and L4 again, then go on, or L2 again. */
function afterPass(run: Run, pass: Pass): LoopLeft | 'on' | 'again' {
  if (pass.kind === 'unchanged') return 'on';
  const found = endingFound(run);
  if (found !== null) return over(found);
  if (pass.kind === 'failed') return over({ kind: 'compaction_failed', cause: pass.cause });
  return pass.kind === 'interrupted' ? 'again' : 'on';
}

/** Whether a pause or an input came during a compaction, which acts before the next model call. */
function mustLookAgain(run: Run): boolean {
  return run.state.pausedAt !== null || unreadCount(run.host.mailbox.peek()) > 0;
}

/** Records the end of a run, also after a failed hand-over. An oversized Step becomes an error. */
export function finish(run: Run, wanted: Ending): Extract<LoopEnd, { readonly kind: 'ended' }> {
  const ending = fitEnding(run.state, wanted, run.host.link.sizes.step);
  const message = messageOf(ending, run.state.iteration);
  if (message !== undefined && (ending.kind === 'error' || ending.kind === 'compaction_failed')) {
    run.record({ type: 'agent:error', message });
  }
  const { breach } = run.state;
  run.record({
    type: 'agent:execution:after',
    ...outcomeOf(ending),
    ...defined({
      exceededLimit: breach ?? undefined,
      by: ending.kind === 'canceled' ? ending.by : undefined,
    }),
  });
  return { kind: 'ended', ending };
}

async function waitWhilePaused(run: Run): Promise<void> {
  // A paused run still hands over: months of messages would reach the limits of one execution.
  const mayGoOn = (): boolean =>
    run.state.pausedAt === null || run.isStopped() || run.host.link.isHandoverDue();
  // A pause may come again between the end of the wait and this line.
  while (!mayGoOn()) await run.host.waits.until(mayGoOn);
}

/** Makes an entry of each waiting input, in the order in which they are read. */
function acceptInputs(run: Run): void {
  for (const { id, kind, position, text, media = [], by } of run.host.mailbox.take()) {
    run.record({ type: 'agent:input', inputId: id, kind, position, ...defined({ by }) });
    const messages = modeOf(run.state.head.spec).inputMessages({ text, media });
    run.append({ iteration: run.state.iteration, origin: 'input', messages }, 'both');
  }
}

/** How a canceled run ends: as canceled, or by the limit of an ancestor. */
export function cancelEnding(run: Run, { reason, message, breach, by }: CancelRequest): Ending {
  if (breach === undefined) return { kind: 'canceled', reason, message, ...defined({ by }) };
  run.breach(breach);
  return { kind: 'limit_exceeded', breach: run.state.breach ?? breach };
}

function endingFound(run: Run): Ending | null {
  const { cancel } = run.host.mailbox.peek();
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

function outcomeOfIteration(run: Run, end: TurnEnd | Threw): ClosedIteration {
  switch (end.kind) {
    case 'continue':
      return { outcome: 'continue', ending: null };
    case 'threw':
      return outcomeOfThrow(run, end.error);
    case 'end': {
      const isLate = hasLateInput(run);
      if (end.entry !== undefined) {
        const entry = { iteration: run.state.iteration, origin: 'original' as const, ...end.entry };
        // The next turn of a conversation reads it.
        const isRead = isLate || run.state.turns !== undefined;
        run.append(entry, isRead ? 'both' : 'history');
      }
      // An entry can cross a limit on the scratchpad; then the answer in hand wins.
      return isLate && run.state.breach === null
        ? { outcome: 'continue', ending: null }
        : {
            outcome: 'end',
            ending: {
              kind: 'success',
              value: end.value,
              ...defined({ passedOn: end.passedOn, fallbackUsed: end.fallbackUsed }),
            },
          };
    }
  }
}

/** Whether inputs waited when the answer was accepted, and an iteration is left to read them. */
function hasLateInput(run: Run): boolean {
  if (unreadCount(run.host.mailbox.peek()) === 0 || run.isStopped()) return false;
  return iterationBreach(run) === null;
}

function outcomeOfThrow(run: Run, error: unknown): ClosedIteration {
  const left = leaveOf(error);
  if (left?.kind === 'interrupted') return { outcome: 'interrupted', ending: null };
  // A cancel or a breach can look like any error of a call, so they are checked first.
  return { outcome: 'failed', ending: endingFound(run) ?? failureOf(left, error) };
}

function failureOf(left: Leave | undefined, error: unknown): Ending {
  switch (left?.kind) {
    case 'failed':
      return {
        kind: 'error',
        code: left.code,
        cause: left.cause,
        ...defined({ details: left.details, isVerbatim: left.isVerbatim }),
      };
    case 'compaction_failed':
      return left;
    default:
      return { kind: 'error', code: 'loop_error', cause: errorText(error) };
  }
}
