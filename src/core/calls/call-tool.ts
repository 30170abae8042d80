/**
 * A call that an activity runs, to its end. Its server may end it only with answers: then people are
 * asked, one question after another, and the call goes on with the answers under its own id.
 *
 * I1  Nothing is held open while a question waits: the server's note travels in the item.
 * I2  A server asks at most MAX_ROUNDS times in a call.
 * I3  What the parts of a call report is counted once, at the end of the call.
 */
import { defined } from '../base/defined.ts';
import type { JsonObject } from '../base/json.ts';
import type { McpInput, McpResponse, McpResume } from '../contract/mcp.ts';
import type { CallEnd, EarlierTries, ToolResult, BesideRead } from '../contract/outcome.ts';
import type { OpenInput, QuestionItem } from '../contract/pending.ts';
import { askPerson, awaitAnswer, type AskOutcome } from '../people/ask-person.ts';
import { canceledCallText, toolErrorText } from '../toolchain/call-texts.ts';
import { responseOf } from '../toolchain/form.ts';
import { hiddenFrom } from './call-arguments.ts';
import { orderOf, type CallSite } from './call-site.ts';
import { callSummary } from './call-summary.ts';
import { beginExternal, tracesOf, type CallInProgress } from './external-work.ts';

/** How often a server may ask in one call. */
const MAX_ROUNDS = 10;

/** What an earlier part of a call leaves to the next. */
interface EarlierPart {
  readonly round: number;
  readonly resume: McpResume;
  readonly begun: ToolResult;
}

/** Runs the tool, or the part of its call after `earlier`. */
export async function callTool(
  context: CallSite,
  call: CallInProgress,
  earlier?: EarlierPart,
): Promise<CallEnd> {
  const { run, program, reads } = context;
  const { callId, tool, args, spec } = call;
  const read = earlier === undefined ? reads.take({ callId, tool, args }) : undefined;
  if (read !== undefined && read.again === undefined) return endedRead(context, call, read);
  const order = { ...orderOf(context, call, earlier?.resume), ...triedBeside(read) };
  const part = await run.host.callTool(order, spec, {
    abortId: program?.isSeparate(callId) === true ? callId : undefined,
    // Only programs read hidden values, so only their arguments may hold some.
    summary: callSummary(tool, args, program === undefined ? [] : hiddenFrom(context)),
    context: run.state.head.context,
  });
  const { input, ...result } =
    earlier === undefined ? part.result : joined(earlier.begun, part.result);
  if (result.external !== undefined) {
    return beginExternal(context, call, { ...result, external: result.external });
  }
  if (input === undefined) return { result, endedAt: part.endedAt, ...tracesOf(call) };
  const round = (earlier?.round ?? 0) + 1;
  if (round > MAX_ROUNDS) {
    const message = `the server ${spec.mcp?.server ?? ''} asked ${MAX_ROUNDS} times`;
    return ended(context, call, result, { outcome: 'error', error: toolErrorText(message) });
  }
  const edited = call.isEdited === true ? args : undefined;
  const asked = { round, asked: input, responses: {}, begun: result, ...defined({ edited }) };
  return askNext(context, call, asked);
}

/** The end of a call that ran beside the reply. */
function endedRead(
  context: CallSite,
  call: CallInProgress,
  { result, durationMs }: BesideRead,
): Promise<CallEnd> | CallEnd {
  const { external } = result;
  if (external !== undefined) return beginExternal(context, call, { ...result, external });
  const endedAt = context.run.host.now();
  return { result, endedAt, startedAt: endedAt - durationMs, ...tracesOf(call) };
}

/** What the order says of an attempt beside the reply, in which the tool threw. */
function triedBeside(read: BesideRead | undefined): EarlierTries {
  return read?.again === 'failed' ? { attemptsBefore: 1, lossesBefore: 0 } : {};
}

/** Goes on with a call whose server's question has been waiting since an earlier link. */
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
  round: Omit<OpenInput, 'key'>,
): Promise<CallEnd> {
  const { asked, responses } = round;
  const key = keysOf(asked).find((one) => !Object.hasOwn(responses, one));
  const request = key === undefined ? undefined : asked.requests[key];
  if (key === undefined || request === undefined) {
    const resume = { responses, ...defined({ state: asked.state }) };
    return callTool(context, call, { round: round.round, resume, begun: round.begun });
  }
  const open: OpenInput = { ...round, key };
  const { mcp, approvalTimeoutMs: timeoutMs } = call.spec;
  const details: JsonObject = defined({ server: mcp?.server, tool: mcp?.tool });
  const outcome = await askPerson(context, call.callId, {
    question: request.message,
    free: false,
    details,
    ...defined({ timeoutMs }),
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
    const canceled = { outcome: 'canceled', error: canceledCallText } as const;
    return ended(context, call, round.begun, canceled);
  }
  const response = responseTo(round.asked, key, outcome);
  return askNext(context, call, { ...round, responses: { ...round.responses, [key]: response } });
}

/** No answer in time, or no room for a question, dismisses the request: the server goes on. */
function responseTo({ requests }: McpInput, key: string, outcome: AskOutcome): McpResponse {
  const request = requests[key];
  return outcome.kind === 'answered' && request !== undefined
    ? responseOf(request, outcome.value)
    : { action: 'cancel' };
}

/** In code-unit order, so that every worker asks in the same order. */
function keysOf({ requests }: McpInput): readonly string[] {
  return Object.keys(requests).toSorted();
}

function ended(
  { run }: CallSite,
  call: CallInProgress,
  begun: ToolResult,
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
