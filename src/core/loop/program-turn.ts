/** The turn whose reply is a program: it runs, and the mode decides what follows from its end. */
import type { ProgramReport } from '../contract/report.ts';
import type { ProgramTurn } from '../contract/turn.ts';
import type { ProgramDecision } from '../modes/mode.ts';
import { problemLines, rejectionOf } from '../modes/program-answer.ts';
import type { SettledSections } from '../modes/section-values.ts';
import { leaveOf, leaving } from '../run/ending.ts';
import type { Rejection } from '../program-text/feedback.ts';
import { judgeCandidates } from './judge.ts';
import {
  acceptAnswer,
  continueRun,
  keepLast,
  messagesOf,
  positionOf,
  programOrderOf,
  type OpenTurn,
} from './turn.ts';
import type { TurnEnd } from './work.ts';

/** Runs the program of a turn; `settle` gives the sections of its reply. */
export async function runProgramTurn(
  current: OpenTurn<ProgramTurn>,
  settle: () => Promise<SettledSections>,
): Promise<TurnEnd> {
  const { work, mode, turn } = current;
  const report = await work.program(programOrderOf(current, turn.source));
  const { state } = work;
  const position = positionOf(state);
  const decision = mode.onProgram(state.head.spec, report, position);
  const feedback = (rejection?: Rejection): string =>
    mode.programFeedback(state.head, report, position, rejection);
  switch (decision.kind) {
    case 'continue': {
      const program = feedback();
      return continueRun(current, { sections: await settle(), program, note: decision.note });
    }
    case 'failed':
      keepLast(current);
      // An error may be that of a program which was canceled or interrupted.
      if (report.outcome === 'error') work.leaveIfAsked();
      throw leaving({ kind: 'failed', ...decision.end });
    case 'answer':
      return judgeProgram(current, report, decision, { settle, feedback });
  }
}

/** Judges the value of a program as the answer. */
async function judgeProgram(
  current: OpenTurn<ProgramTurn>,
  report: ProgramReport,
  { candidate, isFinal }: Extract<ProgramDecision, { readonly kind: 'answer' }>,
  turn: {
    readonly settle: () => Promise<SettledSections>;
    readonly feedback: (rejection?: Rejection) => string;
  },
): Promise<TurnEnd> {
  const { work } = current;
  const text = JSON.stringify(report.value ?? null);
  const judgement = await judgeCandidates(work, [candidate], text).catch((error: unknown) => {
    // The program ran, so the model has to read what it did.
    const isInterrupted = leaveOf(error)?.kind === 'interrupted';
    if (isInterrupted) work.append({ messages: messagesOf(current, { program: turn.feedback() }) });
    throw error;
  });
  if (judgement.kind === 'accepted') {
    // Without feedback nothing follows the program.
    const messages = messagesOf(current, {}).filter(({ role }) => role !== 'user');
    return acceptAnswer(work, judgement.value, messages.length === 0 ? undefined : { messages });
  }
  if (isFinal) {
    keepLast(current);
    throw leaving({ kind: 'failed', ...rejectionOf(report, judgement) });
  }
  const problems = problemLines(judgement);
  const { output = null } = work.state.head.spec.answer;
  const program = turn.feedback({ problems, output });
  return continueRun(current, { sections: await turn.settle(), program, note: { problems } });
}
