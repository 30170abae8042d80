/**
 * One call from its name to its end: a person's approval, the tool or the question, work outside.
 * Asynchronous, like `run-calls.ts`, which runs a batch of them.
 */
import type { ToolCall } from '../base/message.ts';
import { ASK_TOOL, readQuestion } from '../toolchain/ask-user.ts';
import {
  canceledCallText,
  deniedText,
  toolErrorText,
  toolTimeoutText,
  undecidedReason,
  unfitArgumentsText,
  unknownToolText,
} from '../toolchain/call-texts.ts';
import type { ToolOrder } from '../contract/outcome.ts';
import { cachedResult } from '../toolchain/result-cache.ts';
import { capForProgram, capOutput } from '../toolchain/result-text.ts';
import { toolchainOf } from '../toolchain/toolchain-of.ts';
import { SEARCH_TOOL } from '../tool-search/query.ts';
import { askPerson, awaitAnswer, type AskOutcome } from '../people/ask-person.ts';
import type { CallEnd } from '../contract/call-end.ts';
import { checkArguments } from './check-arguments.ts';
import { makeRoom } from '../run/make-room.ts';
import type { ApprovalItem, ExternalItem, WaitingItem } from '../contract/pending.ts';
import { isInterrupted, isStopped } from '../run/run.ts';
import type { OpenCount } from '../run/open-count.ts';
import { callChild, type Starters } from '../children/run-child.ts';
import { withoutHiddenArguments, type CallingPlace } from './hidden-arguments.ts';
import { runLlmTool } from './run-llm-tool.ts';
import type { AgentSpec, ToolSpec } from '../contract/spec.ts';
import { cutInEvent } from '../run/turn-record.ts';
import { deadlineOf, unstarted, waitForPerson, type Door } from '../people/wait-for-person.ts';

/** What a call runs in. */
export interface CallPlace extends CallingPlace {
  readonly open: OpenCount;
  readonly door: Door;
  /** What the model wrote beside the calls of the turn; may be empty. */
  readonly reasoning: string;
  /** How many children start together; absent: one by one. */
  readonly starters?: Starters;
}

/** A call on its way. */
interface Call extends ToolCall {
  readonly spec: ToolSpec;
  /** Set from a person's approval on. */
  readonly startedAt?: number;
  readonly isEdited?: true;
}

/** Starts a call. Throws, or rejects, only to leave for a hand-over. */
export function startCall(place: CallPlace, given: ToolCall): Promise<CallEnd> | CallEnd {
  const { run, host } = place;
  const { tools, toolSearch } = run.state.head.spec;
  const spec = tools.find((known) => known.name === given.tool);
  if (spec === undefined) {
    const hint = toolSearch === undefined ? 'names' : 'search';
    return unstarted('rejected', unknownToolText(given.tool, tools, hint), host.now());
  }
  const call: Call = { ...given, spec };
  return spec.approval === undefined
    ? beginCall(place, call)
    : approveCall(place, call, spec.approval);
}

/** Goes on with a call that waits for `item` since an earlier link. */
export function resumeCall(
  place: CallPlace,
  given: ToolCall,
  item: WaitingItem,
): Promise<CallEnd> | CallEnd {
  const spec = place.run.state.head.spec.tools.find((known) => known.name === given.tool);
  // The specification is that of the run: what waits has a tool in it.
  if (spec === undefined) return startCall(place, given);
  const call: Call = { ...given, spec };
  switch (item.kind) {
    case 'question':
      return awaitAnswer(place.run, place.host, item, place.door).then((outcome) =>
        askEnd(place, call, outcome),
      );
    case 'approval':
      return awaitDecision(place, call, item);
    case 'external':
      return awaitExternal(
        place,
        { ...call, args: item.args, ...(item.edited === true ? { isEdited: true } : {}) },
        item,
      );
  }
}

/** Step 2 of a call: a person looks at it before it runs. */
async function approveCall(
  place: CallPlace,
  call: Call,
  approval: NonNullable<ToolSpec['approval']>,
): Promise<CallEnd> {
  const { run, host, door, reasoning } = place;
  const { callId, tool, args, spec } = call;
  if (approval === 'function') {
    const outcome = await host.needsApproval(orderOf(place, call), spec);
    if (outcome.kind === 'aborted') return stoppedBefore(place);
    if (outcome.kind === 'known' && !outcome.needed) return beginCall(place, call);
    if (outcome.kind === 'failed') {
      // A check that does not work must not let calls through.
      const message = `the approval check of ${tool} failed, so a person is asked: ${outcome.message}`;
      run.record({ type: 'agent:warning', code: 'approval_check_failed', message });
    }
  }
  const room = makeRoom(run, host, { 'agent:approvals_requested': 1 });
  if (room !== undefined) await room;
  if (isStopped(run, host) || isInterrupted(host) || door.isDropped(callId)) {
    return stoppedBefore(place);
  }
  const crossed = run.wouldCross(['agent:approvals_requested']);
  if (crossed !== null) {
    run.breach(crossed);
    return stoppedBefore(place);
  }
  const now = host.now();
  const item: ApprovalItem = {
    kind: 'approval',
    id: callId,
    callId,
    since: now,
    ...deadlineOf(now, spec.approvalTimeoutMs),
    tool,
    args,
    ...(reasoning === '' ? {} : { reasoning }),
  };
  run.record({ type: 'agent:approval:requested', callId, tool, args: cutInEvent(args) }, { item });
  return awaitDecision(place, call, item);
}

async function awaitDecision(place: CallPlace, call: Call, item: ApprovalItem): Promise<CallEnd> {
  const { run, host, door } = place;
  const { callId } = call;
  const end = await waitForPerson(run, host, item, door);
  switch (end.kind) {
    case 'answer':
    case 'stopped':
      // An answer is never accepted for an approval.
      return stoppedBefore(place);
    case 'timed_out': {
      const { timeoutMs = 0 } = item;
      const reason = undecidedReason(timeoutMs);
      run.record({ type: 'agent:approval:decided', callId, decision: 'deny', reason });
      return unstarted('denied', deniedText({ timedOutAfterMs: timeoutMs }), host.now());
    }
    case 'decision': {
      const { decision } = end;
      if ('deny' in decision) {
        const reason = decision.deny;
        run.record({ type: 'agent:approval:decided', callId, decision: 'deny', reason });
        return unstarted('denied', deniedText({ reason }), host.now());
      }
      const isEdited = 'args' in decision;
      const words = isEdited ? 'edit' : 'approve';
      run.record({ type: 'agent:approval:decided', callId, decision: words });
      const startedAt = host.now();
      return isEdited
        ? beginCall(place, { ...call, startedAt, args: decision.args, isEdited: true })
        : beginCall(place, { ...call, startedAt });
    }
  }
}

/** Steps 3 to 8 of a call: it runs, or its question is asked. */
function beginCall(place: CallPlace, call: Call): Promise<CallEnd> | CallEnd {
  const { run, host, door, program } = place;
  const { callId, tool, args, spec } = call;
  // Its program went on without it while a person or a function looked at it.
  if (door.isDropped(callId)) return { ...stoppedBefore(place), ...tracesOf(call) };
  run.record({ type: 'agent:tool_call:before', callId, tool, args: cutInEvent(args) });
  // The event itself can show that time is up.
  if (isStopped(run, host)) {
    return { ...unstarted('canceled', canceledCallText, host.now()), ...tracesOf(call) };
  }
  const kept = cachedResult(run.state.cached, spec, call);
  // What was cut for a model is no value for a program.
  const isUsable = kept !== undefined && (program === undefined || kept.cut === undefined);
  if (isUsable) {
    if (spec.agent !== undefined && place.starters !== undefined) place.starters.children -= 1;
    return { result: kept, endedAt: host.now(), ...tracesOf(call) };
  }
  const { head } = run.state;
  if (isAsk(head.spec, tool)) return askCall(place, call);
  if (spec.agent !== undefined) return agentCall(place, call);
  if (spec.llm !== undefined) {
    return runLlmTool(place, { ...call, llm: spec.llm }).then((end) => ({
      ...end,
      ...tracesOf(call),
    }));
  }
  const order = orderOf(place, call);
  const abortId = program?.isSeparate(callId) === true ? callId : undefined;
  return host
    .callTool(order, spec, { abortId })
    .then(({ result, endedAt }) =>
      result.external === undefined
        ? { result, endedAt, ...tracesOf(call) }
        : beginExternal(place, call, { ...result, external: result.external }),
    );
}

/** A call of an agent: its arguments are checked as a tool's, then it runs as a child. */
async function agentCall(place: CallPlace, call: Call): Promise<CallEnd> {
  const { run, host, starters } = place;
  const { callId, spec } = call;
  const checked = withoutHiddenArguments(place, spec, await checkArguments(run, host, call));
  if (checked.kind === 'ended') {
    if (starters !== undefined) starters.children -= 1;
    return checked.end;
  }
  const end = await callChild(run, host, { callId, spec, args: checked.args, starters });
  return { ...end, ...tracesOf(call) };
}

/** A call of the built-in `ask_user`: its arguments are checked as a tool's, then a person is asked. */
async function askCall(place: CallPlace, call: Call): Promise<CallEnd> {
  const { run, host, door } = place;
  const { callId, spec } = call;
  const checked = await checkArguments(run, host, call);
  if (checked.kind === 'ended') return checked.end;
  const read = readQuestion(checked.args);
  if (read.kind === 'unfit') {
    return unstarted('rejected', unfitArgumentsText(spec, [read.line]), host.now());
  }
  return askEnd(place, call, await askPerson(run, host, callId, read.question, door));
}

function askEnd({ run, host }: CallPlace, call: Call, outcome: AskOutcome): CallEnd {
  const endedAt = host.now();
  const asked = { attempts: 1, started: true };
  switch (outcome.kind) {
    case 'answered': {
      const toolchain = toolchainOf(run.state.head.spec.toolchain);
      const capped = capOutput(outcome.value, call.spec.maxResultBytes, toolchain);
      return { result: { outcome: 'ok', ...capped, ...asked }, endedAt };
    }
    case 'unanswered':
      return {
        result: { outcome: 'error', error: toolErrorText(outcome.message), ...asked },
        endedAt,
      };
    case 'refused':
      return unstarted('refused', outcome.text, endedAt);
    case 'unasked':
      return unstarted('canceled', canceledCallText, endedAt);
    case 'stopped':
      return { result: { outcome: 'canceled', error: canceledCallText, ...asked }, endedAt };
  }
}

/** The tool has returned, and its work goes on outside. */
async function beginExternal(
  place: CallPlace,
  call: Call,
  { external, ...begun }: Required<Pick<ExternalItem['begun'], 'external'>> & ExternalItem['begun'],
): Promise<CallEnd> {
  const { run, host } = place;
  const { callId, tool, args, isEdited } = call;
  const { details, timeoutMs } = external;
  const now = host.now();
  const item: ExternalItem = {
    kind: 'external',
    id: callId,
    callId,
    since: now,
    ...deadlineOf(now, timeoutMs),
    tool,
    args,
    ...(details === undefined ? {} : { details }),
    begun,
    ...(isEdited === true ? { edited: true } : {}),
  };
  run.record({ type: 'agent:external:begun', callId, tool }, { item });
  return awaitExternal(place, call, item);
}

async function awaitExternal(place: CallPlace, call: Call, item: ExternalItem): Promise<CallEnd> {
  const { run, host, door } = place;
  const { callId, tool, spec } = call;
  const { begun, timeoutMs = 0 } = item;
  const end = await waitForPerson(run, host, item, door);
  const endedAt = host.now();
  switch (end.kind) {
    case 'answer': {
      run.record({ type: 'agent:external:ended', callId, outcome: 'ok' });
      const toolchain = toolchainOf(run.state.head.spec.toolchain);
      const capped =
        place.program === undefined
          ? capOutput(end.value, spec.maxResultBytes, toolchain)
          : capForProgram(tool, end.value, spec.maxResultBytes);
      return { result: { ...begun, ...capped }, endedAt, ...tracesOf(call) };
    }
    case 'timed_out': {
      run.record({ type: 'agent:external:ended', callId, outcome: 'error' });
      const error = toolTimeoutText(tool, timeoutMs);
      return { result: { ...begun, outcome: 'error', error }, endedAt, ...tracesOf(call) };
    }
    case 'decision':
    case 'stopped':
      // A decision is never accepted for work outside.
      run.record({ type: 'agent:external:ended', callId, outcome: 'canceled' });
      return {
        result: { ...begun, outcome: 'canceled', error: canceledCallText },
        endedAt,
        ...tracesOf(call),
      };
  }
}

/** A call that nobody let run: a breach keeps it out of the events, any other stop does not. */
function stoppedBefore({ run, host }: CallPlace): CallEnd {
  const end = unstarted('canceled', canceledCallText, host.now());
  return run.state.breach === null ? end : { ...end, isLeftOut: true };
}

function tracesOf({ startedAt, isEdited, args }: Call): Pick<CallEnd, 'startedAt' | 'edited'> {
  return {
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(isEdited === true ? { edited: args } : {}),
  };
}

function orderOf({ run, program }: CallPlace, { callId, tool, args }: ToolCall): ToolOrder {
  const { runId, agentPath, head } = run.state;
  const whose = program === undefined ? {} : { inProgram: true as const };
  return { agent: head.spec.name, runId, agentPath, callId, tool, args, ...whose };
}

/** Whether a call of `tool` is one of the built-in question. */
function isAsk({ tools }: AgentSpec, tool: string): boolean {
  return tool === ASK_TOOL && tools.some(({ name }) => name === ASK_TOOL);
}

/** Whether a call of `tool` is a search for tools. */
export function isSearch({ toolSearch }: AgentSpec, tool: string): boolean {
  return toolSearch !== undefined && tool === SEARCH_TOOL;
}
