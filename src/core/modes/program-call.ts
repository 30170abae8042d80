/** Replies of native calls that run a program, or that cannot be read. */
import type { FormattedSection } from '../base/message.ts';
import type { Reply } from '../contract/model.ts';
import {
  malformedTurn,
  wasCut,
  type MalformedTurn,
  type ProgramTurn,
  type TurnBase,
} from '../contract/turn.ts';
import { truncatedProblem } from '../format/format.ts';
import { readLispCall } from '../program-text/lisp-call.ts';
import type { NativeReading } from '../toolchain/native-calls.ts';

/** The turn of the one call of a reply, which runs a program. */
export function programTurn(
  { calls: [call] }: Extract<NativeReading, { readonly kind: 'calls' }>,
  base: TurnBase,
): ProgramTurn | MalformedTurn {
  const program = readLispCall(call ?? { args: {} });
  if (program.kind === 'program') return { ...base, ...program };
  const { problem } = program;
  return malformedTurn(base, 'toolchain', [problem], {
    callAnswers: [`Error: ${problem.message}`],
  });
}

/** The turn of calls that cannot be read; `feedback`: if that is so because the reply was cut. */
export function unreadableCalls(
  reply: Reply,
  {
    problems,
    answers: callAnswers,
    isUnreadable,
  }: Extract<NativeReading, { readonly kind: 'problems' }>,
  base: TurnBase,
  feedback: readonly FormattedSection[],
): MalformedTurn {
  return wasCut(reply) && isUnreadable
    ? malformedTurn(base, 'format', [truncatedProblem()], { feedback, callAnswers })
    : malformedTurn(base, 'toolchain', problems, { callAnswers });
}
