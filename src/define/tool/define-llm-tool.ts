import { defined } from '../../core/base/defined.ts';
import type { LlmToolSpec, ToolSpec } from '../../core/contract/spec.ts';
import { parametersSchema } from '../../core/signature/json-schema.ts';
import { clip } from '../../core/text/cut.ts';
import { ToolError } from '../../core/base/tool-error.ts';
import { DEFAULT_LLM_TURNS, NO_ACTIVITY_FIELDS } from '../../core/toolchain/llm-query.ts';
import { usageErrorOf, type UsageProblem } from '../../core/base/usage-error.ts';
import {
  defineSignature,
  type DefinedSignature,
  hiddenFieldProblems,
  paramNames,
  type SignatureInput,
} from '../schema/define-signature.ts';
import type { ToolDefinition } from '../definition/definitions.ts';
import { modelOf, type AgentModel } from '../model/model-entry.ts';
import { unknownOptions } from '../../core/text/option-names.ts';
import { shown } from '../../core/text/shown.ts';
import { expected, fieldProblems, type Fields, type FieldRules } from '../checks/fields.ts';
import { isText, range, TEXT } from '../checks/kinds.ts';
import { nameProblems } from '../checks/names.ts';
import { placeholderProblems, readTemplate } from '../checks/templates.ts';
import { modelProblems } from '../model/model-problems.ts';
import {
  APPROVAL_RULE,
  APPROVAL_TIMEOUT_RULE,
  approvalSpec,
  CACHE_RULE,
  REPEATABLE_RULE,
} from './tool-problems.ts';
import type { JsonObject } from '../../core/base/json.ts';

/** Characters of the prompt that are used as the default description. */
const MAX_DESCRIPTION = 200;

/**
 * A tool that asks a model one question, inside the run that calls it. Its model calls count toward
 * the statistics and limits of that run, and its failure is an error of the tool.
 *
 * @throws UsageError with all problems of the options, a line each.
 * @example
 * const classify = llmTool({
 *   name: 'classify',
 *   prompt: 'Which label fits this review?\n{{review}}',
 *   signature: '(review :string) -> {label :string, score :float}',
 *   model: 'openai/gpt-5-mini',
 * });
 */
export function llmTool(options: LlmToolOptions): ToolDefinition {
  const problems = llmToolProblems(options);
  if (problems.length > 0) throw usageErrorOf(problems, `LLM tool \`${String(options.name)}\`: `);
  const reading = defineSignature(options.signature);
  // `llmToolProblems` has refused these; the compiler does not know.
  if (reading.kind === 'problems') throw usageErrorOf(reading.problems);
  const { signature } = reading;
  const model = options.model === undefined ? undefined : modelOf(options.name, options.model);
  const approval = options.approval as ToolDefinition['approval'] | 'always' | 'never';
  return defined({
    kind: 'tool',
    spec: toolSpec(options, signature, typeof model === 'object' ? model.id : model),
    standard: null,
    answer: signature.output?.standard ?? null,
    model,
    approval: typeof approval === 'function' ? approval : undefined,
    execute: notHere,
  });
}

/** Stands for the work of tools whose calls are questions to a model. */
export function notHere(): never {
  throw new ToolError('models are asked by the loop, no tool activity does it');
}

function toolSpec(
  options: LlmToolOptions,
  signature: DefinedSignature,
  model: string | undefined,
): ToolSpec {
  const { name, prompt } = options;
  const [line = ''] = prompt.trim().split('\n');
  return defined({
    name,
    description: options.description ?? clip(line, MAX_DESCRIPTION),
    parameters: parametersSchema(signature.params),
    ...NO_ACTIVITY_FIELDS,
    output: signature.output?.schema,
    cache: options.cache === true ? true : undefined,
    repeatable: options.repeatable === true ? true : undefined,
    ...approvalSpec(options),
    llm: llmSpec(options, signature, model),
  });
}

function llmSpec(
  { prompt, maxTurns = DEFAULT_LLM_TURNS }: LlmToolOptions,
  { params, output }: DefinedSignature,
  model: string | undefined,
): LlmToolSpec {
  const isJudged = output !== null && !isPlainText(output);
  return defined({
    prompt,
    params,
    output: isJudged ? { type: output.type, schema: output.schema } : undefined,
    model,
    maxTurns,
  });
}

/** Keywords that do not restrict a text. */
const WORDS: readonly string[] = ['type', 'title', 'description', '$schema'];

/** Whether any text is a valid answer, so that there is nothing to judge. */
function isPlainText({ type, schema, standard }: NonNullable<DefinedSignature['output']>): boolean {
  return (
    type.kind === 'string' &&
    standard === null &&
    Object.keys(schema).every((keyword) => WORDS.includes(keyword))
  );
}

const QUESTION_FIELDS: FieldRules = {
  name: (name) => nameProblems(name),
  signature: signatureProblems,
  prompt: promptProblems,
  description: {
    ...TEXT,
    wanted: 'to say what the tool does',
    code: 'tool_description',
    advice: 'Write a sentence, or leave it out.',
  },
  model: (model) => (model === undefined ? [] : modelProblems(model)),
  maxTurns: range(1),
};

const CALL_FIELDS: FieldRules = {
  cache: CACHE_RULE,
  repeatable: REPEATABLE_RULE,
  approval: APPROVAL_RULE,
  approvalTimeoutMs: APPROVAL_TIMEOUT_RULE,
};

const NAMES = [...Object.keys(QUESTION_FIELDS), ...Object.keys(CALL_FIELDS)];

/** All problems of the options of an LLM tool, without the name of the tool in front. */
function llmToolProblems(options: LlmToolOptions): readonly UsageProblem[] {
  return [
    ...fieldProblems(options, QUESTION_FIELDS, { code: 'number' }),
    ...fieldProblems(options, CALL_FIELDS, { code: 'number', of: `\`${String(options.name)}\`` }),
    ...unknownOptions(options, NAMES, 'an LLM tool'),
  ];
}

function signatureProblems(given: unknown): readonly UsageProblem[] {
  if (given === undefined) {
    const what = 'a `signature` with the parameters of the tool';
    const advice = 'Add one, for example `(text :string) -> {label :string}`.';
    return [expected('bad_signature', what, 'none', advice)];
  }
  const defined = defineSignature(given as SignatureInput);
  if (defined.kind === 'problems') return defined.problems;
  return hiddenFieldProblems(
    defined.signature,
    'in the signature of an LLM tool',
    'Rename them: its model sees them all.',
  );
}

function promptProblems(prompt: unknown, { signature }: Fields): readonly UsageProblem[] {
  if (!isText(prompt)) {
    const advice = 'Write what the model is asked.';
    return [expected('agent_prompt', '`prompt` to be a template', shown(prompt), advice)];
  }
  const reading = readTemplate(prompt, '`prompt`');
  if (reading.kind === 'problem') return [reading.problem];
  const params = signature === undefined ? undefined : paramNames(signature as SignatureInput);
  return params === undefined ? [] : placeholderProblems(reading.names, params, params);
}

/** The options of `llmTool`. */
export interface LlmToolOptions {
  /** 1 to 64 letters, digits, `_` or `-`, a letter first; unique in an agent. */
  readonly name: string;
  /**
   * Template of the question, filled in with the arguments. Arguments it does not use follow it.
   */
  readonly prompt: string;
  /**
   * The parameters and the result: `(text :string) -> {label :string}`, or schemas. With the output
   * `:string` or without one, the reply is the result. Otherwise the reply is checked and repaired.
   */
  readonly signature: SignatureInput;
  /** What it does, for the model that calls it. Default: the first line of the prompt. */
  readonly description?: string;
  /** The model that it asks. Default: the model of the run that calls it. */
  readonly model?: AgentModel;
  /** Maximum number of attempts for a checked answer, repairs included, from 1. Default 3. */
  readonly maxTurns?: number;
  /** True: the run keeps the newest 256 KB of answers, and an equal call gets the kept answer. */
  readonly cache?: boolean;
  /** True: equal calls with equal results do not end the run; see `defineTool`. Default false. */
  readonly repeatable?: boolean;
  /** Whether a person approves calls, as for any tool. A function gets the checked arguments. */
  readonly approval?: 'always' | 'never' | ((args: JsonObject) => boolean | Promise<boolean>);
  /** Milliseconds until a call without approval is denied. Default: it waits for ever. */
  readonly approvalTimeoutMs?: number;
}
