/** What is wrong with the template of the task and with the texts about fields and context. */
import { isPlainObject } from '../../core/base/json.ts';
import { parseTemplate } from '../../core/template/parse-template.ts';
import { namesOf, type TemplateName } from '../../core/template/template.ts';
import { shown } from '../../core/text/shown.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import type { AgentOptions } from './agent-options.ts';
import { defineSignature } from '../schema/define-signature.ts';
import { modeName } from './mode-problems.ts';

/** Problems of `prompt`, `fieldDescriptions` and `contextDescriptions`. */
export function promptProblems(options: AgentOptions): readonly UsageProblem[] {
  return [
    ...templateProblems(options),
    ...descriptionProblems('fieldDescriptions', options.fieldDescriptions),
    ...descriptionProblems('contextDescriptions', options.contextDescriptions),
  ];
}

function templateProblems(options: AgentOptions): readonly UsageProblem[] {
  const prompt: unknown = options.prompt;
  if (prompt === undefined) return [];
  if (typeof prompt === 'function') {
    const mode = modeName(options);
    const message = `Expected no \`prompt\` in mode \`${mode}\`, got a function. Remove it, it belongs to mode \`react\`.`;
    return mode === 'react' ? [] : [{ code: 'mode_option', message }];
  }
  if (typeof prompt !== 'string' || prompt.trim() === '') {
    const message = `Expected \`prompt\` to be a template, or in mode \`react\` a function that returns messages, got ${shown(prompt)}. Write a text such as \`{{task}}\`.`;
    return [{ code: 'agent_prompt', message }];
  }
  const reading = parseTemplate(prompt);
  if (reading.kind === 'problem') {
    const message = `Expected \`prompt\` to be a template, got one that cannot be read: ${reading.message}. Correct it.`;
    return [{ code: 'bad_template', message }];
  }
  const names = namesOf(reading.nodes);
  return [...sectionProblems(options, names), ...placeholderProblems(options, names)];
}

function sectionProblems(
  options: AgentOptions,
  names: readonly TemplateName[],
): readonly UsageProblem[] {
  const section = names.find(({ isSection }) => isSection);
  if (modeName(options) !== 'lisp' || section === undefined) return [];
  const message = `Expected no sections in \`prompt\` of mode \`lisp\`, got ${section.tag}. Name the data, the program walks it itself.`;
  return [{ code: 'section_in_lisp', message }];
}

/** With parameters, what the template names is one of them; inside a section it may be a field of one. */
function placeholderProblems(
  options: AgentOptions,
  names: readonly TemplateName[],
): readonly UsageProblem[] {
  const defined = options.signature === undefined ? undefined : defineSignature(options.signature);
  if (defined?.kind !== 'signature' || modeName(options) === 'text') return [];
  const params = defined.signature.params.map(({ name }) => name);
  if (params.length === 0) return [];
  const known = [...params, 'task'];
  const unknown = names.filter(({ root, isOuter }) => isOuter && !known.includes(root));
  if (unknown.length === 0) return [];
  const tags = [...new Set(unknown.map(({ tag }) => tag))].join(', ');
  const message = `Expected \`prompt\` to use parameters (${params.join(', ')}), got ${tags}. Rename it or add the parameter.`;
  return [{ code: 'unknown_placeholder', message }];
}

function descriptionProblems(field: string, value: unknown): readonly UsageProblem[] {
  const fits =
    value === undefined ||
    (isPlainObject(value) && Object.values(value).every((text) => typeof text === 'string'));
  if (fits) return [];
  const message = `Expected \`${field}\` to be texts by name, got ${shown(value)}. Write it as { name: 'text' }.`;
  return [{ code: 'agent_text', message }];
}
