/** The mode `chat`: native tool calls of the provider; a reply without calls is the answer. */
import { defined } from '../base/defined.ts';
import { truncatedProblem } from '../format/format.ts';
import { textMessage, type FormattedSection, type Message, type Part } from '../base/message.ts';
import type { ModelRequest, ModelTool, NativeCall, Reply } from '../contract/model.ts';
import type { ReplyProblem } from '../base/problem.ts';
import { LISP_TOOL, LISP_TOOL_PARAMETERS, programsMethod } from '../program-text/system-text.ts';
import { jsonGuidance } from '../section/section.ts';
import { toolChoiceOf } from '../model/call-settings.ts';
import { answerFormat } from '../signature/answer-form.ts';
import { candidatesOf } from '../termination/candidates.ts';
import {
  actionAndProgram,
  errorSection,
  explainReply,
  judgementFeedback,
  severalPrograms,
} from '../termination/feedback.ts';
import { canceledCallText } from '../toolchain/call-texts.ts';
import { declaredTools } from '../tool-search/describe.ts';
import { discoveredTools, foundTools } from '../tool-search/discovered.ts';
import { readNativeCalls } from '../toolchain/native-calls.ts';
import { writtenCall } from '../toolchain/written-call.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import { contextDescriptions, describeContext } from './context-text.ts';
import { commonRules } from './common-rules.ts';
import type { ModeRules, RequestOptions, TurnOutcome } from './mode.ts';
import { assistantMessage, cutAssistantMessage, messageOf, numberMedia } from './observation.ts';
import { plainMessages, plainParts, resultPart, textParts } from './plain-messages.ts';
import { programTurn, unreadableCalls } from './program-call.ts';
import { requestOf, systemMessage, unusedContext } from './prompt.ts';
import type { AgentSpec } from '../contract/spec.ts';
import {
  callsOf,
  malformedTurn,
  plainTurn,
  replyText,
  wasCut,
  type MalformedTurn,
  type ProgramTurn,
  type Turn,
  type TurnBase,
} from '../contract/turn.ts';

const lastTurnText = 'This is the last turn: answer without calling tools.';

/** The rules of the mode `chat`. */
export const chatMode: ModeRules = {
  ...commonRules,
  readsHistory: true,
  readsBeside: true,
  buildRequest,
  readTurn,
  goesOn: () => true,
  turnMessages: (_spec, turn, reply, outcome) => {
    if (turn.kind === 'malformed') {
      return malformedMessages(turn, reply, plainParts(turn.feedback));
    }
    return turn.kind === 'program'
      ? programMessages(turn, reply, outcome)
      : callMessages(turn, reply, outcome);
  },
  answerFeedback: (_spec, _turn, judgement) => judgementFeedback(judgement, 'Answer again.'),
};

function buildRequest(
  head: TranscriptHead,
  messages: readonly Message[],
  options: RequestOptions,
): ModelRequest {
  const { spec } = head;
  const stable = [
    ...(options.prompt ?? systemMessage(spec, options, [answerText(spec)])),
    ...spec.examples,
    ...(head.history ?? []).map(({ role, text }) => textMessage(role, text)),
    ...startMessage(head),
    ...messages,
  ];
  const last = options.lastTurn ? [textMessage('user', lastTurnText)] : [];
  const request = requestOf(head, options, pairedMessages(plainMessages(stable)), last);
  if (spec.tools.length === 0 && spec.program === undefined) return request;
  const tools = [
    ...declaredTools(spec, discoveredTools(head, messages), foundTools(head, messages)),
    ...(spec.program === undefined ? [] : [programTool()]),
  ];
  const hasCalled = messages.some(({ parts }) => parts.some(({ type }) => type === 'tool_call'));
  const wanted = options.lastTurn ? 'none' : spec.toolChoice;
  const offered = tools.map(({ name }) => name);
  return { ...request, tools, toolChoice: toolChoiceOf(wanted, { hasCalled, offered }) };
}

/** Providers have no field for a language, so it is in the description. */
function programTool(): ModelTool {
  const description = programsMethod(
    'Runs one program in the language below, which can call the other tools.',
  );
  return { name: LISP_TOOL, description, parameters: LISP_TOOL_PARAMETERS };
}

/** No schema is sent beside tools, so the prompt describes the answer. */
function answerText(spec: AgentSpec): string {
  const { kind, guidance, schema, example, output } = spec.answer;
  if (kind !== 'json') return guidance ?? '';
  const head = 'Your reply without tool calls is the answer.';
  if (output !== undefined) return `${head} ${answerFormat(spec.answer)}`;
  return jsonGuidance({
    guidance: guidance === undefined ? head : `${head} ${guidance}`,
    schema: schema ?? {},
    ...defined({ example }),
  });
}

function startMessage(head: TranscriptHead): readonly Message[] {
  const context = describeContext(unusedContext(head), contextDescriptions(head));
  const { text, media = [] } = head.task;
  const full = context === '' ? text : text === '' ? context : `${context}\n# Task\n${text}`;
  return messageOf('user', [...textParts(full), ...media]);
}

function readTurn(spec: AgentSpec, reply: Reply, iteration: number): Turn {
  if (callsOf(reply).length > 0) return readCalls(spec, reply, iteration);
  const called = calledInText(spec, reply);
  if (called !== undefined) return writtenCallTurn(called);
  const candidates = candidatesOf(spec.answer, [replyText(reply)]);
  if (candidates.length > 0) return { ...plainTurn, kind: 'answer', candidates, attached: null };
  const problem = wasCut(reply) ? truncatedProblem() : emptyReply(reply);
  return malformedTurn(plainTurn, 'format', [problem], { feedback: explained(spec, problem) });
}

/** The problem of a reply without text. A chat has no sections, so it says nothing of them. */
function emptyReply({ parts }: Reply): ReplyProblem {
  const hasThoughts = parts.some((part) => part.type === 'reasoning' && part.text.trim() !== '');
  const message = hasThoughts
    ? 'the reply is empty: it has only reasoning, which nobody reads'
    : 'the reply is empty';
  return { code: 'empty_turn', message };
}

/** The tool that the text of the reply calls, although it is no native call. */
function calledInText(spec: AgentSpec, reply: Reply): string | undefined {
  if (spec.answer.kind === 'json') return undefined;
  const names = spec.tools.map(({ name }) => name);
  return writtenCall(replyText(reply), spec.program === undefined ? names : [...names, LISP_TOOL]);
}

function writtenCallTurn(tool: string): MalformedTurn {
  const message = `a call of ${tool} was written as text`;
  const text = `Your reply is a call of ${tool} written as text, so nothing was run. Call ${tool} as a tool, through the interface for tool calls, not in the text. If the text was meant as your answer, answer in a sentence.`;
  const problem: ReplyProblem = { code: 'written_call', message };
  return malformedTurn(plainTurn, 'toolchain', [problem], { feedback: [errorSection(text)] });
}

function readCalls(spec: AgentSpec, reply: Reply, iteration: number): Turn {
  const { tools, maxCallsPerTurn } = spec;
  const { callsBefore } = reply;
  const isCut = wasCut(reply);
  const context = { iteration, tools, maxCallsPerTurn, isCut, ...defined({ callsBefore }) };
  const calls = callsOf(reply);
  const reading = readNativeCalls(calls, context);
  const base: TurnBase = { ...plainTurn, callParts: reading.parts };
  const isProgram = ({ tool }: NativeCall): boolean =>
    spec.program !== undefined && tool === LISP_TOOL;
  if (calls.length > 1 && calls.some(isProgram)) {
    const problem = calls.every(isProgram) ? severalPrograms : actionAndProgram;
    const callAnswers = reading.parts.map(() => `Error: ${problem.message}`);
    return malformedTurn(base, 'toolchain', [problem], { callAnswers });
  }
  if (reading.kind === 'problems') {
    return unreadableCalls(reply, reading, base, explained(spec, truncatedProblem()));
  }
  return calls.some(isProgram)
    ? programTurn(reading, base)
    : { ...base, kind: 'calls', calls: reading.calls };
}

function explained(spec: AgentSpec, problem: ReplyProblem): readonly FormattedSection[] {
  const names = { sections: [], action: null, answer: spec.answer.section };
  const text =
    problem.code === 'empty_turn'
      ? `Nothing can be done with your reply: ${problem.message}. Write your answer as the text of your reply${spec.tools.length === 0 ? '' : ', or call a tool'}.`
      : explainReply(problem, names);
  return [errorSection(text)];
}

/** Every call has its result, in call order; media and feedback follow as a message of the user. */
function callMessages(turn: Turn, reply: Reply, outcome: TurnOutcome): readonly Message[] {
  const { results, media } = numberMedia(outcome.results);
  const parts = results.map(({ call, fullText, instructions, isError, shown, found }): Part => {
    const text = withInstructions(fullText, instructions);
    return { ...resultPart(call, text, isError), ...defined({ shown, found }) };
  });
  return [
    ...assistantMessage(reply, turn.callParts),
    ...messageOf('tool', parts),
    ...messageOf('user', [...plainParts(outcome.feedback), ...media]),
  ];
}

/** A program has one result, whatever it called. */
function programMessages(
  turn: ProgramTurn,
  reply: Reply,
  { program = '' }: TurnOutcome,
): readonly Message[] {
  const parts = turn.callParts.map((call) =>
    resultPart(call, program || canceledCallText, program === ''),
  );
  return [...assistantMessage(reply, turn.callParts), ...messageOf('tool', parts)];
}

/** A reply that could not be read, a result for each of its calls, and what is `said` about it. */
export function malformedMessages(
  turn: MalformedTurn,
  reply: Reply,
  said: readonly Part[],
): readonly Message[] {
  const results = turn.callParts.map((call, index) =>
    resultPart(call, turn.callAnswers[index] ?? canceledCallText, true),
  );
  return [
    ...cutAssistantMessage(reply, turn.callParts),
    ...messageOf('tool', results),
    ...messageOf('user', said),
  ];
}

function withInstructions(text: string, instructions: string | undefined): string {
  return instructions === undefined || instructions === ''
    ? text
    : `${text}\n\nInstructions: ${instructions}`;
}

/**
 * Messages in which every call has exactly one result and every result its call: providers refuse
 * others. A call without a result, from a turn that was cut short, gets one. A result without its
 * call is dropped.
 */
export function pairedMessages(messages: readonly Message[]): readonly Message[] {
  const paired: Message[] = [];
  let open = new Map<string, string>();
  const settle = (): void => {
    const parts = [...open].map(([callId, tool]) =>
      resultPart({ callId, tool }, canceledCallText, true),
    );
    paired.push(...messageOf('tool', parts));
    open = new Map();
  };
  for (const message of messages) {
    if (message.role !== 'tool') settle();
    const parts = message.parts.filter((part) => {
      if (part.type === 'tool_call') open.set(part.callId, part.tool);
      return part.type !== 'tool_result' || open.delete(part.callId);
    });
    paired.push(...messageOf(message.role, parts, message.by));
  }
  settle();
  return paired;
}
