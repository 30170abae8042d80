/**
 * A call of an LLM tool: a small `json` or `text` run inside the calling run. Its model calls are
 * counted, limited and recorded like any other; it has no iteration, and only its result is in the
 * conversation.
 */
import { byteSize, type Json, type JsonObject } from '../base/json.ts';
import type { Message } from '../base/message.ts';
import type { Reply } from '../contract/model.ts';
import { withoutHidden } from '../program-text/hidden-values.ts';
import { judge, valuesToCheck } from '../termination/candidates.ts';
import { isCopy, withoutCopy } from '../termination/copied-example.ts';
import type { Judgement } from '../contract/judgement.ts';
import {
  canceledCallText,
  toolErrorText,
  unfitArgumentsText,
  unfinishedText,
} from '../toolchain/call-texts.ts';
import { capForProgram, capOutput } from '../toolchain/result-text.ts';
import { toolchainOf } from '../toolchain/toolchain-of.ts';
import { askModels, isUnanswered, type AskEnd } from '../ask/ask-model.ts';
import type { InlineAsking, Tries } from '../ask/asking.ts';
import { unstarted, type CallEnd } from '../contract/outcome.ts';
import { checkArguments, hiddenFrom } from './call-arguments.ts';
import type { CallSite } from './call-site.ts';
import { leaveOf } from '../run/ending.ts';
import type { InlineRequest } from '../contract/host-order.ts';
import { questionRequest, readLlmQuestion, type LlmQuestion } from './llm-question.ts';
import type { LlmToolSpec, ToolSpec } from '../contract/spec.ts';
import type { AnswerTurn } from '../contract/turn.ts';

/** The call, whose arguments are not checked yet. */
export interface LlmCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly spec: ToolSpec;
  readonly llm: LlmToolSpec;
}

/** How a question ended. `attempts`: replies that were asked for, 0 when none was. */
type Answer =
  | { readonly kind: 'value'; readonly value: Json; readonly attempts: number }
  | { readonly kind: 'failed'; readonly text: string; readonly attempts: number }
  | { readonly kind: 'canceled'; readonly attempts: number };

/**
 * The order of each attempt has the whole question, so its limit is that of a custom loop's
 * request.
 */
const MAX_QUESTION_BYTES = 1_000_000;

/** Runs the call to its end; never rejects. */
export async function runLlmTool(context: CallSite, call: LlmCall): Promise<CallEnd> {
  const { run } = context;
  const args = withoutNulls(call.llm, call.args);
  const checked = await checkArguments(run, { ...call, args });
  if (checked.kind === 'ended') return checked.end;
  const reading = readLlmQuestion(run.state.head.spec, call.llm, checked.args);
  switch (reading.kind) {
    case 'unfit':
      return unstarted('rejected', unfitArgumentsText(call.spec, reading.lines), run.host.now());
    case 'failed':
      return unstarted('error', toolErrorText(reading.message), run.host.now());
    case 'question':
      return endOf(context, call, await ask(context, call, reading.question));
  }
}

/** The schema that models see has no null, so an optional argument that is null is left out. */
function withoutNulls({ params }: LlmToolSpec, args: JsonObject): JsonObject {
  const optional = params.filter(({ type }) => type.kind === 'optional').map(({ name }) => name);
  return Object.fromEntries(
    Object.entries(args).filter(([name, value]) => value !== null || !optional.includes(name)),
  );
}

function endOf({ run, program }: CallSite, { tool, spec }: LlmCall, answer: Answer): CallEnd {
  const { attempts } = answer;
  const asked = { attempts, started: attempts > 0 };
  const endedAt = run.host.now();
  switch (answer.kind) {
    case 'value': {
      const toolchain = toolchainOf(run.state.head.spec.toolchain);
      const capped =
        program === undefined
          ? capOutput(answer.value, spec.maxResultBytes, toolchain)
          : capForProgram(tool, answer.value, spec.maxResultBytes);
      return { result: { outcome: 'ok', ...capped, ...asked }, endedAt };
    }
    case 'failed':
      return { result: { outcome: 'error', error: answer.text, ...asked }, endedAt };
    case 'canceled':
      return { result: { outcome: 'canceled', error: canceledCallText, ...asked }, endedAt };
  }
}

/** Asks until an answer is accepted, or the attempts are used up. */
async function ask(context: CallSite, call: LlmCall, question: LlmQuestion): Promise<Answer> {
  const tries: Tries = { count: 0, isForced: false, lostReads: 0 };
  const failed = (attempts: number, code: string, cause: string): Answer => ({
    kind: 'failed',
    text: unfinishedText(call.tool, code, cause),
    attempts,
  });
  let messages: readonly Message[] = [];
  let toldExample = false;
  for (let attempt = 1; ; attempt++) {
    const bytes = byteSize(questionRequest(question, messages, 'prompt') as unknown as Json);
    if (bytes > MAX_QUESTION_BYTES) {
      const cause = `its question has ${bytes} bytes, at most ${MAX_QUESTION_BYTES} are allowed`;
      return failed(attempt - 1, 'invalid_input', cause);
    }
    const reply = await askOnce(context, call.callId, { question, messages, tries });
    // Without a try nothing was asked: a limit or a cancel came first.
    const attempts = tries.count === 0 ? 0 : attempt;
    if (reply === 'left') return { kind: 'canceled', attempts };
    if (isUnanswered(reply)) return failed(attempts, reply.code, reply.message);
    const read = await readAnswer(context, call, question, reply);
    if (read.kind === 'canceled') return { kind: 'canceled', attempts };
    if (read.kind === 'failed') return failed(attempts, read.code, read.cause);
    const { mode, head, maxTurns } = question;
    const { turn } = read;
    const mayTell = !toldExample && attempt < maxTurns;
    const example = mayTell ? mode.exampleOf?.(head.spec) : undefined;
    const judgement = withoutCopy(read.judgement, example);
    if (judgement.kind === 'accepted') return { kind: 'value', value: judgement.value, attempts };
    toldExample ||= isCopy(judgement);
    if (attempt >= maxTurns) {
      const exhausted = mode.whenExhausted?.(judgement, reply);
      return failed(attempts, exhausted?.code ?? 'validation_error', exhausted?.cause ?? '');
    }
    const position = { attempt, of: maxTurns };
    const feedback = mode.answerFeedback(head.spec, turn, judgement, reply, position);
    const outcome = { sectionErrors: [], feedback, results: [], position };
    messages = [...messages, ...mode.turnMessages(head.spec, turn, reply, outcome)];
  }
}

/** One attempt at an answer. */
interface Attempt {
  readonly question: LlmQuestion;
  /** The messages after the question. */
  readonly messages: readonly Message[];
  readonly tries: Tries;
}

/** Asks the models in turn; `left` when a cancel, an interrupt or a limit ended that. */
async function askOnce(
  context: CallSite,
  callId: string,
  { question, messages, tries }: Attempt,
): Promise<AskEnd | 'left'> {
  const { models } = question.head.spec;
  const hidden = hiddenFrom(context);
  const inline: InlineAsking = {
    callId,
    asksForOutput: question.schema !== undefined,
    isSeparate: context.program?.isSeparate(callId) ?? false,
    request: (strategy) => withoutSecrets(questionRequest(question, messages, strategy), hidden),
  };
  const shown = inline.request(undefined).messages.length;
  const ids = models.map(({ id }) => id);
  try {
    const asking = { purpose: 'tool', models: ids, messages: shown, inline, tries } as const;
    return await askModels(context, asking);
  } catch (error) {
    const left = leaveOf(error)?.kind;
    if (left === 'stopped' || left === 'interrupted') return 'left';
    throw error;
  }
}

function withoutSecrets(request: InlineRequest, hidden: readonly string[]): InlineRequest {
  if (hidden.length === 0) return request;
  const messages = request.messages.map((message) => ({
    ...message,
    parts: message.parts.map((part) =>
      part.type === 'text' ? { ...part, text: withoutHidden(part.text, hidden) } : part,
    ),
  }));
  return { ...request, messages };
}

/** The answer in a reply, judged. */
type AnswerReading =
  | { readonly kind: 'judged'; readonly turn: AnswerTurn; readonly judgement: Judgement }
  | { readonly kind: 'failed'; readonly code: string; readonly cause: string }
  | { readonly kind: 'canceled' };

async function readAnswer(
  { run, open }: CallSite,
  { callId, tool }: LlmCall,
  { mode, head, schema }: LlmQuestion,
  reply: Reply,
): Promise<AnswerReading> {
  const { runId, agentPath, iteration } = run.state;
  const turn = mode.readTurn(head.spec, reply, iteration);
  for (const { code, message } of turn.warnings ?? []) {
    run.record({ type: 'agent:warning', code, message: `${tool} (${callId}): ${message}` });
  }
  if (turn.kind !== 'answer') {
    const [problem] = turn.kind === 'malformed' ? turn.problems : [];
    const cause = problem?.message ?? 'the reply could not be read';
    return { kind: 'failed', code: 'empty_response', cause };
  }
  const answers = valuesToCheck(turn.candidates);
  if (schema === undefined || answers.length === 0) {
    const judgement = judge(turn.candidates, schema === undefined ? null : []);
    return { kind: 'judged', turn, judgement };
  }
  const order = {
    agent: head.spec.name,
    runId,
    agentPath,
    iteration,
    validators: [],
    sections: [],
  };
  open.count += 1;
  const checked = await run.host.judgeAnswer({ ...order, answers, output: { tool, schema } });
  open.count -= 1;
  switch (checked.kind) {
    case 'judged':
      return { kind: 'judged', turn, judgement: judge(turn.candidates, checked.result.verdicts) };
    case 'aborted':
      return { kind: 'canceled' };
    case 'failed':
      return { kind: 'failed', code: 'validator_failed', cause: checked.message };
  }
}
