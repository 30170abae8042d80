/** Feedback to the model about a reply that could not be used. */
import type { FormattedSection } from '../base/message.ts';
import type { ReplyProblem } from '../base/problem.ts';
import type { Judgement } from '../contract/judgement.ts';

/** The names that feedback uses: those of the agent's sections. */
export interface FeedbackNames {
  /** All sections of a reply, in order. */
  readonly sections: readonly string[];
  /** Null if the agent has no tools. */
  readonly action: string | null;
  readonly answer: string;
}

/** An `error` section, the usual form of feedback. */
export function errorSection(content: string): FormattedSection {
  return { name: 'error', content };
}

/** `head`, then `- {line}` for each line. */
function withLines(head: string, lines: readonly string[]): string {
  return [head, ...lines.map((line) => `- ${line}`)].join('\n');
}

/** Why the reply as a whole could not be read; `problem` is one of a format, or `empty_turn`. */
export function explainReply(problem: ReplyProblem, names: FeedbackNames): string {
  const sections = names.sections.join(', ');
  switch (problem.code) {
    case 'no_sections':
      return `Your reply could not be read: it has none of the sections ${sections}. Write it again as described under output_format.`;
    case 'empty_turn':
      return names.action === null
        ? `Your reply holds no answer. Finish in the ${names.answer} section.`
        : `Your reply holds neither an action nor an answer. Act in the ${names.action} section, or finish in the ${names.answer} section.`;
    case 'truncated_reply': {
      const inside = problem.path === undefined ? '' : ` inside the section ${problem.path}`;
      return `Your reply was cut off by the length limit${inside}. Nothing in it was run. Write less and work in steps.`;
    }
    case 'ambiguous_sections':
      return `Your reply mixes sections: ${problem.message}. Close one before you open the next.`;
    case 'unknown_section':
      return `${capitalised(problem.message)}. The sections are ${sections}.`;
    default:
      return `Your reply could not be read: ${problem.message}.`;
  }
}

/** Calls and a program in one reply. */
export const actionAndProgram: ReplyProblem = {
  code: 'action_and_program',
  message: 'Write either an action or a program in one step, not both. Nothing was run.',
};

/** More than one program in a reply. */
export const severalPrograms: ReplyProblem = {
  code: 'several_programs',
  message: 'Write one program per step. Nothing was run.',
};

/** Why no call or program of the reply was run. */
export function explainCalls(problems: readonly ReplyProblem[]): string {
  const [first] = problems;
  const own = [actionAndProgram, severalPrograms].find(({ code }) => code === first?.code);
  if (own !== undefined) return own.message;
  return withLines('The action could not be read, nothing was run.', messagesOf(problems));
}

/** Why a structured section has no value. */
export function explainSection(name: string, lines: readonly string[]): string {
  return withLines(`The section ${name} could not be read.`, lines);
}

/** Why no answer could be used; `lastLine` says what to do next. */
export function explainUnfit(lines: readonly string[], lastLine: string): string {
  return `${withLines('The answer could not be used.', lines)}\n${lastLine}`;
}

/** The last line of {@link explainUnfit} in sections. */
export function rewriteSection(answer: string): string {
  return `Write the ${answer} section again.`;
}

/** The sections for a judgement; none for `continue` and `accepted`. */
export function judgementFeedback(
  judgement: Judgement,
  lastLine: string,
): readonly FormattedSection[] {
  switch (judgement.kind) {
    case 'continue':
    case 'accepted':
      return [];
    case 'unfit':
      return [errorSection(explainUnfit(judgement.lines, lastLine))];
    case 'rejected':
      return judgement.feedback.length === 0 ? [notAccepted] : judgement.feedback;
  }
}

/** The text of a rejection if the validator gave no feedback. */
const notAccepted: FormattedSection = {
  name: 'feedback',
  content: 'The answer was not accepted. Improve it and answer again.',
};

/** The messages of `problems`, as lines of feedback. */
export function messagesOf(problems: readonly ReplyProblem[]): readonly string[] {
  return problems.map((problem) => problem.message);
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
