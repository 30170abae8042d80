import { defined } from '../../core/base/defined.ts';
import { usageErrorOf } from '../../core/base/usage-error.ts';
import { fieldProblems, type FieldRules } from '../checks/fields.ts';
import { FUNCTION, SWITCH } from '../checks/kinds.ts';
import { nameProblems } from '../checks/names.ts';
import type {
  ReportContext,
  ValidatorDefinition,
  ValidatorVerdict,
} from '../definition/definitions.ts';

/** The options of {@link defineValidator}. */
export interface ValidatorOptions<Answer> {
  /** 1 to 64 letters, digits, `_` or `-`, a letter first; unique in an agent. */
  readonly name: string;
  /** True: `context.context` is the context of the run. Default false. */
  readonly readsContext?: boolean;
  /**
   * Decides whether an answer is accepted. The answer is a text, or the checked value of a JSON
   * answer. If it throws, it is called again; after the last attempt the run fails with
   * `validator_failed`.
   */
  readonly validate: (
    answer: Answer,
    context: ReportContext,
  ) => ValidatorVerdict | Promise<ValidatorVerdict>;
}

const FIELDS: FieldRules<keyof ValidatorOptions<unknown>> = {
  name: (name) => nameProblems(name, 'validator'),
  readsContext: SWITCH,
  validate: { ...FUNCTION, required: true, advice: 'Write the function that judges.' },
};

/**
 * Defines a validator of answers. Validators run in order, until one rejects the answer.
 *
 * @throws UsageError with all problems of the options, a line each.
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
  const { name } = options;
  const of = `\`${name}\``;
  const naming = { code: 'validator_function', of, owner: `validator ${of}` } as const;
  const problems = fieldProblems(options, FIELDS, naming);
  if (problems.length > 0) throw usageErrorOf(problems);
  const readsContext = options.readsContext === true ? (true as const) : undefined;
  return { kind: 'validator', name, ...defined({ readsContext }), validate: options.validate };
}
