/** What the end of a program means for the answer, wherever programs give answers. */
import { defined } from '../base/defined.ts';
import type { Json } from '../base/json.ts';
import type { Candidate, Judgement } from '../contract/judgement.ts';
import type { ProgramError, ProgramReport } from '../contract/report.ts';
import type { AgentSpec } from '../contract/spec.ts';
import { alignValue } from '../signature/align-value.ts';
import { judgementFeedback } from '../termination/feedback.ts';
import { clip } from '../text/cut.ts';
import type { Exhaustion } from './mode.ts';
import { plainText } from './plain-messages.ts';

/** Characters of a reason that a program gives itself. */
const MAX_REASON = 200;

/** The value of a program, as a candidate for the answer. */
export function candidateOf(
  { answer: { output } }: AgentSpec,
  { value, notJson }: Pick<ProgramReport, 'value' | 'notJson'>,
): Candidate {
  if (value !== undefined) {
    return { kind: 'value', value: output === undefined ? value : alignValue(output, value) };
  }
  const { path = '', message = 'The value has no JSON form.' } = notJson ?? {};
  return {
    kind: 'unreadable',
    problems: [{ code: 'not_json', message, ...defined({ path: path || undefined }) }],
  };
}

/** Why an answer was not accepted: a line for each problem. */
export function problemLines(judgement: Judgement): readonly string[] {
  if (judgement.kind === 'unfit') return judgement.lines;
  const text = plainText(judgementFeedback(judgement, ''));
  return text === '' ? [] : [text];
}

/** How a run ends if its program gave a value that is not an answer. */
export function rejectionOf({ value = null }: ProgramReport, judgement: Judgement): Exhaustion {
  const problems = problemLines(judgement);
  const cause = `no answer could be used: ${problems[0] ?? 'the answer was not accepted'}`;
  return { code: 'validation_error', cause, details: { problems, value } };
}

/** How a run ends if its program called `fail`. */
export function refusalOf({ value, preview, isEmpty }: ProgramReport): Exhaustion {
  const given = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  const { reason, message } = given as { readonly reason?: Json; readonly message?: Json };
  const hasReason = typeof reason === 'string' && reason.trim() !== '';
  const printed = isEmpty ? 'nil' : preview;
  return defined({
    code: hasReason ? clip(reason, MAX_REASON) : 'failed',
    cause: hasReason && typeof message === 'string' ? message : printed,
    details: value,
    isVerbatim: true as const,
  });
}

/** The error of a program that ended as `error`. */
export function errorOf({ error }: ProgramReport): Pick<ProgramError, 'reason' | 'message'> {
  return error ?? { reason: 'internal', message: '' };
}
