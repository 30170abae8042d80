/**
 * The calls of a turn: wave after wave, within the limits, recorded in request order (I3 of loop.ts).
 * Asynchronous, like `work.ts`, of which it is a part.
 */
import { canceledCallText, refusedText, unknownToolText } from '../toolchain/call-texts.ts';
import { isKnownTool, roomFor, UNKNOWN_TOOL, wavesOf } from '../toolchain/batch.ts';
import type { CallOutcome, ToolResult } from '../toolchain/outcome.ts';
import { toolchainOf } from '../toolchain/toolchain-of.ts';
import type { ToolCall } from '../message.ts';
import type { EventBody } from './events.ts';
import type { Host } from './host.ts';
import { failedCallResult, toolCallResult, type CallResult } from './observation.ts';
import { isInterrupted, isStopped, type Run } from './run.ts';
import type { AgentSpec } from './spec.ts';
import { cutInEvent, ownEvent } from './turn-record.ts';

/** All calls of a turn; the results are in request order, one for each call. */
export async function runCalls(
  run: Run,
  host: Host,
  calls: readonly ToolCall[],
): Promise<readonly CallResult[]> {
  const { tools, parallel } = run.state.head.spec;
  const results: CallResult[] = [];
  for (const wave of wavesOf(calls, tools, parallel)) {
    results.push(...(await runWave(run, host, wave)));
  }
  return results;
}

async function runWave(
  run: Run,
  host: Host,
  wave: readonly ToolCall[],
): Promise<readonly CallResult[]> {
  const results: CallResult[] = [];
  while (results.length < wave.length) {
    const [first, ...rest] = wave.slice(results.length);
    if (first === undefined) break;
    if (isStopped(run, host) || isInterrupted(host)) {
      results.push(leaveOut(run, first));
      continue;
    }
    const { tools } = run.state.head.spec;
    const room = roomFor([first, ...rest], tools, run.state.limits, run.state.stats);
    if (room.fits > 0) {
      results.push(...(await runTogether(run, host, [first, ...rest].slice(0, room.fits))));
    } else if (room.breach?.limit.onReach === 'refuse') {
      const text = refusedText(room.breach.key, room.breach.limit.max);
      results.push(recordUnstarted(run, first, 'refused', text));
    } else if (room.breach !== null) run.breach(room.breach);
  }
  return results;
}

/** Starts all `calls` at once; what one of them crosses cancels the others. */
async function runTogether(
  run: Run,
  host: Host,
  calls: readonly ToolCall[],
): Promise<readonly CallResult[]> {
  const running = calls.map((call) => runOne(run, host, call));
  // They are awaited in order below; a rejection that comes early must not count as unhandled.
  for (const one of running) one.catch(() => undefined);
  const results: CallResult[] = [];
  for (const [index, call] of calls.entries()) {
    const ended = await running[index];
    if (ended !== undefined) results.push(recordCall(run, call, ended));
  }
  return results;
}

interface EndedCall {
  readonly result: ToolResult;
  readonly durationMs: number;
}

async function runOne(run: Run, host: Host, call: ToolCall): Promise<EndedCall> {
  const { runId, agentPath, head } = run.state;
  const { callId, tool, args } = call;
  const spec = head.spec.tools.find((known) => known.name === tool);
  if (spec === undefined) {
    const error = unknownToolText(tool, head.spec.tools);
    return { result: { outcome: 'rejected', error, attempts: 0, started: false }, durationMs: 0 };
  }
  run.record({ type: 'agent:tool_call:before', callId, tool, args: cutInEvent(args) });
  const startedAt = host.now();
  // The event itself can show that time is up.
  const result: ToolResult = isStopped(run, host)
    ? { outcome: 'canceled', error: canceledCallText, attempts: 0, started: false }
    : await host.callTool({ agent: head.spec.name, runId, agentPath, callId, tool, args }, spec);
  return { result, durationMs: host.now() - startedAt };
}

function recordCall(run: Run, call: ToolCall, { result, durationMs }: EndedCall): CallResult {
  const { spec } = run.state.head;
  run.record(toolCallAfter(spec, call, result, durationMs));
  for (const event of result.events ?? []) run.record(ownEvent(event));
  return isKnownTool(spec.tools, call.tool)
    ? toolCallResult(call, result, toolchainOf(spec.toolchain))
    : failedCallResult(call, result.error ?? '', false);
}

/** A call that is not started any more. A breach keeps it out of the events, but a transcript needs a result. */
function leaveOut(run: Run, call: ToolCall): CallResult {
  return run.state.breach === null
    ? recordUnstarted(run, call, 'canceled', canceledCallText)
    : failedCallResult(call, canceledCallText, isKnownTool(run.state.head.spec.tools, call.tool));
}

function recordUnstarted(
  run: Run,
  call: ToolCall,
  outcome: 'refused' | 'canceled',
  error: string,
): CallResult {
  const { spec } = run.state.head;
  run.record(toolCallAfter(spec, call, { outcome, error, attempts: 0, started: false }, 0));
  return failedCallResult(call, error, isKnownTool(spec.tools, call.tool));
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
    args: cutInEvent(args),
    outcome,
    started,
    attempts,
    durationMs,
    ...(output === undefined ? {} : { output: cutInEvent(output) }),
    ...(error === undefined ? {} : { error }),
    ...(cut === undefined ? {} : { cut }),
    ...(counts === undefined ? {} : { counts }),
    ...(gauges === undefined ? {} : { gauges }),
  };
}
