/** One call from its name to its end: approval, then the tool, agent, question or outside work. */
import { defined } from '../base/defined.ts';
import type { ToolCall } from '../base/message.ts';
import { ASK_TOOL, readQuestion } from '../toolchain/ask-user.ts';
import {
  canceledCallText,
  deniedText,
  notOfferedText,
  replayOnlyText,
  toolErrorText,
  undecidedReason,
  unfitArgumentsText,
  unknownToolText,
} from '../toolchain/call-texts.ts';
import { nativeName } from '../toolchain/native-calls.ts';
import { isHarmless, needsApproval, recordedEnd } from './forked-call.ts';
import { cachedResult } from '../toolchain/result-cache.ts';
import { capOutput } from '../toolchain/result-text.ts';
import { toolOf } from '../tool-search/stubs.ts';
import { toolchainOf } from '../toolchain/toolchain-of.ts';
import { askPerson, awaitAnswer, type AskOutcome } from '../people/ask-person.ts';
import { unstarted, type CallEnd, type RecordedResult } from '../contract/outcome.ts';
import { ensureBudget } from '../run/ensure-budget.ts';
import { effectsOf } from '../tree/fork-effects.ts';
import type { ApprovalItem, WaitingItem } from '../contract/pending.ts';
import { callChild } from '../children/run-child.ts';
import type { ToolSpec } from '../contract/spec.ts';
import { cutInEvent } from '../run/turn-record.ts';
import { deadlineOf, waitForPerson } from '../people/wait-for-person.ts';
import { standingFor, standingOf, standingProblem } from '../people/standing-approvals.ts';
import { checkArguments, withoutHiddenArguments } from './call-arguments.ts';
import { orderOf, type CallSite } from './call-site.ts';
import { callTool, resumeInput } from './call-tool.ts';
import { begunEvent } from './record-call.ts';
import { awaitExternal, tracesOf, type CallInProgress } from './external-work.ts';
import { runLlmTool } from './run-llm-tool.ts';

/** Starts a call. Throws, or rejects, only to leave for a hand-over. */
export function startCall(context: CallSite, given: ToolCall): Promise<CallEnd> | CallEnd {
  const { run } = context;
  const { tools, stubs = [], toolSearch } = run.state.head.spec;
  const spec = toolOf(run.state, given.tool);
  if (spec === undefined) {
    const hint = toolSearch === undefined ? 'names' : 'search';
    return unstarted(
      'rejected',
      unknownToolText(given.tool, [...tools, ...stubs], hint),
      run.host.now(),
    );
  }
  const isNamed = (name: string): boolean => nativeName(name) === nativeName(spec.name);
  if (context.open.notOffered?.some(isNamed) === true) {
    return unstarted('rejected', notOfferedText(given.tool), run.host.now());
  }
  const call: CallInProgress = { ...given, spec };
  const kept = recordedEnd(run, call);
  if (kept !== undefined) return reuseCall(context, call, kept);
  const effects = effectsOf(run.state);
  if (effects === 'replay-only' && !isHarmless(spec)) {
    if (spec.agent !== undefined && context.starting !== undefined) context.starting.children -= 1;
    return unstarted('refused', replayOnlyText(given.tool), run.host.now());
  }
  const isWatched = effects === 'approve' && needsApproval(spec);
  const approval = isWatched ? 'always' : spec.approval;
  return approval === undefined ? beginCall(context, call) : approveCall(context, call, approval);
}

/** Ends a call with the result that the source of this fork got for an equal one. */
function reuseCall(
  { run, gate, starting }: CallSite,
  { callId, tool, args, spec }: CallInProgress,
  { callId: reused, result, edited }: RecordedResult,
): CallEnd {
  const { host } = run;
  if (spec.agent !== undefined && starting !== undefined) starting.children -= 1;
  if (gate.isUnneeded(callId)) return unstarted('canceled', canceledCallText, host.now());
  run.record(begunEvent(run, { callId, tool, args }), { reused });
  if (run.isStopped()) return unstarted('canceled', canceledCallText, host.now());
  return { result, endedAt: host.now(), reused: true, ...defined({ edited }) };
}

/** Resumes a call that has been waiting for `item` since an earlier link. */
export function resumeCall(
  context: CallSite,
  given: ToolCall,
  item: WaitingItem,
): Promise<CallEnd> | CallEnd {
  const spec = toolOf(context.run.state, given.tool);
  // The specification is that of the run, so whatever waits has a tool in it.
  if (spec === undefined) return startCall(context, given);
  const call: CallInProgress = { ...given, spec };
  switch (item.kind) {
    case 'question':
      return item.input === undefined
        ? awaitAnswer(context, item).then((outcome) => askEnd(context, call, outcome))
        : resumeInput(context, call, item, item.input);
    case 'approval':
      return awaitDecision(context, call, item);
    case 'external': {
      const { args, edited } = item;
      return awaitExternal(context, { ...call, args, ...defined({ isEdited: edited }) }, item);
    }
  }
}

/** Asks a person before the call runs. */
async function approveCall(
  context: CallSite,
  call: CallInProgress,
  approval: NonNullable<ToolSpec['approval']>,
): Promise<CallEnd> {
  const { run, gate, reasoning } = context;
  const { callId, tool, args, spec } = call;
  const standing = standingFor(run.state.standing ?? [], call);
  if (standing !== undefined) {
    const by = defined({ standing: standing.id, by: standing.by });
    run.record({ type: 'agent:approval:decided', callId, decision: 'approve', ...by });
    return beginCall(context, call);
  }
  if (approval === 'function') {
    const order = orderOf(context, call);
    const own = order.readsContext === true ? run.state.head.context : undefined;
    const outcome = await run.host.needsApproval({ ...order, ...defined({ context: own }) }, spec);
    if (outcome.kind === 'aborted') return stoppedBefore(context);
    if (outcome.kind === 'known' && !outcome.needed) return beginCall(context, call);
    if (outcome.kind === 'failed') {
      // A check that does not work must not let calls through.
      const message = `the approval check of ${tool} failed, so a person is asked: ${outcome.message}`;
      run.record({ type: 'agent:warning', code: 'approval_check_failed', message });
    }
  }
  const budget = ensureBudget(run, { 'agent:approvals_requested': 1 });
  if (budget !== undefined) await budget;
  if (run.mustLeave() || gate.isUnneeded(callId)) return stoppedBefore(context);
  const crossed = run.wouldCross(['agent:approvals_requested']);
  if (crossed !== null) {
    run.breach(crossed);
    return stoppedBefore(context);
  }
  const now = run.host.now();
  const item: ApprovalItem = {
    kind: 'approval',
    id: callId,
    callId,
    since: now,
    ...deadlineOf(now, spec.approvalTimeoutMs),
    tool,
    args,
    ...defined({ server: spec.mcp?.server, reasoning: reasoning || undefined }),
  };
  run.record({ type: 'agent:approval:requested', callId, tool, args: cutInEvent(args) }, { item });
  return awaitDecision(context, call, item);
}

async function awaitDecision(
  context: CallSite,
  call: CallInProgress,
  item: ApprovalItem,
): Promise<CallEnd> {
  const { run } = context;
  const { host } = run;
  const { callId } = call;
  const end = await waitForPerson(context, item);
  const decided = {
    type: 'agent:approval:decided',
    callId,
    waitedMs: host.now() - item.since,
  } as const;
  switch (end.kind) {
    case 'answer':
    case 'stopped':
      // An answer is never accepted for an approval.
      return stoppedBefore(context);
    case 'timed_out': {
      const { timeoutMs = 0 } = item;
      const reason = undecidedReason(timeoutMs);
      run.record({ ...decided, decision: 'deny', reason });
      return unstarted('denied', deniedText({ timedOutAfterMs: timeoutMs }), host.now());
    }
    case 'decision': {
      const { decision } = end;
      const by = defined({ by: end.by });
      if ('deny' in decision) {
        const reason = decision.deny;
        run.record({ ...decided, decision: 'deny', reason, ...by });
        return unstarted('denied', deniedText({ reason }), host.now());
      }
      const isEdited = 'args' in decision;
      const word = isEdited ? 'edit' : 'approve';
      const startedAt = host.now();
      const remember = 'approve' in decision ? decision.remember : undefined;
      const known = run.state.standing ?? [];
      const standing = remember && standingOf(item, remember, { since: startedAt, ...by });
      // Answers that came together were checked before either of them was remembered.
      const isKept = standing !== undefined && standingProblem(known, standing) === undefined;
      run.record(
        {
          ...decided,
          decision: word,
          ...defined({ remember: isKept ? remember : undefined }),
          ...by,
        },
        isKept ? { standing } : {},
      );
      return isEdited
        ? beginCall(context, { ...call, startedAt, args: decision.args, isEdited: true })
        : beginCall(context, { ...call, startedAt });
    }
  }
}

/** Runs the call, or asks its question, now that nothing keeps it from beginning. */
function beginCall(context: CallSite, call: CallInProgress): Promise<CallEnd> | CallEnd {
  const { run, gate, program, starting, reads } = context;
  const { host } = run;
  const { callId, tool, args, spec } = call;
  // Its program went on without it while a person or a function was deciding about it.
  if (gate.isUnneeded(callId)) return { ...stoppedBefore(context), ...tracesOf(call) };
  run.record(begunEvent(run, { callId, tool, args }));
  // The event itself can show that time is up.
  if (run.isStopped()) {
    const endedAt = host.now();
    const read = reads.take({ callId, tool, args });
    const end = read && { result: read.result, endedAt, startedAt: endedAt - read.durationMs };
    return { ...(end ?? unstarted('canceled', canceledCallText, endedAt)), ...tracesOf(call) };
  }
  const cached = cachedResult(run.state.cached, spec, call);
  // A result that was cut for a model is not a value for a program.
  if (cached !== undefined && (program === undefined || cached.cut === undefined)) {
    if (spec.agent !== undefined && starting !== undefined) starting.children -= 1;
    return { result: cached, endedAt: host.now(), ...tracesOf(call) };
  }
  if (tool === ASK_TOOL) return askCall(context, call);
  if (spec.agent !== undefined) return agentCall(context, call);
  if (spec.llm !== undefined) {
    return runLlmTool(context, { ...call, llm: spec.llm }).then((end) => ({
      ...end,
      ...tracesOf(call),
    }));
  }
  return callTool(context, call);
}

/** A call of an agent: its arguments are checked like those of a tool, then it runs as a child. */
async function agentCall(context: CallSite, call: CallInProgress): Promise<CallEnd> {
  const { run, starting } = context;
  const { callId, spec } = call;
  const checked = withoutHiddenArguments(context, spec, await checkArguments(run, call));
  if (checked.kind === 'ended') {
    if (starting !== undefined) starting.children -= 1;
    return checked.end;
  }
  const end = await callChild(run, { callId, spec, args: checked.args, starting });
  return { ...end, ...tracesOf(call) };
}

/** A call of `ask_user`: its arguments are checked like those of a tool, then a person is asked. */
async function askCall(context: CallSite, call: CallInProgress): Promise<CallEnd> {
  const { run } = context;
  const { callId, spec } = call;
  const checked = await checkArguments(run, call);
  if (checked.kind === 'ended') return checked.end;
  const read = readQuestion(checked.args);
  if (read.kind === 'unfit') {
    return unstarted('rejected', unfitArgumentsText(spec, [read.line]), run.host.now());
  }
  return askEnd(context, call, await askPerson(context, callId, read.question));
}

function askEnd({ run }: CallSite, call: CallInProgress, outcome: AskOutcome): CallEnd {
  const endedAt = run.host.now();
  const asked = { attempts: 1, started: true };
  switch (outcome.kind) {
    case 'answered': {
      const toolchain = toolchainOf(run.state.head.spec.toolchain);
      const capped = capOutput(outcome.value, call.spec.maxResultBytes, toolchain);
      return { result: { outcome: 'ok', ...capped, ...asked }, endedAt };
    }
    case 'unanswered': {
      const error = toolErrorText(outcome.message);
      return { result: { outcome: 'error', error, ...asked }, endedAt };
    }
    case 'refused':
      return unstarted('refused', outcome.text, endedAt);
    case 'unasked':
      return unstarted('canceled', canceledCallText, endedAt);
    case 'stopped':
      return { result: { outcome: 'canceled', error: canceledCallText, ...asked }, endedAt };
  }
}

/**
 * A call that was not allowed to run. After a breach it leaves no event; after any other stop it
 * does.
 */
function stoppedBefore({ run }: CallSite): CallEnd {
  const end = unstarted('canceled', canceledCallText, run.host.now());
  return run.state.breach === null ? end : { ...end, isLeftOut: true };
}
