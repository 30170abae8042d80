import { defined } from '../../core/base/defined.ts';
import type { StageSpec } from '../../core/contract/spec.ts';
import { isPlainObject } from '../../core/base/json.ts';
import { shown } from '../../core/text/shown.ts';
import { equalOptions, MAX_OPTIONS, MAX_TIMEOUT_MS } from '../../core/toolchain/ask-user.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { expected, fieldProblems, type FieldRules } from '../checks/fields.ts';
import { hasKind, isText, isWhole, TEXT, wholeNumber } from '../checks/kinds.ts';
import { readTemplate } from '../checks/templates.ts';

/** The options of {@link humanStep}. */
export interface HumanStepOptions {
  /** A template over the context: `Publish "{{title}}"?` */
  readonly question: string;
  /** Choices; the answer must be one of them. Default: any text is an answer. */
  readonly options?: readonly string[];
  /** Milliseconds until the pipeline ends without an answer. Default: it waits for ever. */
  readonly timeoutMs?: number;
}

/** A question to a person as a stage of a pipeline; made by {@link humanStep}. */
export interface HumanStep {
  readonly kind: 'human-step';
  readonly spec: Extract<StageSpec, { readonly kind: 'human' }>;
  /** Its problems; `pipeline` reports them. */
  readonly problems: readonly UsageProblem[];
}

const FIELDS: FieldRules<keyof HumanStepOptions> = {
  question: [{ ...TEXT, required: true }, (question) => templateProblems(String(question))],
  options: { wanted: `to be a list of 1 to ${MAX_OPTIONS} different texts`, fits: areChoices },
  timeoutMs: wholeNumber(1, MAX_TIMEOUT_MS),
};

/**
 * A stage that asks a person and waits for the answer, which is `answer` in the context of the next
 * stage.
 *
 * @example
 * const approval = humanStep({ question: 'Send this?\n{{letter}}', options: ['yes', 'no'] });
 */
export function humanStep(options: HumanStepOptions): HumanStep {
  const given: HumanStepOptions = isPlainObject(options) ? options : { question: '' };
  const { question, options: choices, timeoutMs } = given;
  return {
    kind: 'human-step',
    spec: defined({ kind: 'human', question, options: choices, timeoutMs }),
    problems: optionProblems(options),
  };
}

/** Whether {@link humanStep} made `value`. */
export function isHumanStep(value: unknown): value is HumanStep {
  return isPlainObject(value) && hasKind(value, 'human-step');
}

function optionProblems(options: unknown): readonly UsageProblem[] {
  if (!isPlainObject(options)) {
    const advice = 'Write it as humanStep({ question }).';
    return [expected('human_step', 'options of `humanStep`', shown(options), advice)];
  }
  const of = '`humanStep`';
  return fieldProblems(options, FIELDS, { code: 'human_step', of, owner: of });
}

function templateProblems(question: string): readonly UsageProblem[] {
  const reading = readTemplate(question, '`question` of `humanStep`');
  return reading.kind === 'problem' ? [reading.problem] : [];
}

function areChoices(options: unknown): boolean {
  return (
    Array.isArray(options) &&
    isWhole(options.length, 1, MAX_OPTIONS) &&
    options.every(isText) &&
    equalOptions(options) === null
  );
}
