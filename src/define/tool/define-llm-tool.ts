import { defined } from '../../core/base/defined.ts';
import type { LlmToolSpec, ToolSpec } from '../../core/contract/spec.ts';
import { parametersSchema } from '../../core/signature/json-schema.ts';
import { clip } from '../../core/text/cut.ts';
import { ToolError } from '../../core/base/tool-error.ts';
import {
  DEFAULT_LLM_TURNS,
  LLM_QUERY_TOOL,
  NO_ACTIVITY_FIELDS,
} from '../../core/toolchain/llm-query.ts';
import { usageErrorOf } from '../../core/base/usage-error.ts';
import { defineSignature, type DefinedSignature } from '../schema/define-signature.ts';
import type { AgentDefinition, ToolDefinition } from '../definition/definitions.ts';
import { modelOf } from '../model/model-entry.ts';
import type { LlmToolOptions } from './llm-tool-options.ts';
import { llmToolProblems } from './llm-tool-problems.ts';

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

/** The built-in tool `llm_query` of an agent, or undefined when it has none. */
export function llmQueryTool({ spec }: Pick<AgentDefinition, 'spec'>): ToolDefinition | undefined {
  const query = spec.tools.find(({ name }) => name === LLM_QUERY_TOOL);
  return query === undefined
    ? undefined
    : { kind: 'tool', spec: query, standard: null, execute: notHere };
}

function notHere(): never {
  throw new ToolError('models are asked by the loop, no tool activity does it');
}

function toolSpec(
  options: LlmToolOptions,
  signature: DefinedSignature,
  model: string | undefined,
): ToolSpec {
  const { name, prompt, approval = 'never', approvalTimeoutMs } = options;
  const [line = ''] = prompt.trim().split('\n');
  return defined({
    name,
    description: options.description ?? clip(line, MAX_DESCRIPTION),
    parameters: parametersSchema(signature.params),
    ...NO_ACTIVITY_FIELDS,
    output: signature.output?.schema,
    cache: options.cache === true ? true : undefined,
    approval:
      typeof approval === 'function' ? 'function' : approval === 'always' ? approval : undefined,
    approvalTimeoutMs,
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
