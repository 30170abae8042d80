/** Reads the reply of a model that writes programs: a program, an answer as text, or neither. */
import { defined } from '../base/defined.ts';
import { truncatedProblem } from '../format/format.ts';
import type { Reply } from '../contract/model.ts';
import type { ReplyProblem } from '../base/problem.ts';
import { readLispCall } from '../program-text/lisp-call.ts';
import { findProgram, hasProgramBlock } from '../program-text/find-program.ts';
import { LISP_TOOL } from '../program-text/system-text.ts';
import { withoutOptional } from '../contract/signature.ts';
import { candidatesOf } from '../termination/candidates.ts';
import { errorSection, explainReply } from '../termination/feedback.ts';
import { readNativeCalls } from '../toolchain/native-calls.ts';
import type { AgentSpec, LispSpec } from '../contract/spec.ts';
import {
  emptyTurn,
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
  const reasoning = text.trim() || undefined;
  return { ...base, kind: 'program', source: program.source, ...defined({ reasoning }) };
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
