/**
 * The calls of a turn: wave after wave, within the limits, recorded as they end (I3 of `loop.ts`).
 */
import { refusedText } from '../toolchain/call-texts.ts';
import { roomFor, wavesOf } from '../toolchain/batch.ts';
import type { ToolCall } from '../base/message.ts';
import type { CallEnd } from '../contract/outcome.ts';
import { leaveOf } from '../run/ending.ts';
import { ensureCallBudget } from '../run/ensure-budget.ts';
import { CLOSED_GATE, createGate } from '../run/handover-gate.ts';
import type { Iteration } from '../run/iteration.ts';
import type { KeptCalls, KeptTurn } from '../run/kept-turn.ts';
import type { CallResult } from '../modes/observation.ts';
import {
  endOf,
  recordAsTheyEnd,
  resultsOf,
  type BegunCall,
  type StartedCall,
} from './begun-calls.ts';
import { leaveOut, recordUnstarted } from './record-call.ts';
import { endStoppedRead, takeReads, type EndedReads } from './run-reads.ts';
import { resumeCall, startCall } from './run-call.ts';
import type { Run } from '../run/run.ts';
import type { ToolSpec } from '../contract/spec.ts';
import { toolsNamed } from '../tool-search/stubs.ts';
import type { CallSite } from './call-site.ts';

/** What calls know of the turn that they belong to. */
export interface CallTurn {
  /** What the model wrote beside them, for people who approve one. */
  readonly reasoning?: string;
  /** The calls that an earlier link began. */
  readonly kept?: KeptCalls;
  /** Makes the turn to hand over from its calls, when the run waits only for people. */
  readonly keep?: (calls: KeptCalls) => KeptTurn;
}

/** Runs all calls of a turn; the results are in request order, one for each call. */
export async function runCalls(
  { run, open, reads }: Iteration,
  calls: readonly ToolCall[],
  { kept, keep, reasoning = '' }: CallTurn = {},
): Promise<readonly CallResult[]> {
  const { parallel } = run.state.head.spec;
  const tools = calledTools(run, calls);
  const results: CallResult[] = [...(kept?.results ?? [])];
  const shownTools = new Set(results.flatMap(({ shown = [] }) => shown));
  let begun: readonly BegunCall[] = [];
  const gather = async (make: (calls: KeptCalls) => KeptTurn): Promise<KeptTurn> => {
    for (;;) {
      const asked = begun;
      const ends = await Promise.all(asked.map((one) => endOf(run, one)));
      if (asked === begun) return make({ results, begun: ends });
    }
  };
  const gate = keep === undefined ? CLOSED_GATE : createGate(run, () => gather(keep));
  const context: CallSite = { run, open, gate, reads, reasoning, starting: { children: 0 } };
  const ended = reads.isEmpty() ? NO_READS : await takeReads(context, calls, shownTools);
  let openHere = 0;
  const onEnd = (): void => {
    openHere -= 1;
    open.count -= 1;
  };
  let resumed = kept?.begun ?? [];
  let before = 0;
  try {
    for (const wave of wavesOf(calls, tools, parallel)) {
      for (let done = results.length - before; done < wave.length; done = results.length - before) {
        const left = wave.slice(done);
        const budget = ensureCallBudget(run, toolsOf(left, ended));
        if (budget !== undefined) await budget;
        // When calls that started did not count in the end, more of the wave fit.
        begun = beginCalls(context, left, { resumed, ended });
        resumed = [];
        openHere += begun.length;
        open.count += begun.length;
        begun = recordAsTheyEnd(run, begun, { shownTools, onEnd });
        results.push(...(await resultsOf(run, begun, shownTools)));
        begun = [];
      }
      before += wave.length;
    }
  } catch (error) {
    // A hand-over takes the turn away, so nothing of it is open here.
    if (leaveOf(error)?.kind === 'handover') open.count -= openHere;
    throw error;
  }
  return results;
}

/** The tools of `calls` that have not run. */
function toolsOf(calls: readonly ToolCall[], ended: EndedReads): readonly string[] {
  return calls.filter(({ callId }) => !ended.has(callId)).map(({ tool }) => tool);
}

/**
 * Starts as many of `calls` as fit, and settles at least the first. They overlap; a limit that one
 * of them crosses aborts the others. If an earlier link began calls, `resumed` has the ends of the
 * first.
 */
function beginCalls(
  context: CallSite,
  calls: readonly ToolCall[],
  { resumed, ended }: Known,
): readonly BegunCall[] {
  const [first] = calls;
  if (first === undefined) return [];
  const { run } = context;
  if (resumed.length > 0) {
    return calls
      .slice(0, resumed.length)
      .map((call, index) => resume(context, call, resumed[index]));
  }
  if (run.mustLeave()) {
    return leaveAllOut(context, calls, ended);
  }
  const hasRun = ({ callId }: ToolCall): boolean => ended.has(callId);
  const { fits, breach } = roomFor(calls, calledTools(run, calls), run.wouldCross, hasRun);
  if (fits > 0) {
    const fitting = calls.slice(0, fits);
    if (context.starting !== undefined) context.starting.children = agentCalls(run, fitting);
    return fitting.map((call) => {
      const over = ended.get(call.callId);
      if (over !== undefined) return over;
      const startedAt = run.host.now();
      return { kind: 'started', call, startedAt, pending: startCall(context, call) };
    });
  }
  if (breach?.limit.onReach === 'refuse') {
    const text = refusedText(breach.key, breach.limit.max);
    const refused = (): BegunCall => ({
      kind: 'settled',
      result: recordUnstarted(run, { call: first }, 'refused', text),
    });
    return [endStoppedRead(context, first) ?? refused()];
  }
  if (breach !== null) run.breach(breach);
  return leaveAllOut(context, calls, ended);
}

/** What is known of the calls of a turn before they begin. */
interface Known {
  /** The ends of the first calls, if an earlier link began them. */
  readonly resumed: KeptCalls['begun'];
  /** Those that ran beside the reply. */
  readonly ended: EndedReads;
}

const NO_READS: EndedReads = new Map();

/** Begins none of `calls`; those that ran beside the reply have their results. */
function leaveAllOut(
  context: CallSite,
  calls: readonly ToolCall[],
  ended: EndedReads,
): readonly BegunCall[] {
  return calls.map(
    (call) =>
      ended.get(call.callId) ??
      endStoppedRead(context, call) ?? {
        kind: 'settled',
        result: leaveOut(context.run, { call }),
      },
  );
}

function calledTools({ state }: Run, calls: readonly ToolCall[]): readonly ToolSpec[] {
  return toolsNamed(
    state,
    calls.map(({ tool }) => tool),
  );
}

function agentCalls(run: Run, calls: readonly ToolCall[]): number {
  const { tools } = run.state.head.spec;
  const agents = tools.filter(({ agent }) => agent !== undefined).map(({ name }) => name);
  return agents.length === 0 ? 0 : calls.filter(({ tool }) => agents.includes(tool)).length;
}

/** Resumes a call that an earlier link began. */
function resume(context: CallSite, call: ToolCall, end: CallEnd | null | undefined): StartedCall {
  const { run } = context;
  const item = (run.state.pending ?? []).find(({ callId }) => callId === call.callId);
  const startedAt = item?.since ?? run.host.now();
  if (item !== undefined) {
    return { kind: 'started', call, startedAt, pending: resumeCall(context, call, item) };
  }
  const pending = end ?? startCall(context, call);
  return { kind: 'started', call, startedAt, pending };
}
