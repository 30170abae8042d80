/**
 * The mode `lisp`: the model writes programs, as blocks in its text or as calls of one native tool.
 * How a program ended decides how the run goes on.
 */
import { REPAIR_LIMITS } from '../limits/default-limits.ts';
import { defined } from '../base/defined.ts';
import type { Message } from '../base/message.ts';
import type { ModelRequest, Reply } from '../contract/model.ts';
import {
  nativeFeedback,
  programFeedback as contentFeedback,
  type Rejection,
} from '../program-text/feedback.ts';
import { programBlock } from '../program-text/find-program.ts';
import { LISP_TOOL, LISP_TOOL_PARAMETERS, lispMethod } from '../program-text/system-text.ts';
import { taskMessage } from '../program-text/task-message.ts';
import { planLines, turnCounts, turnKind, turnsText } from '../program-text/turn-texts.ts';
import { answerFormat } from '../signature/answer-form.ts';
import { judgementFeedback } from '../termination/feedback.ts';
import type { ProgramReport } from '../contract/report.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import { malformedMessages, pairedMessages } from './chat.ts';
import { commonRules, feedbackMaterial } from './common-rules.ts';
import { contextDescriptions } from './context-text.ts';
import { lispMemory } from './lisp-memory.ts';
import { isOneTurn, isSingleShot, isText, lispOptions, readLispTurn } from './lisp-reading.ts';
import type { ModeRules, ProgramDecision, RequestOptions, TurnPosition } from './mode.ts';
import { assistantMessage, messageOf } from './observation.ts';
import { plainMessages, plainText, resultPart, textPart, textParts } from './plain-messages.ts';
import { candidateOf, errorOf, refusalOf } from './program-answer.ts';
import { requestOf, systemMessage } from './prompt.ts';
import type { AgentSpec, LispSpec } from '../contract/spec.ts';
import type { ProgramTurn } from '../contract/turn.ts';

/** The rules of the mode `lisp`. */
export const lispMode: ModeRules = {
  ...commonRules,
  defaultLimits: REPAIR_LIMITS,
  readsDataByName: true,
  buildRequest,
  readTurn: readLispTurn,
  turnMessages: (spec, turn, reply, { program = '', feedback, position }) => {
    if (turn.kind === 'program') return programMessages(turn, reply, program);
    const { turnsLeft } = lispTurn(spec, position);
    const text = [plainText(feedback), turnsLeft].filter((part) => part !== '').join('\n');
    const said = textParts(text);
    return turn.kind === 'malformed'
      ? malformedMessages(turn, reply, said)
      : [...assistantMessage(reply), ...messageOf('user', said)];
  },
  answerFeedback: (_spec, _turn, judgement) => judgementFeedback(judgement, 'Answer again.'),
  reasoning: (_spec, turn) => (turn.kind === 'program' ? (turn.reasoning ?? '') : ''),
  onProgram,
  programFeedback,
  memory: lispMemory,
};

function buildRequest(
  head: TranscriptHead,
  messages: readonly Message[],
  options: RequestOptions,
): ModelRequest {
  const { spec } = head;
  const lisp = lispOptions(spec);
  const isNative = lisp.transport === 'tool_call';
  const method = [lispMethod(lisp), ...(isNative ? [textAnswer(spec)] : [])];
  const stable = plainMessages([
    ...systemMessage(spec, options, method),
    ...startMessage(head, lisp, options),
    ...messages,
  ]);
  if (!isNative) return requestOf(head, options, stable, []);
  const description = 'Runs one program and gives what came of it.';
  const tool = { name: LISP_TOOL, description, parameters: LISP_TOOL_PARAMETERS };
  const request = requestOf(head, options, pairedMessages(stable), []);
  return { ...request, tools: [tool], toolChoice: 'auto' };
}

/** How to write an answer that does not come from a program. */
function textAnswer(spec: AgentSpec): string {
  const { answer } = spec;
  return answer.output === undefined || isText(spec) ? '' : `As text: ${answerFormat(answer)}`;
}

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

/** The transcript keeps only the program; the text around it is in the events. */
function programMessages(turn: ProgramTurn, reply: Reply, feedback: string): readonly Message[] {
  const [call] = turn.callParts;
  if (call === undefined) {
    const reasoning = reply.parts.filter((part) => part.type === 'reasoning');
    const program = textPart(programBlock(turn.source));
    return [
      ...messageOf('assistant', [...reasoning, program], reply.by),
      ...messageOf('user', textParts(feedback)),
    ];
  }
  return [
    ...assistantMessage(reply, turn.callParts),
    ...messageOf('tool', [resultPart(call, feedback || TAKEN, false)]),
  ];
}

/** The result of a program after which no request follows: providers want one for each call. */
const TAKEN = '{"status":"returned"}';

const FIRST_TURN: TurnPosition = { attempt: 1, of: null };

/** What an iteration means for the program of a turn. */
interface LispTurn {
  /** A `return` is due: the last work turn, or one to repair. */
  readonly mustReturn: boolean;
  /** What the model reads about its turns; may be empty. */
  readonly turnsLeft: string;
}

function lispTurn(
  spec: AgentSpec,
  { attempt, of, isLast = false }: TurnPosition = FIRST_TURN,
): LispTurn {
  const counts = turnCounts(lispOptions(spec), of);
  return {
    mustReturn: isLast || turnKind(counts, attempt) !== 'work',
    turnsLeft: isLast ? '' : turnsText(counts, attempt),
  };
}

function onProgram(
  spec: AgentSpec,
  report: ProgramReport,
  position: TurnPosition,
): ProgramDecision {
  const lisp = lispOptions(spec);
  const isFinal = isSingleShot(spec);
  switch (report.outcome) {
    case 'failed':
      return { kind: 'failed', end: refusalOf(report) };
    case 'error': {
      const { reason: code, message: cause } = errorOf(report);
      return isFinal
        ? { kind: 'failed', end: { code, cause } }
        : { kind: 'continue', note: { problems: [cause] } };
    }
    case 'value': {
      if (isOneTurn(lisp)) break;
      const isExplicit = lisp.completion === 'explicit';
      if (isExplicit && lispTurn(spec, position).mustReturn) {
        const cause = 'The last turn ended without `(return …)`.';
        return { kind: 'failed', end: { code: 'must_return_missing', cause } };
      }
      return { kind: 'continue', note: { problems: [], value: report.value } };
    }
    case 'returned':
      break;
  }
  return { kind: 'answer', candidate: candidateOf(spec, report), isFinal };
}

function programFeedback(
  head: TranscriptHead,
  report: ProgramReport,
  position: TurnPosition,
  rejection?: Rejection,
): string {
  const { plan, transport } = lispOptions(head.spec);
  const material = {
    ...feedbackMaterial(head, report),
    ...defined({ rejection }),
    plan: planLines(plan, report.plan),
    turns: lispTurn(head.spec, position).turnsLeft,
  };
  return transport === 'tool_call' ? nativeFeedback(material) : contentFeedback(material);
}
