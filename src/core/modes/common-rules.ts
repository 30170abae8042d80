/** The rules of modes whose programs are tools of a turn: their values are never the answer. */
import { programFeedback } from '../program-text/feedback.ts';
import { hiddenTexts } from '../program-text/hidden-values.ts';
import type { ModeRules } from './mode.ts';
import { reasoningOf } from './reasoning.ts';

/** The rules that most modes share. */
export const commonRules: Pick<
  ModeRules,
  | 'reasoning'
  | 'onProgram'
  | 'programFeedback'
  | 'requestsJson'
  | 'readsHistory'
  | 'readsDataByName'
> = {
  reasoning: (spec, _turn, reply) => reasoningOf(spec, reply),
  onProgram: () => ({ kind: 'continue', note: { problems: [] } }),
  programFeedback: ({ spec, context = {} }, report) =>
    programFeedback({
      report,
      feedbackChars: spec.program?.sizes.feedbackChars ?? Infinity,
      hidden: hiddenTexts([context, report.value ?? null], report.hidden),
      plan: [],
      turns: '',
    }),
  requestsJson: false,
  readsHistory: false,
  readsDataByName: false,
};
