/** The rules of modes whose programs are tools of a turn: their values are never the answer. */
import { DEFAULT_LIMITS } from '../limits/default-limits.ts';
import { programFeedback, type FeedbackMaterial } from '../program-text/feedback.ts';
import { hiddenTexts } from '../program-text/hidden-values.ts';
import type { ProgramReport } from '../contract/report.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import type { ModeRules } from './mode.ts';
import { assistantMessage } from './observation.ts';
import { plainInput, plainMessages } from './plain-messages.ts';
import { reasoningOf } from './reasoning.ts';

/** The rules that most modes share. */
export const commonRules: Omit<
  ModeRules,
  'buildRequest' | 'readTurn' | 'turnMessages' | 'answerFeedback' | 'whenExhausted' | 'memory'
> = {
  writeMessages: (_spec, messages) => plainMessages(messages),
  answerMessages: (reply) => assistantMessage(reply),
  inputMessages: plainInput,
  reasoning: (spec, _turn, reply) => reasoningOf(spec, reply),
  onProgram: () => ({ kind: 'continue', note: { problems: [] } }),
  programFeedback: (head, report) => programFeedback(feedbackMaterial(head, report)),
  defaultLimits: DEFAULT_LIMITS,
  requestsJson: false,
  readsHistory: false,
  readsDataByName: false,
};

/** The material of feedback without a plan and a number of turns. */
export function feedbackMaterial(
  { spec, context = {} }: TranscriptHead,
  report: ProgramReport,
): FeedbackMaterial {
  const feedbackChars = spec.program?.sizes.feedbackChars ?? Infinity;
  const hidden = hiddenTexts([context, report.value ?? null], report.hidden);
  return { report, feedbackChars, hidden, plan: [], turns: '' };
}
