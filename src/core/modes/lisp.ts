/**
 * The mode `lisp`: the model writes programs, as blocks in its text or as calls of one native tool. What a
 * program comes to decides: the loop of this mode is in `lisp-loop.ts`.
 */
import { truncatedProblem } from '../format/format.ts';
import type { Message } from '../base/message.ts';
import { textMessage } from '../base/message.ts';
import type { ModelRequest, Reply } from '../contract/model.ts';
import type { ReplyProblem } from '../base/problem.ts';
import { readLispCall } from '../program-text/lisp-call.ts';
import { findProgram, hasProgramBlock, programBlock } from '../program-text/find-program.ts';
import { LISP_TOOL, LISP_TOOL_PARAMETERS, lispMethod } from '../program-text/system-text.ts';
import { taskMessage } from '../program-text/task-message.ts';
import { turnKind } from '../program-text/turn-texts.ts';
import { outputFormat } from '../signature/describe-output.ts';
import { withoutOptional } from '../contract/signature.ts';
import { candidatesOf } from '../termination/candidates.ts';
import { errorSection, explainReply, judgementFeedback } from '../termination/feedback.ts';
import { readNativeCalls } from '../toolchain/native-calls.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import { contextDescriptions } from './context-text.ts';
import type { ModeRules, RequestOptions } from './mode.ts';
import { assistantMessage, cutAssistantMessage, messageOf } from './observation.ts';
import { plainInput, plainMessages, textPart } from './plain-messages.ts';
import { requestOf, sourceText } from './prompt.ts';
import type { AgentSpec, LispSpec } from '../contract/spec.ts';
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
import { answeredCalls, pairedMessages } from './chat.ts';

/** What every call is answered when a reply is not one program. */
const ONCE_TEXT = 'Error: call lisp_eval once per reply. Nothing was run.';

/** The rules of the mode `lisp`. */
export const lispMode: ModeRules = {
  buildRequest,
  writeMessages: (_spec, messages) => plainMessages(messages),
  readTurn,
  turnMessages: (_spec, turn, reply, { program = '' }) => {
    if (turn.kind === 'program') return programMessages(turn, reply, program);
    const said = program === '' ? [] : [textPart(program)];
    return turn.kind === 'malformed'
      ? [
          ...cutAssistantMessage(reply, turn.callParts),
          ...answeredCalls(turn),
          ...messageOf('user', said),
        ]
      : [...assistantMessage(reply), ...messageOf('user', said)];
  },
  answerMessages: (reply) => assistantMessage(reply),
  inputMessages: plainInput,
  answerFeedback: (_spec, _turn, judgement) => judgementFeedback(judgement, 'Answer again.'),
};

/** The options of the mode. Specifications of it always have them. */
export function lispOptions({ program }: AgentSpec): LispSpec {
  if (program?.lisp === undefined) throw new Error('Expected options of mode lisp, got none.');
  return program.lisp;
}

function buildRequest(
  head: TranscriptHead,
  messages: readonly Message[],
  options: RequestOptions,
): ModelRequest {
  const { spec } = head;
  const lisp = lispOptions(spec);
  const isNative = lisp.transport === 'tool_call';
  const system = [
    sourceText(spec.instructions, options.instructions),
    sourceText(spec.rules, options.rules),
    lispMethod(lisp),
    ...(isNative ? [textAnswer(spec)] : []),
  ].filter((block) => block !== '');
  const stable = plainMessages([
    textMessage('system', system.join('\n\n')),
    ...startMessage(head, lisp, options),
    ...messages,
  ]);
  if (!isNative) return requestOf(head, options, stable, []);
  const description = 'Runs one program and gives what came of it.';
  const tool = { name: LISP_TOOL, description, parameters: LISP_TOOL_PARAMETERS };
  const request = requestOf(head, options, pairedMessages(stable), []);
  return { ...request, tools: [tool], toolChoice: 'auto' };
}

/** How an answer is written that no program gives. */
function textAnswer(spec: AgentSpec): string {
  const { output } = spec.answer;
  return output === undefined || isText(spec) ? '' : `As text: ${outputFormat(output)}`;
}

/** Whether the answer is text, which a reply gives as it is. */
function isText({ answer: { output } }: AgentSpec): boolean {
  return output !== undefined && withoutOptional(output).kind === 'string';
}

const AS_TEXT: AgentSpec['answer'] = { kind: 'text', section: '', validators: [] };

function startMessage(
  head: TranscriptHead,
  lisp: LispSpec,
  { iteration, lastTurn }: RequestOptions,
): readonly Message[] {
  const { spec, context = {}, task, memory = [] } = head;
  const { sizes } = programOptions(spec);
  const counts = { work: lisp.maxTurns, repair: lisp.retryTurns };
  const isLast = iteration > 1 && (lastTurn || turnKind(counts, iteration) !== 'work');
  const text = taskMessage({
    spec,
    sizes,
    context,
    contextDescriptions: contextDescriptions(head),
    memory,
    task: task.text,
    withTools: !isLast,
  });
  return messageOf('user', [textPart(text), ...(task.media ?? [])]);
}

function programOptions({ program }: AgentSpec): NonNullable<AgentSpec['program']> {
  if (program === undefined) throw new Error('Expected options of programs, got none.');
  return program;
}

function readTurn(spec: AgentSpec, reply: Reply, iteration: number): Turn {
  return lispOptions(spec).transport === 'tool_call'
    ? readNative(spec, reply, iteration)
    : readContent(reply);
}

function readContent(reply: Reply): Turn {
  const found = findProgram(replyText(reply));
  if (found.kind === 'program') {
    const { source, around, isClosed } = found;
    if (wasCut(reply) && !isClosed) return formatTurn(truncatedProblem());
    const reasoning = around === '' ? {} : { reasoning: around };
    return { ...plainTurn, kind: 'program', source, ...reasoning };
  }
  if (wasCut(reply)) return formatTurn(truncatedProblem());
  return toolchainTurn(
    found.kind === 'none'
      ? {
          code: 'no_code_found',
          message: 'No program was found. Write one ```clojure block.',
        }
      : {
          code: 'multiple_code_blocks',
          message: `Found ${found.count} programs. Write one block.`,
        },
  );
}

/** A call of the one tool, or text, which is the answer. */
function readNative(spec: AgentSpec, reply: Reply, iteration: number): Turn {
  const text = replyText(reply);
  const hasBlock = hasProgramBlock(text);
  if (reply.calls.length === 0) {
    const problem = { code: 'lisp_eval', message: ONCE_TEXT };
    if (hasBlock) return toolchainTurn(problem);
    const candidates = candidatesOf(isText(spec) ? AS_TEXT : spec.answer, [text]);
    if (candidates.length > 0) return { ...plainTurn, kind: 'answer', candidates, attached: null };
    return formatTurn(wasCut(reply) ? truncatedProblem() : emptyTurn);
  }
  const reading = readNativeCalls(reply.calls, { iteration, tools: [], maxCallsPerTurn: Infinity });
  const base: TurnBase = { ...plainTurn, callParts: reading.parts };
  const [call] = reading.kind === 'calls' ? reading.calls : [];
  const isOnce = reply.calls.length === 1 && reply.calls[0]?.tool === LISP_TOOL && !hasBlock;
  if (!isOnce) {
    const answers = reading.parts.map(() => ONCE_TEXT);
    return nativeTurn(base, [{ code: 'lisp_eval', message: ONCE_TEXT }], answers);
  }
  if (reading.kind === 'problems') {
    if (wasCut(reply) && reading.isUnreadable) {
      return { ...formatTurn(truncatedProblem(), base), callAnswers: reading.answers };
    }
    return nativeTurn(base, reading.problems, reading.answers);
  }
  const program = readLispCall(call ?? { args: {} });
  if (program.kind === 'problem') {
    return nativeTurn(base, [program.problem], [`Error: ${program.problem.message}`]);
  }
  const reasoning = text.trim() === '' ? {} : { reasoning: text.trim() };
  return { ...base, kind: 'program', source: program.source, ...reasoning };
}

function nativeTurn(
  base: TurnBase,
  problems: readonly ReplyProblem[],
  callAnswers: readonly string[],
): MalformedTurn {
  const kind = { kind: 'malformed', family: 'toolchain' } as const;
  return { ...base, ...kind, problems, feedback: [], callAnswers, ends: false };
}

function toolchainTurn(problem: ReplyProblem): MalformedTurn {
  const turn = nativeTurn(plainTurn, [problem], []);
  return { ...turn, feedback: [errorSection(problem.message)] };
}

function formatTurn(problem: ReplyProblem, base: TurnBase = plainTurn): MalformedTurn {
  const names = { sections: [], action: null, answer: 'answer' };
  const text =
    problem.code === 'empty_turn' ? 'Your reply is empty.' : explainReply(problem, names);
  const turn = nativeTurn(base, [problem], []);
  return { ...turn, family: 'format', feedback: [errorSection(text)] };
}

/** The transcript keeps the program alone: what was written around it is in the events. */
function programMessages(turn: ProgramTurn, reply: Reply, feedback: string): readonly Message[] {
  const reasoning = reply.parts.filter((part) => part.type === 'reasoning');
  const [call] = turn.callParts;
  if (call === undefined) {
    const program = textPart(programBlock(turn.source));
    return [
      ...messageOf('assistant', [...reasoning, program]),
      ...messageOf('user', feedback === '' ? [] : [textPart(feedback)]),
    ];
  }
  const { callId, tool } = call;
  const parts = [textPart(feedback === '' ? TAKEN : feedback)];
  return [
    ...assistantMessage(reply, turn.callParts),
    ...messageOf('tool', [{ type: 'tool_result', callId, tool, parts, isError: false }]),
  ];
}

/** The result of a program after which nothing is asked: providers want one for each call. */
const TAKEN = '{"status":"returned"}';
