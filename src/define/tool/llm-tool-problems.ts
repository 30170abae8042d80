/** The checks of `llmTool`. */
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { shown } from '../../core/text/shown.ts';
import {
  expected,
  fieldProblems,
  unknownFields,
  type Fields,
  type Rules,
} from '../checks/fields.ts';
import { isText, range, TEXT } from '../checks/kinds.ts';
import { nameProblems } from '../checks/names.ts';
import { placeholderProblems, readTemplate } from '../checks/templates.ts';
import { modelProblems } from '../model/model-problems.ts';
import { defineSignature, hiddenFieldProblems } from '../schema/define-signature.ts';
import type { LlmToolOptions } from './llm-tool-options.ts';
import { APPROVAL_RULE, APPROVAL_TIMEOUT_RULE, CACHE_RULE } from './tool-problems.ts';

const QUESTION_FIELDS: Rules = {
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

const CALL_FIELDS: Rules = {
  cache: CACHE_RULE,
  approval: APPROVAL_RULE,
  approvalTimeoutMs: APPROVAL_TIMEOUT_RULE,
};

const NAMES = [...Object.keys(QUESTION_FIELDS), ...Object.keys(CALL_FIELDS)];

/** All problems of the options of an LLM tool, without the name of the tool in front. */
export function llmToolProblems(options: LlmToolOptions): readonly UsageProblem[] {
  return [
    ...fieldProblems(options, QUESTION_FIELDS, { code: 'number' }),
    ...fieldProblems(options, CALL_FIELDS, { code: 'number', of: `\`${String(options.name)}\`` }),
    ...unknownFields(options, NAMES, 'an LLM tool'),
  ];
}

function signatureProblems(given: unknown): readonly UsageProblem[] {
  if (given === undefined) {
    const what = 'a `signature` with the parameters of the tool';
    const advice = 'Add one, for example `(text :string) -> {label :string}`.';
    return [expected('bad_signature', what, 'none', advice)];
  }
  const defined = defineSignature(given as LlmToolOptions['signature']);
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
  const defined =
    signature === undefined ? undefined : defineSignature(signature as LlmToolOptions['signature']);
  if (reading.kind === 'problem') return [reading.problem];
  if (defined?.kind !== 'signature') return [];
  const params = defined.signature.params.map(({ name }) => name);
  return placeholderProblems(reading.names, params, params);
}
