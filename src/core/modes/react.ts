/** The mode `react`: sections of text, calls written in one of them, an answer in another. */
import type { FormattedSection, Message, Part } from '../base/message.ts';
import { PROGRAM_SECTION } from '../program-text/system-text.ts';
import type { Judgement } from '../contract/judgement.ts';
import {
  errorSection,
  explainReply,
  explainSection,
  judgementFeedback,
  messagesOf,
  rewriteSection,
} from '../termination/feedback.ts';
import { commonRules } from './common-rules.ts';
import type { ModeRules, TurnOutcome } from './mode.ts';
import {
  assistantMessage,
  cutAssistantMessage,
  messageOf,
  numberMedia,
  observationSection,
} from './observation.ts';
import { writtenMessages } from './prompt.ts';
import type { AgentSpec } from '../contract/spec.ts';
import type { AnswerTurn, Turn } from '../contract/turn.ts';
import { buildReactRequest } from './react-prompt.ts';
import { isCutInAnswer, readReactTurn } from './react-reading.ts';
import { reactAgentOf } from './react-sections.ts';

/** The rules of the mode `react`. */
export const reactMode: ModeRules = {
  ...commonRules,
  readsHistory: true,
  buildRequest: buildReactRequest,
  writeMessages: (spec, messages) => writtenMessages(messages, reactAgentOf(spec).format),
  readTurn: readReactTurn,
  goesOn: isCutInAnswer,
  turnMessages: (_spec, turn, reply, outcome) => [
    ...(turn.kind === 'malformed' ? cutAssistantMessage(reply) : assistantMessage(reply)),
    ...observation(turn, outcome),
  ],
  inputMessages: ({ text, media }) =>
    messageOf('user', [
      ...(text === '' ? [] : sectionsPart([{ name: 'message', content: text }])),
      ...(media ?? []),
    ]),
  answerFeedback,
};

/** For a reply without sections that was judged as a whole, feedback first says what it lacks. */
function answerFeedback(
  spec: AgentSpec,
  turn: AnswerTurn,
  judgement: Judgement,
): readonly FormattedSection[] {
  if (judgement.kind === 'accepted') return [];
  const unparsed =
    turn.unparsed === undefined
      ? []
      : [errorSection(explainReply(turn.unparsed, reactAgentOf(spec).names))];
  return [...unparsed, ...judgementFeedback(judgement, rewriteSection(spec.answer.section))];
}

/** One section `observation`: section errors, feedback, then one for each call or the program. */
function observation(turn: Turn, outcome: TurnOutcome): readonly Message[] {
  const { results, media } = numberMedia(outcome.results);
  const attached = turn.kind === 'answer' ? turn.attached : null;
  const children: readonly FormattedSection[] = [
    ...outcome.sectionErrors.map(({ name, problems }) =>
      errorSection(explainSection(name, messagesOf(problems))),
    ),
    ...outcome.feedback,
    ...(attached?.kind === 'problems' ? attached.feedback : []),
    ...results.map(observationSection),
    ...(outcome.program === undefined || outcome.program === ''
      ? []
      : [{ name: PROGRAM_SECTION, content: outcome.program }]),
  ];
  const sections = children.length === 0 ? [] : sectionsPart([{ name: 'observation', children }]);
  return messageOf('user', [...sections, ...media]);
}

function sectionsPart(sections: readonly FormattedSection[]): readonly Part[] {
  return [{ type: 'sections', sections }];
}
