/**
 * What one iteration may do: ask the model, run calls, have answers checked. Each is counted, limited
 * and published by itself, and leaves the iteration when the run is to stop.
 */
import type { Json } from '../json.ts';
import { wouldCross } from '../limits/breach.ts';
import type { Breach } from '../limits/limit.ts';
import type { ToolCall } from '../message.ts';
import type { Reply } from '../model/model.ts';
import { isKnownTool, roomFor, UNKNOWN_TOOL, wavesOf } from '../toolchain/batch.ts';
import { canceledCallText, refusedText, unknownToolText } from '../toolchain/call-texts.ts';
import type { CallOutcome, JudgeResult, ToolResult } from '../toolchain/outcome.ts';
import { toolchainOf } from '../toolchain/toolchain-of.ts';
import type { Entry } from '../transcript/entry.ts';
import { leaving } from './ending.ts';
import type { EventBody } from './events.ts';
import type { Host, ModelOrder, ModelOutcome, TranscriptView } from './host.ts';
import { failedCallResult, toolCallResult, type CallResult } from './observation.ts';
import { isStopped, type Run } from './run.ts';
import { scratchpadMessages } from './run-state.ts';
import type { AgentSpec, ModelSpec } from './spec.ts';

/** What `next` decided: another iteration, or the end with a value. */
export type TurnEnd =
  | { readonly kind: 'continue' }
  | { readonly kind: 'end'; readonly value: Json; readonly entry?: NewEntry };

/** An entry before it has its place in the history. */
export type NewEntry = Pick<Entry, 'messages' | 'metadata'>;

/** What one iteration may do. All of it is counted, limited, published and durable by itself. */
export interface Work {
  readonly iteration: number;
  readonly run: Run;
  /** Asks the model, then its fallbacks. Leaves the iteration when the run is to stop. */
  ask(): Promise<Reply>;
  /** Runs calls within the limits; the results are in request order, one for each call. */
  call(calls: readonly ToolCall[]): Promise<readonly CallResult[]>;
  /** Checks answers and structured sections on the worker. */
  check(values: CheckedValues): Promise<JudgeResult>;
  /** Appends an entry to history and scratchpad. */
  append(entry: NewEntry): void;
  /** Leaves the iteration when a cancel, a breach or an interrupting input waits. */
  leaveIfAsked(): void;
}

/** What one reply gives to be checked. */
export interface CheckedValues {
  readonly answers: readonly Json[];
  readonly sections: readonly { readonly name: string; readonly value: Json }[];
}

/** One iteration of a loop. */
export type Next = (work: Work) => Promise<TurnEnd>;

/** The work of the iteration that has just begun. */
export function createWork(run: Run, host: Host): Work {
  return {
    iteration: run.state.iteration,
    run,
    ask: () => ask(run, host),
    call: (calls) => callAll(run, host, calls),
    check: (values) => check(run, host, values),
    append: (entry) => {
      run.append({ iteration: run.state.iteration, origin: 'original', ...entry }, 'both');
    },
    leaveIfAsked: () => leaveIfAsked(run, host),
  };
}

/** Leaves the iteration when a cancel, a breach or an interrupting input waits. */
function leaveIfAsked(run: Run, host: Host): void {
  if (isStopped(run, host)) throw leaving({ kind: 'stopped' });
  if (isInterrupted(host)) throw leaving({ kind: 'interrupted' });
}

async function ask(run: Run, host: Host): Promise<Reply> {
  let tries = 0;
  let last = { code: 'model_error', message: 'no model answered' };
  for (const model of run.state.head.spec.models) {
    const { order, view } = beginModelCall(run, host, model, tries);
    const outcome = await host.callModel(order, view);
    run.record(modelCallAfter(order, outcome, host.now() - order.time));
    if (outcome.kind === 'reply') return outcome.reply;
    leaveIfAsked(run, host);
    tries += outcome.attempts;
    if (outcome.kind === 'aborted') continue;
    last = outcome;
    if (outcome.code !== 'model_error' && outcome.code !== 'model_auth') break;
  }
  throw leaving({ kind: 'failed', code: last.code, cause: last.message });
}

/** Checks the limits of a model call and records its beginning. */
function beginModelCall(
  run: Run,
  host: Host,
  model: ModelSpec,
  triesBefore: number,
): { readonly order: ModelOrder; readonly view: TranscriptView } {
  const { state } = run;
  const keys = ['agent:model_calls', `agent:model_calls:${model.id}`];
  const crossed = wouldCross(state.limits, state.stats, keys);
  if (crossed !== null) {
    run.breach(crossed);
    throw leaving({ kind: 'stopped' });
  }
  const named = { model: model.id, purpose: 'reply' as const };
  const { mark, head } = state;
  run.record({ type: 'agent:model_call:before', ...named, messages: mark.length });
  const order: ModelOrder = {
    agent: head.spec.name,
    runId: state.runId,
    agentPath: state.agentPath,
    ...named,
    iteration: state.iteration,
    triesBefore,
    lastTurn: wouldCross(state.limits, state.stats, ['agent:iterations']) !== null,
    time: host.now(),
    transcript: mark,
  };
  return { order, view: { head, messages: scratchpadMessages(state) } };
}

function modelCallAfter(
  { model, purpose }: ModelOrder,
  outcome: ModelOutcome,
  durationMs: number,
): EventBody {
  const { attempts } = outcome;
  const { usage, usageKnown } = outcome.kind === 'reply' ? outcome.reply : outcome;
  const shown = {
    type: 'agent:model_call:after' as const,
    model,
    purpose,
    usage,
    usageKnown,
    attempts,
    durationMs,
  };
  switch (outcome.kind) {
    case 'reply':
      return { ...shown, finishReason: outcome.reply.finishReason };
    case 'aborted':
      return { ...shown, error: { code: 'aborted', message: 'canceled before it finished' } };
    case 'failed':
      return { ...shown, error: { code: outcome.code, message: outcome.message } };
  }
}

/** All calls of a turn, wave after wave, recorded in request order (I3 of the loop). */
async function callAll(
  run: Run,
  host: Host,
  calls: readonly ToolCall[],
): Promise<readonly CallResult[]> {
  const { tools, parallel } = run.state.head.spec;
  const results: CallResult[] = [];
  for (const wave of wavesOf(calls, tools, parallel)) {
    for (let done = 0; done < wave.length;) {
      // When calls that started did not count after all, more of the wave fit.
      const begun = beginCalls(run, host, wave.slice(done));
      for (const call of begun) {
        results.push(
          call.kind === 'settled'
            ? call.result
            : recordCall(run, call.call, await call.pending, host.now() - call.startedAt),
        );
      }
      done += begun.length;
    }
  }
  return results;
}

/** A call that runs, or one that nobody will start. */
type BegunCall =
  | {
      readonly kind: 'started';
      readonly call: ToolCall;
      readonly startedAt: number;
      readonly pending: Promise<ToolResult> | ToolResult;
    }
  | { readonly kind: 'settled'; readonly result: CallResult };

/** Starts as many of `calls` as fit, at least settling the first; what one crosses aborts the others. */
function beginCalls(run: Run, host: Host, calls: readonly ToolCall[]): readonly BegunCall[] {
  const { limits, stats, head } = run.state;
  const { fits, breach } = roomFor(calls, head.spec.tools, limits, stats);
  if (!mustLeave(run, host) && fits > 0) {
    const startedAt = host.now();
    return calls.slice(0, fits).map((call) => {
      const pending = startCall(run, host, call);
      return { kind: 'started', call, startedAt, pending };
    });
  }
  if (!mustLeave(run, host) && breach !== null) {
    if (breach.limit.onReach === 'refuse') {
      return calls.slice(0, 1).map((call) => ({
        kind: 'settled',
        result: recordRefusal(run, call, breach),
      }));
    }
    run.breach(breach);
  }
  return calls.map((call) => ({ kind: 'settled', result: notStarted(call) }));
}

function startCall(run: Run, host: Host, call: ToolCall): Promise<ToolResult> | ToolResult {
  const { runId, agentPath, head } = run.state;
  const { callId, tool, args } = call;
  const spec = head.spec.tools.find((known) => known.name === tool);
  if (spec === undefined) {
    const error = unknownToolText(tool, head.spec.tools);
    return { outcome: 'rejected', error, attempts: 0, started: false };
  }
  run.record({ type: 'agent:tool_call:before', callId, tool, args });
  return host.callTool({ agent: head.spec.name, runId, agentPath, callId, tool, args }, spec);
}

function recordCall(run: Run, call: ToolCall, result: ToolResult, durationMs: number): CallResult {
  const { spec } = run.state.head;
  run.record(toolCallAfter(spec, call, result, durationMs));
  for (const { type, data } of result.events ?? []) {
    run.record({ type: 'agent:custom', name: type, data });
  }
  return isKnownTool(spec.tools, call.tool)
    ? toolCallResult(call, result, toolchainOf(spec.toolchain))
    : failedCallResult(call, result.error ?? '', false);
}

function recordRefusal(run: Run, call: ToolCall, { key, limit }: Breach): CallResult {
  const error = refusedText(key, limit.max);
  const { spec } = run.state.head;
  run.record(
    toolCallAfter(spec, call, { outcome: 'refused', error, attempts: 0, started: false }, 0),
  );
  return failedCallResult(call, error);
}

/** A call that nobody started leaves no event, but a transcript needs a result for it. */
function notStarted(call: ToolCall): CallResult {
  return failedCallResult(call, canceledCallText);
}

/** Whether work is to stop: a cancel, a breach, or an input that interrupts. */
function mustLeave(run: Run, host: Host): boolean {
  return isStopped(run, host) || isInterrupted(host);
}

function isInterrupted(host: Host): boolean {
  return host.mailbox.peek().waiting.some((input) => input.kind === 'interrupt');
}

async function check(run: Run, host: Host, values: CheckedValues): Promise<JudgeResult> {
  const { runId, agentPath, iteration, head } = run.state;
  const order = { agent: head.spec.name, runId, agentPath, iteration, ...values };
  const outcome = await host.judgeAnswer(order);
  switch (outcome.kind) {
    case 'judged':
      return outcome.result;
    case 'aborted':
      leaveIfAsked(run, host);
      throw leaving({ kind: 'failed', code: 'validator_failed', cause: 'the check was aborted' });
    case 'failed':
      throw leaving({ kind: 'failed', code: 'validator_failed', cause: outcome.message });
  }
}

function toolCallAfter(
  spec: AgentSpec,
  { callId, tool, args }: ToolCall,
  result: Omit<ToolResult, 'outcome'> & { readonly outcome: CallOutcome },
  durationMs: number,
): EventBody {
  const { outcome, started, attempts, output, error, cut, counts, gauges } = result;
  return {
    type: 'agent:tool_call:after',
    callId,
    tool: isKnownTool(spec.tools, tool) ? tool : UNKNOWN_TOOL,
    args,
    outcome,
    started,
    attempts,
    durationMs,
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
    ...(cut === undefined ? {} : { cut }),
    ...(counts === undefined ? {} : { counts }),
    ...(gauges === undefined ? {} : { gauges }),
  };
}
