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
import type { Host, ModelOrder, ModelOutcome } from './host.ts';
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
  const { models } = run.state.head.spec;
  let tries = 0;
  let last = { code: 'model_error', message: 'no model answered' };
  for (const model of models) {
    const outcome = await askOne(run, host, model, tries);
    if (outcome.kind === 'reply') return outcome.reply;
    leaveIfAsked(run, host);
    tries += outcome.attempts;
    if (outcome.kind === 'aborted') continue;
    last = outcome;
    if (outcome.code !== 'model_error' && outcome.code !== 'model_auth') break;
  }
  throw leaving({ kind: 'failed', code: last.code, cause: last.message });
}

async function askOne(
  run: Run,
  host: Host,
  model: ModelSpec,
  triesBefore: number,
): Promise<ModelOutcome> {
  const { state } = run;
  const keys = ['agent:model_calls', `agent:model_calls:${model.id}`];
  const crossed = wouldCross(state.limits, state.stats, keys);
  if (crossed !== null) {
    run.breach(crossed);
    throw leaving({ kind: 'stopped' });
  }
  const named = { model: model.id, purpose: 'reply' as const };
  const { mark } = state;
  run.record({ type: 'agent:model_call:before', ...named, messages: mark.length });
  const startedAt = host.now();
  const order: ModelOrder = {
    agent: state.head.spec.name,
    runId: state.runId,
    agentPath: state.agentPath,
    ...named,
    iteration: state.iteration,
    triesBefore,
    lastTurn: wouldCross(state.limits, state.stats, ['agent:iterations']) !== null,
    time: startedAt,
    transcript: mark,
  };
  const outcome = await host.callModel(order, {
    head: state.head,
    messages: scratchpadMessages(state),
  });
  run.record(modelCallAfter(named, outcome, host.now() - startedAt));
  return outcome;
}

function modelCallAfter(
  named: { readonly model: string; readonly purpose: 'reply' },
  outcome: ModelOutcome,
  durationMs: number,
): EventBody {
  const { attempts } = outcome;
  const { usage, usageKnown } = outcome.kind === 'reply' ? outcome.reply : outcome;
  const shown = {
    type: 'agent:model_call:after' as const,
    ...named,
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

/** All calls of a turn, wave after wave, in request order (I3). */
async function callAll(
  run: Run,
  host: Host,
  calls: readonly ToolCall[],
): Promise<readonly CallResult[]> {
  const { tools, parallel } = run.state.head.spec;
  const results: CallResult[] = [];
  for (const wave of wavesOf(calls, tools, parallel)) {
    results.push(...(await callWave(run, host, wave)));
  }
  return results;
}

async function callWave(
  run: Run,
  host: Host,
  wave: readonly ToolCall[],
): Promise<readonly CallResult[]> {
  const results: CallResult[] = [];
  while (results.length < wave.length) {
    const [first, ...rest] = wave.slice(results.length);
    if (first === undefined) break;
    const { tools } = run.state.head.spec;
    const room = roomFor([first, ...rest], tools, run.state.limits, run.state.stats);
    if (mustLeave(run, host)) results.push(notStarted(first));
    else if (room.fits > 0) {
      results.push(...(await callTogether(run, host, [first, ...rest].slice(0, room.fits))));
    } else if (room.breach?.limit.onReach === 'refuse') {
      results.push(recordRefusal(run, first, room.breach));
    } else if (room.breach !== null) run.breach(room.breach);
  }
  return results;
}

/** Starts all `calls` at once; what one of them crosses cancels the others. */
async function callTogether(
  run: Run,
  host: Host,
  calls: readonly ToolCall[],
): Promise<readonly CallResult[]> {
  const startedAt = host.now();
  const running = calls.map((call) => startCall(run, host, call));
  const results: CallResult[] = [];
  for (const [index, call] of calls.entries()) {
    const result = await running[index];
    if (result !== undefined) results.push(recordCall(run, call, result, host.now() - startedAt));
  }
  return results;
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
