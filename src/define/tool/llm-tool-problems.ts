/** What is wrong with the options of an LLM tool, all of it. */
import { hiddenFields } from '../../core/contract/signature.ts';
import { parseTemplate } from '../../core/template/parse-template.ts';
import { namesOf } from '../../core/template/template.ts';
import { shown } from '../../core/text/shown.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { modelProblems } from '../model/model-of.ts';
import { defineSignature, type DefinedSignature } from '../schema/define-signature.ts';
import type { LlmToolOptions } from './llm-tool-options.ts';
import { approvalProblems, cacheProblems, nameProblems, numberProblems } from './tool-problems.ts';
import { unknownFields } from '../checks/unknown-fields.ts';

const FIELDS: readonly (keyof LlmToolOptions)[] = [
  'name',
  'prompt',
  'signature',
  'description',
  'model',
  'maxTurns',
  'cache',
  'approval',
  'approvalTimeoutMs',
];

/** All problems, without the name of the tool in front. */
export function llmToolProblems(options: LlmToolOptions): readonly UsageProblem[] {
  const { name, signature, model, cache } = options;
  const given: unknown = signature;
  const defined = given === undefined ? undefined : defineSignature(signature);
  return [
    ...nameProblems(name),
    ...signatureProblems(defined),
    ...promptProblems(options, defined?.kind === 'signature' ? defined.signature : null),
    ...descriptionProblems(options),
    ...(model === undefined ? [] : modelProblems(model)),
    ...turnProblems(options),
    ...cacheProblems({ name, ...(cache === undefined ? {} : { cache }) }),
    ...approvalProblems(options),
    ...numberProblems({ name, ...waitOf(options) }),
    ...unknownFields(options, FIELDS, 'an LLM tool'),
  ];
}

function signatureProblems(
  defined: ReturnType<typeof defineSignature> | undefined,
): readonly UsageProblem[] {
  if (defined === undefined) {
    const message =
      'Expected a `signature` with the parameters of the tool, got none. Add one, for example `(text :string) -> {label :string}`.';
    return [{ code: 'bad_signature', message }];
  }
  if (defined.kind === 'problems') return defined.problems;
  const { params, output } = defined.signature;
  const result = output === null ? [] : [{ name: 'output', type: output.type }];
  const hidden = hiddenFields([...params, ...result]);
  if (hidden.length === 0) return [];
  const names = hidden.map((field) => `\`${field}\``).join(', ');
  const message = `Expected no hidden fields in the signature of an LLM tool, got ${names}. Rename them: its model sees them all.`;
  return [{ code: 'hidden_field', message }];
}

function promptProblems(
  { prompt }: LlmToolOptions,
  signature: DefinedSignature | null,
): readonly UsageProblem[] {
  const given: unknown = prompt;
  if (typeof given !== 'string' || given.trim() === '') {
    const message = `Expected \`prompt\` to be a template, got ${shown(given)}. Write what the model is asked.`;
    return [{ code: 'agent_prompt', message }];
  }
  const reading = parseTemplate(given);
  if (reading.kind === 'problem') {
    const message = `Expected \`prompt\` to be a template, got one that cannot be read: ${reading.message}. Correct it.`;
    return [{ code: 'bad_template', message }];
  }
  if (signature === null) return [];
  const params = signature.params.map(({ name }) => name);
  const unknown = namesOf(reading.nodes).filter(
    ({ root, isOuter }) => isOuter && !params.includes(root),
  );
  if (unknown.length === 0) return [];
  const tags = [...new Set(unknown.map(({ tag }) => tag))].join(', ');
  const names = params.length === 0 ? 'there are none' : params.join(', ');
  const message = `Expected \`prompt\` to use parameters (${names}), got ${tags}. Rename it or add the parameter.`;
  return [{ code: 'unknown_placeholder', message }];
}

function descriptionProblems({ description }: LlmToolOptions): readonly UsageProblem[] {
  const given: unknown = description;
  if (given === undefined || (typeof given === 'string' && given.trim() !== '')) return [];
  const message = `Expected \`description\` to say what the tool does, got ${shown(given)}. Write a sentence, or leave it out.`;
  return [{ code: 'tool_description', message }];
}

function waitOf({ approvalTimeoutMs }: LlmToolOptions): { readonly approvalTimeoutMs?: number } {
  return approvalTimeoutMs === undefined ? {} : { approvalTimeoutMs };
}

function turnProblems({ maxTurns }: LlmToolOptions): readonly UsageProblem[] {
  if (maxTurns === undefined || (Number.isSafeInteger(maxTurns) && maxTurns >= 1)) return [];
  const message = `Expected \`maxTurns\` from 1 up, got ${shown(maxTurns)}. Change it.`;
  return [{ code: 'number', message }];
}
