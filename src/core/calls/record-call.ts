/** What is recorded of a call, whether a turn or a program made it. */
import { defined } from '../base/defined.ts';
import { canceledCallText, editedText } from '../toolchain/call-texts.ts';
import { UNKNOWN_TOOL } from '../toolchain/batch.ts';
import { hitsText } from '../tool-search/describe.ts';
import { foundTools } from '../tool-search/discovered.ts';
import { readSearchPage, SEARCH_TOOL } from '../tool-search/query.ts';
import { foundAfter, toolOf, withFoundTools } from '../tool-search/stubs.ts';
import { toCachedResult } from '../toolchain/result-cache.ts';
import { modelTool } from '../toolchain/catalogue.ts';
import { capOutput } from '../toolchain/result-text.ts';
import { toolchainOf } from '../toolchain/toolchain-of.ts';
import type { FoundTool, ToolCall } from '../base/message.ts';
import type { CallEnd, ToolResult } from '../contract/outcome.ts';
import type { EventBody } from '../contract/events.ts';
import {
  failedCallResult,
  toolCallResult,
  type CallResult,
  type FinalValue,
} from '../modes/observation.ts';
import { maskHidden } from '../children/run-child.ts';
import { dropEarly } from '../people/early-answers.ts';
import { repeatedCall, repeatedText, warnOfRepeats } from './repeated-calls.ts';
import type { Run } from '../run/run.ts';
import { scratchpadMessages } from '../run/run-state.ts';
import type { ToolSpec } from '../contract/spec.ts';
import { cutInEvent, modelCallEvents, ownEvent } from '../run/turn-record.ts';

/** A call begins. */
export function begunEvent(
  { state }: Pick<Run, 'state'>,
  { callId, tool, args }: ToolCall,
): EventBody {
  const mcp = serverTool(toolOf(state, tool));
  return {
    type: 'agent:tool_call:before',
    callId,
    tool,
    args: cutInEvent(args),
    ...defined({ mcp }),
  };
}

function serverTool(
  spec: ToolSpec | undefined,
): { readonly server: string; readonly tool: string } | undefined {
  return spec?.mcp && { server: spec.mcp.server, tool: spec.mcp.tool };
}

/** A call that did not start. */
export interface UnstartedCall {
  readonly call: ToolCall;
  /** Set when a program made it. */
  readonly inProgram?: true | undefined;
}

/** A call that began. */
export interface RecordedCall extends UnstartedCall {
  readonly startedAt: number;
}

/**
 * Records how a call ended: what it counts, spends and reports. `shownTools` are those that
 * searches of the turn have shown. Returns in how many replies in a row the call had this result.
 */
export function recordCall(
  run: Run,
  { call: asked, startedAt, inProgram }: RecordedCall,
  end: CallEnd,
  shownTools: ReadonlySet<string>,
): number | undefined {
  if (end.isLeftOut === true) {
    leaveOut(run, { call: asked, inProgram });
    return undefined;
  }
  const { tool, call, result, found } = endedCall(run, asked, end, new Set(shownTools));
  const cached = toCachedResult(tool, call, result, run.state.iteration);
  for (const event of modelCallEvents('tool', result)) run.record(event);
  const repeated = inProgram === true ? undefined : repeatedCall(run, tool, { call, result });
  const isCounted = repeated !== run.state.repeated;
  const repeats = (repeated?.count ?? 0) > 1 ? repeated?.count : undefined;
  if (tool !== undefined) probeCall(run, tool, asked, end);
  const durationMs = end.endedAt - (end.startedAt ?? startedAt);
  run.record(
    {
      ...toolCallAfter(run, { call, isReused: end.reused === true }, result, durationMs),
      ...defined({ inProgram, repeats, reused: end.reused }),
    },
    defined({ cached, repeated, found }),
  );
  for (const event of result.events ?? []) run.record(ownEvent(event, { callId: call.callId }));
  dropEarly(run, call.callId);
  if (isCounted) warnOfRepeats(run, call.tool, repeats);
  return repeats;
}

/** Shows a call that ran to who replays the run. */
function probeCall({ host }: Run, tool: ToolSpec, call: ToolCall, end: CallEnd): void {
  if (host.link.probe === undefined || !end.result.started) return;
  const effect = tool.agent === undefined ? tool.effect : 'agent';
  host.link.probe.call({ call, effect, result: end.result, ...defined({ edited: end.edited }) });
}

/** The result of a call as the model reads it. Tools that it shows are added to `shownTools`. */
export function readCall(
  run: Run,
  asked: ToolCall,
  end: CallEnd,
  shownTools: Set<string>,
): CallResult {
  const { spec } = run.state.head;
  if (end.isLeftOut === true) return leftOut(run, asked);
  const { tool, call, result, shown, found = [] } = endedCall(run, asked, end, shownTools);
  const warning = repeatedText(run, end.repeats);
  const lines = (...texts: readonly (string | undefined)[]): string =>
    texts.filter((text) => text !== undefined).join('\n');
  if (tool === undefined) return failedCallResult(call, lines(result.error ?? '', warning), false);
  const read = toolCallResult(asked, shownResult(tool, result), toolchainOf(spec.toolchain));
  const edited = end.edited === undefined ? undefined : editedText(end.edited);
  // A failure begins with its own words, by which it is known as one.
  const text = read.isError ? lines(edited, read.text, warning) : lines(warning, edited, read.text);
  const declared = newlyFound(run, shown, found);
  return { ...read, text, ...defined({ shown, found: declared, final: finalOf(tool, result) }) };
}

/** The value of a result that ends the run. One that was cut is none. */
function finalOf(
  tool: ToolSpec,
  { outcome, final, output, cut }: CallEnd['result'],
): FinalValue | undefined {
  const isFinal = outcome === 'ok' && cut === undefined && (final ?? tool.final) === true;
  return isFinal ? defined({ value: output }) : undefined;
}

interface EndedCall {
  readonly tool: ToolSpec | undefined;
  /** With the arguments that a person edited. */
  readonly call: ToolCall;
  readonly result: ToolResult;
  readonly shown?: readonly string[];
  /** What is found in the run after it; absent: nothing new. */
  readonly found?: readonly ToolSpec[];
}

function endedCall(run: Run, asked: ToolCall, end: CallEnd, shownTools: Set<string>): EndedCall {
  const { spec } = run.state.head;
  const tool = toolOf(run.state, asked.tool);
  const call = end.edited === undefined ? asked : { ...asked, args: end.edited };
  const isSearch = spec.toolSearch !== undefined && call.tool === SEARCH_TOOL;
  return isSearch
    ? { tool, call, ...searchResult(run, tool, end.result, shownTools) }
    : { tool, call, result: end.result };
}

/** A result as a model may read it. */
function shownResult(tool: ToolSpec, result: ToolResult): ToolResult {
  if (tool.agent === undefined || result.output === undefined) return result;
  return { ...result, output: maskHidden(result.output) };
}

/**
 * A page of names as text. Adds the tools that it shows to those of the batch.
 */
function searchResult(
  { state }: Run,
  tool: ToolSpec | undefined,
  result: ToolResult,
  shownTools: Set<string>,
): Pick<EndedCall, 'result' | 'shown' | 'found'> {
  const page = result.outcome === 'ok' ? readSearchPage(result.output) : undefined;
  if (page === undefined) return { result };
  const { spec } = state.head;
  const toolchain = toolchainOf(spec.toolchain);
  const found = spec.stubs && foundAfter(state, page.found ?? []);
  const { text, shown } = hitsText(withFoundTools(spec, found), page, shownTools, toolchain);
  for (const name of shown) shownTools.add(name);
  const capped = capOutput(text, tool?.maxResultBytes ?? Infinity, toolchain);
  return {
    result: { ...result, ...capped },
    ...defined({ shown: shown.length === 0 ? undefined : shown, found }),
  };
}

/** What a request has to declare of `found`: those that the transcript shows for the first time. */
function newlyFound(
  { state }: Run,
  shown: readonly string[] = [],
  found: readonly ToolSpec[],
): readonly FoundTool[] | undefined {
  const isShown = new Set(shown);
  const asked = found.filter(({ name }) => isShown.has(name));
  if (asked.length === 0) return undefined;
  const before = new Set(foundTools(state.head, scratchpadMessages(state)).map(({ name }) => name));
  const fresh = asked.filter(({ name }) => !before.has(name));
  if (fresh.length === 0) return undefined;
  return fresh.map((tool) => ({ ...modelTool(tool), name: tool.name }));
}

/**
 * Ends a call that will not start. After a breach it has no event, but the transcript needs a
 * result.
 */
export function leaveOut(run: Run, unstarted: UnstartedCall): CallResult {
  return run.state.breach === null
    ? recordUnstarted(run, unstarted, 'canceled', canceledCallText)
    : leftOut(run, unstarted.call);
}

function leftOut(run: Run, call: ToolCall): CallResult {
  return failedCallResult(call, canceledCallText, toolOf(run.state, call.tool) !== undefined);
}

/** Records a call that was not started, and why. */
export function recordUnstarted(
  run: Run,
  { call, inProgram }: UnstartedCall,
  outcome: 'refused' | 'canceled',
  error: string,
): CallResult {
  run.record({
    ...toolCallAfter(run, { call }, { outcome, error, attempts: 0, started: false }, 0),
    ...defined({ inProgram }),
  });
  return failedCallResult(call, error, toolOf(run.state, call.tool) !== undefined);
}

function toolCallAfter(
  { state }: Run,
  { call, isReused = false }: { readonly call: ToolCall; readonly isReused?: boolean },
  result: ToolResult,
  durationMs: number,
): Extract<EventBody, { readonly type: 'agent:tool_call:after' }> {
  const { callId, tool, args } = call;
  const { outcome, started, attempts, losses, output, error, cut, counts, gauges, raised } = result;
  const media = result.media?.map(({ mediaType }) => mediaType);
  const isCached = outcome === 'ok' && attempts === 0 && !isReused;
  const spec = toolOf(state, tool);
  return {
    type: 'agent:tool_call:after',
    callId,
    tool: spec === undefined ? UNKNOWN_TOOL : tool,
    args: cutInEvent(args),
    outcome,
    started,
    attempts,
    durationMs,
    ...defined({
      losses,
      output: output === undefined ? undefined : cutInEvent(output),
      error,
      cut,
      media,
      cached: isCached ? (true as const) : undefined,
      counts,
      gauges,
      raised,
      mcp: serverTool(spec),
    }),
  };
}
