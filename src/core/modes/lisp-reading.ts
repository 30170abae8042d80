/** Reads the reply of a model that writes programs: a program, an answer as text, or neither. */
import { defined } from '../base/defined.ts';
import type { FormattedSection } from '../base/message.ts';
import { truncatedProblem } from '../format/format.ts';
import type { Reply } from '../contract/model.ts';
import type { ReplyProblem } from '../base/problem.ts';
import { findProgram, hasProgramBlock } from '../program-text/find-program.ts';
import { LISP_TOOL } from '../program-text/system-text.ts';
import { withoutOptional } from '../contract/signature.ts';
import { candidatesOf } from '../termination/candidates.ts';
import { errorSection, explainReply } from '../termination/feedback.ts';
import { readNativeCalls } from '../toolchain/native-calls.ts';
import { programTurn, unreadableCalls } from './program-call.ts';
import type { AgentSpec, LispSpec } from '../contract/spec.ts';
import {
  callsOf,
  emptyTurn,
  malformedTurn,
  plainTurn,
  replyText,
  wasCut,
  type MalformedTurn,
  type Turn,
  type TurnBase,
} from '../contract/turn.ts';

/** The options of the mode. Specifications of this mode always have them. */
export function lispOptions({ program }: AgentSpec): LispSpec {
  if (program?.lisp === undefined) throw new Error('Expected options of mode lisp, got none.');
  return program.lisp;
}

/** Whether the value of the only program is the answer. */
export function isOneTurn({ maxTurns, retryTurns, completion }: LispSpec): boolean {
  return maxTurns === 1 && retryTurns === 0 && completion === 'implicit';
}

/** Whether the only turn is that of an agent without tools: then the model is asked once. */
export function isSingleShot(spec: AgentSpec): boolean {
  return isOneTurn(lispOptions(spec)) && spec.tools.length === 0;
}

/** The answer to each call of a reply that is not one program. */
const ONCE_TEXT = 'Error: call lisp_eval once per reply. Nothing was run.';
const onceProblem: ReplyProblem = { code: 'lisp_eval', message: ONCE_TEXT };

/** Whether the answer is text, which a reply gives as it is. */
export function isText({ answer: { output } }: AgentSpec): boolean {
  return output !== undefined && withoutOptional(output).kind === 'string';
}

const AS_TEXT: AgentSpec['answer'] = { kind: 'text', section: '', validators: [] };

/** The turn that a reply is. `iteration` gives the ids of calls. */
export function readLispTurn(spec: AgentSpec, reply: Reply, iteration: number): Turn {
  const turn =
    lispOptions(spec).transport === 'tool_call'
      ? readNative(spec, reply, iteration)
      : readContent(reply);
  if (turn.kind !== 'malformed' || !isSingleShot(spec)) return turn;
  const isMany = turn.problems[0]?.code === 'multiple_code_blocks';
  return { ...turn, ends: true, endsAs: isMany ? 'multiple_code_blocks' : 'no_code_found' };
}

function readContent(reply: Reply): Turn {
  const found = findProgram(replyText(reply));
  if (found.kind === 'program') {
    const { source, around, isClosed } = found;
    if (wasCut(reply) && !isClosed) return formatTurn(truncatedProblem());
    return {
      ...plainTurn,
      kind: 'program',
      source,
      ...defined({ reasoning: around || undefined }),
    };
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
  const calls = callsOf(reply);
  if (calls.length === 0) {
    if (hasBlock) return toolchainTurn(onceProblem);
    const candidates = candidatesOf(isText(spec) ? AS_TEXT : spec.answer, [text]);
    if (candidates.length > 0) return { ...plainTurn, kind: 'answer', candidates, attached: null };
    return formatTurn(wasCut(reply) ? truncatedProblem() : emptyTurn);
  }
  const isCut = wasCut(reply);
  const context = { iteration, tools: [], maxCallsPerTurn: Infinity, isCut };
  const reading = readNativeCalls(calls, context);
  const base: TurnBase = { ...plainTurn, callParts: reading.parts };
  const isOnce = calls.length === 1 && calls[0]?.tool === LISP_TOOL && !hasBlock;
  if (!isOnce) {
    const callAnswers = reading.parts.map(() => ONCE_TEXT);
    return malformedTurn(base, 'toolchain', [onceProblem], { callAnswers });
  }
  if (reading.kind === 'problems') {
    return unreadableCalls(reply, reading, base, explained(truncatedProblem()));
  }
  const turn = programTurn(reading, base);
  const reasoning = text.trim() || undefined;
  return turn.kind === 'program' ? { ...turn, ...defined({ reasoning }) } : turn;
}

function toolchainTurn(problem: ReplyProblem): MalformedTurn {
  const feedback = [errorSection(problem.message)];
  return malformedTurn(plainTurn, 'toolchain', [problem], { feedback });
}

function formatTurn(problem: ReplyProblem): MalformedTurn {
  return malformedTurn(plainTurn, 'format', [problem], { feedback: explained(problem) });
}

function explained(problem: ReplyProblem): readonly FormattedSection[] {
  if (problem.code === 'empty_turn') return [errorSection('Your reply is empty.')];
  return [errorSection(explainReply(problem, { sections: [], action: null, answer: 'answer' }))];
}
