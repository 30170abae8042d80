import type { StageSpec } from '../../core/contract/spec.ts';
import { isPlainObject } from '../../core/base/json.ts';
import { parseTemplate } from '../../core/template/parse-template.ts';
import { clip } from '../../core/text/cut.ts';
import { shown } from '../../core/text/shown.ts';
import { equalOptions, MAX_OPTIONS, MAX_TIMEOUT_MS } from '../../core/toolchain/ask-user.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { hasKind } from '../checks/has-kind.ts';
import { unknownFields } from '../checks/unknown-fields.ts';

/** The options of {@link humanStep}. */
export interface HumanStepOptions {
  /** A template over the context: `Publish "{{title}}"?` */
  readonly question: string;
  /** Choices, of which the answer is one. Default: any text is an answer. */
  readonly options?: readonly string[];
  /** How long the person has; then the pipeline ends. Default: as long as it takes. */
  readonly timeoutMs?: number;
}

/** A question to a person as a stage of a pipeline; made by {@link humanStep}. */
export interface HumanStep {
  readonly kind: 'human-step';
  readonly spec: Extract<StageSpec, { readonly kind: 'human' }>;
  /** What is wrong with it; reported by `pipeline` together with all else. */
  readonly problems: readonly UsageProblem[];
}

const FIELDS: readonly (keyof HumanStepOptions)[] = ['question', 'options', 'timeoutMs'];

/**
 * A stage that asks a person and waits for the answer, which joins the context as `answer`.
 *
 * @example
 * const approval = humanStep({ question: 'Send this?\n{{letter}}', options: ['yes', 'no'] });
 */
export function humanStep(options: HumanStepOptions): HumanStep {
  const given: HumanStepOptions = isPlainObject(options) ? options : { question: '' };
  const { question, options: choices, timeoutMs } = given;
  return {
    kind: 'human-step',
    spec: {
      kind: 'human',
      question,
      ...(choices === undefined ? {} : { options: choices }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    },
    problems: isPlainObject(options) ? optionProblems(given) : [noOptions(options)],
  };
}

/** Whether {@link humanStep} made `value`. */
export function isHumanStep(value: unknown): value is HumanStep {
  return isPlainObject(value) && hasKind(value, 'human-step');
}

function noOptions(got: unknown): UsageProblem {
  const message = `Expected options of \`humanStep\`, got ${shown(got)}. Write it as humanStep({ question }).`;
  return { code: 'human_step', message };
}

function optionProblems({
  question,
  options,
  timeoutMs,
  ...others
}: HumanStepOptions): readonly UsageProblem[] {
  const problem = (field: string, wanted: string, got: unknown): UsageProblem => ({
    code: 'human_step',
    message: `Expected \`${field}\` of \`humanStep\` to be ${wanted}, got ${shown(got)}. Change it.`,
  });
  const isTime =
    timeoutMs === undefined ||
    (Number.isSafeInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS);
  return [
    ...questionProblems(question, problem),
    ...(options === undefined || areChoices(options)
      ? []
      : [problem('options', `a list of 1 to ${MAX_OPTIONS} different texts`, options)]),
    ...(isTime
      ? []
      : [problem('timeoutMs', `a whole number from 1 to ${MAX_TIMEOUT_MS}`, timeoutMs)]),
    ...unknownFields(others, FIELDS, '`humanStep`'),
  ];
}

function questionProblems(
  question: unknown,
  problem: (field: string, wanted: string, got: unknown) => UsageProblem,
): readonly UsageProblem[] {
  if (typeof question !== 'string' || question.trim() === '') {
    return [problem('question', 'a text', question)];
  }
  const reading = parseTemplate(question);
  if (reading.kind !== 'problem') return [];
  const message = `Expected \`question\` of \`humanStep\` to be a template, got one that cannot be read: ${clip(reading.message, 200)}. Correct it.`;
  return [{ code: 'bad_template', message }];
}

function areChoices(options: unknown): boolean {
  return (
    Array.isArray(options) &&
    options.length >= 1 &&
    options.length <= MAX_OPTIONS &&
    options.every((option) => typeof option === 'string' && option.trim() !== '') &&
    equalOptions(options as readonly string[]) === null
  );
}
