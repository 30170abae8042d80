/** The mode `chat`: native tool calls of the provider; a reply without calls is the answer. */
import { truncatedProblem } from '../format/format.ts';
import { type Message, type Part, textMessage } from '../base/message.ts';
import type { ModelRequest, ModelTool, Reply } from '../contract/model.ts';
import type { ReplyProblem } from '../base/problem.ts';
import { readLispCall } from '../program-text/lisp-call.ts';
import { LISP_TOOL, LISP_TOOL_PARAMETERS, programsMethod } from '../program-text/system-text.ts';
import { jsonGuidance } from '../section/section.ts';
import { outputFormat } from '../signature/describe-output.ts';
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
import { discoveredTools } from '../tool-search/discovered.ts';
import { readNativeCalls, type NativeReading } from '../toolchain/native-calls.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import { contextDescriptions, describeContext } from './context-text.ts';
import { commonRules } from './common-rules.ts';
import type { ModeRules, RequestOptions, TurnOutcome } from './mode.ts';
import { assistantMessage, cutAssistantMessage, messageOf, numberMedia } from './observation.ts';
import { plainInput, plainMessages, plainParts, textPart } from './plain-messages.ts';
import { requestOf, sourceText, unusedContext } from './prompt.ts';
import type { AgentSpec } from '../contract/spec.ts';
import {
  emptyTurn,
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
  buildRequest,
  writeMessages: (_spec, messages) => plainMessages(messages),
  readTurn,
  turnMessages: (_spec, turn, reply, outcome) => {
    if (turn.kind === 'malformed') return malformedMessages(turn, reply);
    return turn.kind === 'program'
      ? programMessages(turn, reply, outcome)
      : callMessages(turn, reply, outcome);
  },
  answerMessages: (reply) => assistantMessage(reply),
  inputMessages: plainInput,
  answerFeedback: (_spec, _turn, judgement) => judgementFeedback(judgement, 'Answer again.'),
};

function buildRequest(
  head: TranscriptHead,
  messages: readonly Message[],
  options: RequestOptions,
): ModelRequest {
  const { spec } = head;
  const stable = [
    ...(options.prompt ?? systemMessage(spec, options)),
    ...spec.examples,
    ...(head.history ?? []).map(({ role, text }) => textMessage(role, text)),
    ...startMessage(head),
    ...messages,
  ];
  const last = options.lastTurn ? [textMessage('user', lastTurnText)] : [];
  const request = requestOf(head, options, pairedMessages(plainMessages(stable)), last);
  if (spec.tools.length === 0 && spec.program === undefined) return request;
  const toolChoice = options.lastTurn ? 'none' : 'auto';
  const tools = [
    ...declaredTools(spec, discoveredTools(head, messages)),
    ...(spec.program === undefined ? [] : [programTool()]),
  ];
  return { ...request, tools, toolChoice };
}

/** Providers have no place for a language: it stands in the description. */
function programTool(): ModelTool {
  const description = programsMethod(
    'Runs one program in the language below, which can call the other tools.',
  );
  return { name: LISP_TOOL, description, parameters: LISP_TOOL_PARAMETERS };
}

function systemMessage(spec: AgentSpec, options: RequestOptions): readonly Message[] {
  const text = [
    sourceText(spec.instructions, options.instructions),
    sourceText(spec.rules, options.rules),
    spec.answer.kind === 'json' ? answerText(spec) : (spec.answer.guidance ?? ''),
  ]
    .filter((block) => block !== '')
    .join('\n\n');
  return text === '' ? [] : [textMessage('system', text)];
}

/** No schema is sent beside tools, so the prompt describes the answer. */
function answerText(spec: AgentSpec): string {
  const { guidance, schema, example, output } = spec.answer;
  const head = 'Your reply without tool calls is the answer.';
  if (output !== undefined) return `${head} ${outputFormat(output)}`;
  return jsonGuidance({
    guidance: guidance === undefined ? head : `${head} ${guidance}`,
    schema: schema ?? {},
    ...(example === undefined ? {} : { example }),
  });
}

function startMessage(head: TranscriptHead): readonly Message[] {
  const context = describeContext(unusedContext(head), contextDescriptions(head));
  const { text, media = [] } = head.task;
  const full = context === '' ? text : text === '' ? context : `${context}\n# Task\n${text}`;
  return messageOf('user', [...(full === '' ? [] : [textPart(full)]), ...media]);
}

function readTurn(spec: AgentSpec, reply: Reply, iteration: number): Turn {
  if (reply.calls.length > 0) return readCalls(spec, reply, iteration);
  const candidates = candidatesOf(spec.answer, [replyText(reply)]);
  if (candidates.length > 0) return { ...plainTurn, kind: 'answer', candidates, attached: null };
  return formatTurn(spec, plainTurn, wasCut(reply) ? truncatedProblem() : emptyTurn, []);
}

function readCalls(spec: AgentSpec, reply: Reply, iteration: number): Turn {
  const { tools, maxCallsPerTurn } = spec;
  const reading = readNativeCalls(reply.calls, { iteration, tools, maxCallsPerTurn });
  const base: TurnBase = { ...plainTurn, callParts: reading.parts };
  if (spec.program !== undefined && reply.calls.some(({ tool }) => tool === LISP_TOOL)) {
    return readProgram(spec, reply, reading, base);
  }
  if (reading.kind === 'calls') return { ...base, kind: 'calls', calls: reading.calls };
  if (wasCut(reply) && reading.isUnreadable) {
    return formatTurn(spec, base, truncatedProblem(), reading.answers);
  }
  return toolchainTurn(base, reading.problems, reading.answers);
}

/** A reply with a call for a program: that call alone. */
function readProgram(spec: AgentSpec, reply: Reply, reading: NativeReading, base: TurnBase): Turn {
  if (reply.calls.length > 1) {
    const isAll = reply.calls.every(({ tool }) => tool === LISP_TOOL);
    const problem = isAll ? severalPrograms : actionAndProgram;
    const answers = reading.parts.map(() => `Error: ${problem.message}`);
    return toolchainTurn(base, [problem], answers);
  }
  if (reading.kind === 'problems') {
    return wasCut(reply) && reading.isUnreadable
      ? formatTurn(spec, base, truncatedProblem(), reading.answers)
      : toolchainTurn(base, reading.problems, reading.answers);
  }
  const program = readLispCall(reading.calls[0] ?? { args: {} });
  return program.kind === 'program'
    ? { ...base, ...program }
    : toolchainTurn(base, [program.problem], [`Error: ${program.problem.message}`]);
}

function toolchainTurn(
  base: TurnBase,
  problems: readonly ReplyProblem[],
  callAnswers: readonly string[],
): MalformedTurn {
  const kind = { kind: 'malformed', family: 'toolchain' } as const;
  return { ...base, ...kind, problems, feedback: [], callAnswers, ends: false };
}

function formatTurn(
  spec: AgentSpec,
  base: TurnBase,
  problem: ReplyProblem,
  callAnswers: readonly string[],
): MalformedTurn {
  const names = {
    sections: [],
    action: spec.tools.length === 0 ? null : spec.toolchain.section,
    answer: spec.answer.section,
  };
  const feedback = [errorSection(explainReply(problem, names))];
  const problems = [problem];
  return {
    ...base,
    kind: 'malformed',
    family: 'format',
    problems,
    feedback,
    callAnswers,
    ends: false,
  };
}

/** Every call has its result, in call order; media and feedback follow as a message of the user. */
function callMessages(turn: Turn, reply: Reply, outcome: TurnOutcome): readonly Message[] {
  const { results, media } = numberMedia(outcome.results);
  const parts = results.map((result): Part => {
    const text = withInstructions(result.fullText, result.instructions);
    return {
      type: 'tool_result',
      callId: result.call.callId,
      tool: result.call.tool,
      parts: [textPart(text)],
      isError: result.isError,
      ...(result.shown === undefined ? {} : { shown: result.shown }),
    };
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
  const parts = turn.callParts.map(({ callId, tool }): Part => {
    const text = program === '' ? canceledCallText : program;
    const isError = program === '';
    return { type: 'tool_result', callId, tool, parts: [textPart(text)], isError };
  });
  return [...assistantMessage(reply, turn.callParts), ...messageOf('tool', parts)];
}

function malformedMessages(turn: MalformedTurn, reply: Reply): readonly Message[] {
  return [
    ...cutAssistantMessage(reply, turn.callParts),
    ...answeredCalls(turn),
    ...messageOf('user', plainParts(turn.feedback)),
  ];
}

/** What is answered to the calls of a reply that could not be read: a result for each. */
export function answeredCalls(turn: MalformedTurn): readonly Message[] {
  const parts = turn.callParts.map(({ callId, tool }, index): Part => {
    const answer = textPart(turn.callAnswers[index] ?? canceledCallText);
    return { type: 'tool_result', callId, tool, parts: [answer], isError: true };
  });
  return messageOf('tool', parts);
}

function withInstructions(text: string, instructions: string | undefined): string {
  return instructions === undefined || instructions === ''
    ? text
    : `${text}\n\nInstructions: ${instructions}`;
}

/**
 * Messages in which every call has exactly one result and every result its call: providers refuse
 * others. A call without result, of a turn that was cut short, gets one; an orphan is dropped.
 */
export function pairedMessages(messages: readonly Message[]): readonly Message[] {
  const paired: Message[] = [];
  let open = new Map<string, string>();
  const settle = (): void => {
    const parts = [...open].map(([callId, tool]): Part => ({
      type: 'tool_result',
      callId,
      tool,
      parts: [textPart(canceledCallText)],
      isError: true,
    }));
    paired.push(...messageOf('tool', parts));
    open = new Map();
  };
  for (const message of messages) {
    if (message.role !== 'tool') settle();
    const parts = message.parts.filter((part) => {
      if (part.type === 'tool_call') open.set(part.callId, part.tool);
      return part.type !== 'tool_result' || open.delete(part.callId);
    });
    paired.push(...messageOf(message.role, parts));
  }
  settle();
  return paired;
}
