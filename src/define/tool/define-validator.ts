import { usageErrorOf, type UsageProblem } from '../../core/base/usage-error.ts';
import { shown } from '../../core/text/shown.ts';
import type {
  ReportContext,
  ValidatorDefinition,
  ValidatorVerdict,
} from '../definition/definitions.ts';
import { nameProblems } from './tool-problems.ts';
import { unknownFields } from '../checks/unknown-fields.ts';

/** The options of {@link defineValidator}. */
export interface ValidatorOptions<Answer> {
  /** As names of tools; unique in an agent. */
  readonly name: string;
  /**
   * Says whether an answer is good enough. A throw is retried; at last it fails the run with
   * `validator_failed`. The answer is a text, or the checked value of a JSON answer.
   */
  readonly validate: (
    answer: Answer,
    context: ReportContext,
  ) => ValidatorVerdict | Promise<ValidatorVerdict>;
}

/**
 * A judge of answers that agents can use; the first that rejects stops the judging.
 *
 * @throws UsageError with all that is wrong with the options.
 * @example
 * const short = defineValidator({
 *   name: 'short',
 *   validate: (answer: string) =>
 *     answer.length <= 280 ? { accepted: true } : { accepted: false, feedback: 'Too long.' },
 * });
 */
export function defineValidator<Answer = unknown>(
  options: ValidatorOptions<Answer>,
): ValidatorDefinition<Answer> {
  const problems: UsageProblem[] = [...nameProblems(options.name, 'validator')];
  if (typeof options.validate !== 'function') {
    const message = `Expected \`validate\` of \`${options.name}\` to be a function, got ${shown(options.validate)}. Write the function that judges.`;
    problems.push({ code: 'validator_function', message });
  }
  problems.push(...unknownFields(options, ['name', 'validate'], `validator \`${options.name}\``));
  if (problems.length > 0) throw usageErrorOf(problems);
  return { kind: 'validator', name: options.name, validate: options.validate };
}
