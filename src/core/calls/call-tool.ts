/**
 * A call that an activity runs, to its end. Its tool, or the server of its tool, may end it only with
 * answers: then people are asked, one question after another, and the call goes on with the answers
 * under its own id.
 *
 * I1  Nothing is held open while a question waits: the tool's note travels in the item.
 * I2  A call asks a bounded number of times: see MAX_ROUNDS.
 * I3  What the parts of a call report is counted once, at the end of the call.
 * I4  A tool with `asks` begins after its last answer: until then its attempts are those of a read.
 */
import { defined } from '../base/defined.ts';
import type { JsonObject } from '../base/json.ts';
import type { CallInput, CallResume, QuestionResponse } from '../contract/call-input.ts';
import type { CallEnd, EarlierTries, ToolResult, BesideRead } from '../contract/outcome.ts';
import type { OpenInput, QuestionItem } from '../contract/pending.ts';
import { askPerson, awaitAnswer, type AskOutcome } from '../people/ask-person.ts';
import { canceledCallText, deniedText, toolErrorText } from '../toolchain/call-texts.ts';
import { optionsOf, responseOf } from '../toolchain/form.ts';
import { hiddenFrom } from './call-arguments.ts';
import { askingSpec } from './asking-spec.ts';
import { orderOf, type CallSite } from './call-site.ts';
import { callSummary } from './call-summary.ts';
import { beginExternal, tracesOf, type CallInProgress } from './external-work.ts';

/**
 * How often a call asks. A server is a stranger. A tool asks one question at a time, and a person who
 * has answered a hundred in one call is held by a mistake.
 */
const MAX_ROUNDS = { server: 10, tool: 100 } as const;

/** What an earlier part of a call leaves to the next. */
interface EarlierPart {
  readonly round: number;
  readonly begun: ToolResult;
  /** Absent: nothing was asked. */
  readonly resume?: CallResume;
  /** The tool has not begun. */
  readonly asks?: true;
}

/** Runs the tool, or the part of its call after `earlier`. */
export async function callTool(
  context: CallSite,
  call: CallInProgress,
  earlier?: EarlierPart,
): Promise<CallEnd> {
  const { run, gate, program, reads } = context;
  const { callId, tool, args, spec } = call;
  const read = earlier === undefined ? reads.take({ callId, tool, args }) : undefined;
  if (read !== undefined && read.again === undefined) return endedRead(context, call, read);
  const asks = earlier === undefined ? spec.asks : earlier.asks;
  const order = {
    ...orderOf(context, call, defined({ resume: earlier?.resume, asks })),
    ...triedBeside(read),
  };
  const part = await run.host.callTool(order, asks === true ? askingSpec(spec) : spec, {
    abortId: program?.isSeparate(callId) === true ? callId : undefined,
    // Only programs read hidden values, so only their arguments may hold some.
    summary: callSummary(tool, args, program === undefined ? [] : hiddenFrom(context)),
    context: run.state.head.context,
  });
  const last = asks === true ? { ...part.result, started: false } : part.result;
  const result = earlier === undefined ? last : joined(earlier.begun, last);
  if (asks === true && result.outcome === 'ok' && result.input === undefined) {
    if (run.mustLeave() || gate.isUnneeded(callId)) return ended(context, call, result, CANCELED);
    const { round = 0, resume } = earlier ?? {};
    return callTool(context, call, { round, begun: result, ...defined({ resume }) });
  }
  if (!goesOn(result)) return { result, endedAt: part.endedAt, ...tracesOf(call) };
  return goOn(context, call, result, defined({ round: earlier?.round, asks }));
}

/** Whether the result of a tool is not yet that of its call. */
function goesOn({ external, input }: ToolResult): boolean {
  return external !== undefined || input !== undefined;
}

/** Waits for the outside work or the answers that the result of a tool asks for. */
async function goOn(
  context: CallSite,
  call: CallInProgress,
  { input, ...result }: ToolResult,
  { round = 0, asks }: Partial<Pick<EarlierPart, 'round' | 'asks'>> = {},
): Promise<CallEnd> {
  const { args, isEdited, spec, tool } = call;
  const { external } = result;
  if (external !== undefined) return beginExternal(context, call, { ...result, external });
  if (input === undefined) return ended(context, call, result, result);
  const [most, who] =
    spec.mcp === undefined
      ? [MAX_ROUNDS.tool, tool]
      : [MAX_ROUNDS.server, `the server ${spec.mcp.server}`];
  if (round >= most) {
    const error = toolErrorText(`${who} asked ${most} times`);
    return ended(context, call, result, { outcome: 'error', error });
  }
  const edited = isEdited === true ? args : undefined;
  const asked = { asked: input, responses: {}, begun: result, ...defined({ edited, asks }) };
  return askNext(context, call, { round: round + 1, ...asked });
}

/** The end of a call that ran beside the reply, or the question that it ran into. */
function endedRead(
  context: CallSite,
  call: CallInProgress,
  { result, durationMs }: BesideRead,
): Promise<CallEnd> | CallEnd {
  if (goesOn(result)) return goOn(context, call, result);
  const endedAt = context.run.host.now();
  return { result, endedAt, startedAt: endedAt - durationMs, ...tracesOf(call) };
}

/** What the order says of an attempt beside the reply, in which the tool threw. */
function triedBeside(read: BesideRead | undefined): EarlierTries {
  return read?.again === 'failed' ? { attemptsBefore: 1, lossesBefore: 0 } : {};
}

/** Goes on with a call whose question has been waiting since an earlier link. */
export async function resumeInput(
  context: CallSite,
  call: CallInProgress,
  item: QuestionItem,
  open: OpenInput,
): Promise<CallEnd> {
  const { edited } = open;
  const known = edited === undefined ? call : { ...call, args: edited, isEdited: true as const };
  return take(context, known, open, await awaitAnswer(context, item));
}

/** Asks for the first response that is missing; with all of them, the call goes on. */
async function askNext(
  context: CallSite,
  call: CallInProgress,
  part: Omit<OpenInput, 'key'>,
): Promise<CallEnd> {
  const { asked, responses, round, begun, asks } = part;
  const key = keysOf(asked).find((one) => !Object.hasOwn(responses, one));
  const request = key === undefined ? undefined : asked.requests[key];
  if (key === undefined || request === undefined) {
    const resume = { responses, ...defined({ state: asked.state }) };
    return callTool(context, call, { round, resume, begun, ...defined({ asks }) });
  }
  const open: OpenInput = { ...part, key };
  const { mcp, approvalTimeoutMs } = call.spec;
  const details: JsonObject =
    mcp === undefined ? { tool: call.tool } : { server: mcp.server, tool: mcp.tool };
  const outcome = await askPerson(context, call.callId, {
    question: request.message,
    free: false,
    details,
    ...defined({
      options: optionsOf(request),
      timeoutMs: mcp === undefined ? asked.timeoutMs : approvalTimeoutMs,
    }),
    input: open,
  });
  return take(context, call, open, outcome);
}

/** Notes how a question ended, and goes on to the next. */
function take(
  context: CallSite,
  call: CallInProgress,
  { key, ...round }: OpenInput,
  outcome: AskOutcome,
): Promise<CallEnd> | CallEnd {
  if (outcome.kind === 'stopped' || outcome.kind === 'unasked') {
    return ended(context, call, round.begun, CANCELED);
  }
  const response = responseTo(round.asked, key, outcome);
  if (call.spec.mcp === undefined && response.action !== 'accept') {
    return ended(context, call, round.begun, unansweredEnd(outcome));
  }
  return askNext(context, call, { ...round, responses: { ...round.responses, [key]: response } });
}

const CANCELED = { outcome: 'canceled', error: canceledCallText } as const;

/** How a call ends whose tool gets no answer. A server gets its refusal instead, and decides. */
function unansweredEnd(outcome: AskOutcome): Pick<ToolResult, 'outcome' | 'error'> {
  switch (outcome.kind) {
    case 'unanswered':
      return { outcome: 'error', error: toolErrorText(outcome.message) };
    case 'refused':
      return { outcome: 'refused', error: outcome.text };
    default:
      return { outcome: 'denied', error: deniedText({ reason: 'they did not want to answer' }) };
  }
}

/** No answer in time, or no room for a question, dismisses the request. */
function responseTo({ requests }: CallInput, key: string, outcome: AskOutcome): QuestionResponse {
  const request = requests[key];
  return outcome.kind === 'answered' && request !== undefined
    ? responseOf(request, outcome.value)
    : { action: 'cancel' };
}

/** In code-unit order, so that every worker asks in the same order. */
function keysOf({ requests }: CallInput): readonly string[] {
  return Object.keys(requests).toSorted();
}

function ended(
  { run }: CallSite,
  call: CallInProgress,
  { input: _input, ...begun }: ToolResult,
  end: Pick<ToolResult, 'outcome' | 'error'>,
): CallEnd {
  return { result: { ...begun, ...end }, endedAt: run.host.now(), ...tracesOf(call) };
}

/** The result of the last part, with what all parts reported. */
function joined(begun: ToolResult, last: ToolResult): ToolResult {
  const counts = { ...begun.counts };
  for (const [key, by] of Object.entries(last.counts ?? {})) counts[key] = (counts[key] ?? 0) + by;
  const raised = { ...begun.raised };
  // A later part replaces what earlier ones added.
  for (const key of Object.keys(last.gauges ?? {})) delete raised[key];
  for (const [key, by] of Object.entries(last.raised ?? {})) raised[key] = (raised[key] ?? 0) + by;
  const losses = (begun.losses ?? 0) + (last.losses ?? 0);
  return {
    ...last,
    ...defined({
      counts: orNone(counts),
      gauges: orNone({ ...begun.gauges, ...last.gauges }),
      raised: orNone(raised),
      events: orNone([...(begun.events ?? []), ...(last.events ?? [])]),
      modelCalls: orNone([...(begun.modelCalls ?? []), ...(last.modelCalls ?? [])]),
      losses: losses === 0 ? undefined : losses,
    }),
    // The answers do not make another attempt of it.
    attempts: begun.attempts + Math.max(0, last.attempts - 1),
    started: begun.started || last.started,
  };
}

function orNone<Value extends object>(value: Value): Value | undefined {
  return Object.keys(value).length === 0 ? undefined : value;
}
