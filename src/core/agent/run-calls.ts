/**
 * The calls of a turn: wave after wave, within the limits, recorded in request order (I3 of loop.ts).
 * Asynchronous, like `work.ts`, of which it is a part.
 */
import { canceledCallText, refusedText, unknownToolText } from '../toolchain/call-texts.ts';
import { isKnownTool, roomFor, UNKNOWN_TOOL, wavesOf } from '../toolchain/batch.ts';
import type { CallOutcome, ToolResult } from '../toolchain/outcome.ts';
import { hitsText } from '../tool-search/describe.ts';
import { readSearchPage, SEARCH_TOOL } from '../tool-search/query.ts';
import { cachedResult, toCachedResult } from '../toolchain/result-cache.ts';
import { capOutput } from '../toolchain/result-text.ts';
import { toolchainOf } from '../toolchain/toolchain-of.ts';
import type { ToolCall } from '../message.ts';
import type { EventBody } from './events.ts';
import type { Host, ToolEnd } from './host.ts';
import { failedCallResult, toolCallResult, type CallResult } from './observation.ts';
import { isInterrupted, isStopped, type Run } from './run.ts';
import type { AgentSpec, ToolSpec } from './spec.ts';
import { cutInEvent, modelCallEvents, ownEvent } from './turn-record.ts';

/** How many calls of an iteration have begun and not ended. */
export interface OpenCount {
  count: number;
}

/** All calls of a turn; the results are in request order, one for each call. */
export async function runCalls(
  run: Run,
  host: Host,
  open: OpenCount,
  calls: readonly ToolCall[],
): Promise<readonly CallResult[]> {
  const { tools, parallel } = run.state.head.spec;
  const results: CallResult[] = [];
  const shownTools = new Set<string>();
  for (const wave of wavesOf(calls, tools, parallel)) {
    for (let done = 0; done < wave.length;) {
      // When calls that started did not count after all, more of the wave fit.
      const begun = beginCalls(run, host, wave.slice(done));
      open.count += begun.length;
      hearLater(begun);
      for (const one of begun) {
        results.push(
          one.kind === 'settled' ? one.result : recordCall(run, one, await one.pending, shownTools),
        );
        open.count -= 1;
      }
      done += begun.length;
    }
  }
  return results;
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
  readonly pending: Promise<ToolEnd> | ToolEnd;
}

/**
 * Starts as many of `calls` as fit, and settles at least the first. All that start overlap; what one
 * of them crosses aborts the others.
 */
function beginCalls(run: Run, host: Host, calls: readonly ToolCall[]): readonly BegunCall[] {
  const [first] = calls;
  if (first === undefined) return [];
  if (isStopped(run, host) || isInterrupted(host)) {
    return calls.map((call) => ({ kind: 'settled', result: leaveOut(run, call) }));
  }
  const { limits, stats, head } = run.state;
  const { fits, breach } = roomFor(calls, head.spec.tools, limits, stats);
  if (fits > 0) return calls.slice(0, fits).map((call) => startCall(run, host, call));
  if (breach?.limit.onReach === 'refuse') {
    const text = refusedText(breach.key, breach.limit.max);
    return [{ kind: 'settled', result: recordUnstarted(run, first, 'refused', text) }];
  }
  if (breach !== null) run.breach(breach);
  return calls.map((call) => ({ kind: 'settled', result: leaveOut(run, call) }));
}

function startCall(run: Run, host: Host, call: ToolCall): StartedCall {
  const { runId, agentPath, head } = run.state;
  const { callId, tool, args } = call;
  const spec = head.spec.tools.find((known) => known.name === tool);
  const startedAt = host.now();
  const unstarted = (outcome: 'rejected' | 'canceled', error: string): StartedCall => {
    const result: ToolResult = { outcome, error, attempts: 0, started: false };
    return { kind: 'started', call, startedAt, pending: { result, endedAt: startedAt } };
  };
  if (spec === undefined) {
    const hint = head.spec.toolSearch === undefined ? 'names' : 'search';
    return unstarted('rejected', unknownToolText(tool, head.spec.tools, hint));
  }
  run.record({ type: 'agent:tool_call:before', callId, tool, args: cutInEvent(args) });
  // The event itself can show that time is up.
  if (isStopped(run, host)) return unstarted('canceled', canceledCallText);
  const order = { agent: head.spec.name, runId, agentPath, callId, tool, args };
  const kept = cachedResult(run.state.cached, spec, call);
  if (kept !== undefined) {
    return { kind: 'started', call, startedAt, pending: { result: kept, endedAt: startedAt } };
  }
  const pending = isSearch(head.spec, tool)
    ? host.searchTools(order, spec)
    : host.callTool(order, spec);
  return { kind: 'started', call, startedAt, pending };
}

function isSearch({ toolSearch }: AgentSpec, tool: string): boolean {
  return toolSearch !== undefined && tool === SEARCH_TOOL;
}

function recordCall(
  run: Run,
  { call, startedAt }: StartedCall,
  { result: given, endedAt }: ToolEnd,
  shownTools: Set<string>,
): CallResult {
  const { spec } = run.state.head;
  const tool = spec.tools.find(({ name }) => name === call.tool);
  const { result, shown } = isSearch(spec, call.tool)
    ? searchResult(spec, tool, given, shownTools)
    : { result: given };
  const cached = toCachedResult(tool, call, result);
  for (const event of modelCallEvents('tool', result)) run.record(event);
  run.record(
    toolCallAfter(spec, call, result, endedAt - startedAt),
    cached === undefined ? {} : { cached },
  );
  for (const event of result.events ?? []) run.record(ownEvent(event));
  if (tool === undefined) return failedCallResult(call, result.error ?? '', false);
  const read = toolCallResult(call, result, toolchainOf(spec.toolchain));
  return shown === undefined ? read : { ...read, shown };
}

/** A page of names as text; `shownTools` are those that the batch has shown, and grows by the page. */
function searchResult(
  spec: AgentSpec,
  tool: ToolSpec | undefined,
  result: ToolResult,
  shownTools: Set<string>,
): { readonly result: ToolResult; readonly shown?: readonly string[] } {
  const page = result.outcome === 'ok' ? readSearchPage(result.output) : undefined;
  if (page === undefined) return { result };
  const toolchain = toolchainOf(spec.toolchain);
  const { text, shown } = hitsText(spec, page, shownTools, toolchain);
  for (const name of shown) shownTools.add(name);
  const capped = capOutput(text, tool?.maxResultBytes ?? Infinity, toolchain);
  return { result: { ...result, ...capped }, ...(shown.length === 0 ? {} : { shown }) };
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
  const isCached = outcome === 'ok' && attempts === 0;
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
    ...(isCached ? { cached: true as const } : {}),
    ...(counts === undefined ? {} : { counts }),
    ...(gauges === undefined ? {} : { gauges }),
  };
}
