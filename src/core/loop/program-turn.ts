/** A program in the middle of a turn of `react` or `chat`: run, and told to the model as a call is. */
import type { Reply } from '../contract/model.ts';
import { programFeedback } from '../program-text/feedback.ts';
import { hiddenTexts } from '../program-text/hidden-values.ts';
import type { KeptTurn } from '../run/kept-turn.ts';
import { reasoningOf } from '../modes/reasoning.ts';
import type { Work } from './work.ts';

/** Runs `source` and says what came of it. `judged`: of an answer that was judged before the program. */
export async function programFeedbackOf(
  work: Work,
  { source }: { readonly source: string },
  reply: Reply,
  judged: Pick<KeptTurn, 'judged'>,
): Promise<string> {
  const { startedAt, iteration } = work;
  const { head, turn: kept } = work.state;
  const report = await work.program({
    source,
    programId: `${iteration}.p`,
    reasoning: reasoningOf(head.spec, reply),
    ...(kept?.program === undefined ? {} : { kept: kept.program }),
    keep: (program) => ({
      reply,
      startedAt,
      calls: { results: [], begun: [] },
      program,
      ...judged,
    }),
  });
  return programFeedback({
    report,
    feedbackChars: head.spec.program?.sizes.feedbackChars ?? Infinity,
    hidden: hiddenTexts([head.context ?? {}, report.value ?? null], report.hidden),
    plan: [],
    turns: '',
  });
}
