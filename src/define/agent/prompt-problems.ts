/** The checks of the template of the task. */
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { shown } from '../../core/text/shown.ts';
import { expected } from '../checks/fields.ts';
import { isText } from '../checks/kinds.ts';
import { placeholderProblems, readTemplate } from '../checks/templates.ts';
import { paramNames } from '../schema/define-signature.ts';
import type { AgentOptions } from './agent-options.ts';
import { modeName } from './mode-problems.ts';

/** All problems of the option `prompt`. */
export function promptProblems(options: AgentOptions): readonly UsageProblem[] {
  const prompt: unknown = options.prompt;
  const mode = modeName(options);
  if (prompt === undefined || (typeof prompt === 'function' && mode === 'react')) return [];
  if (typeof prompt === 'function') {
    const advice = 'Remove it, it belongs to mode `react`.';
    return [expected('mode_option', `no \`prompt\` in mode \`${mode}\``, 'a function', advice)];
  }
  if (!isText(prompt)) {
    const what = '`prompt` to be a template, or in mode `react` a function that returns messages';
    return [expected('agent_prompt', what, shown(prompt), 'Write a text such as `{{task}}`.')];
  }
  const reading = readTemplate(prompt, '`prompt`');
  if (reading.kind === 'problem') return [reading.problem];
  const params = paramsOf(options);
  const section = mode === 'lisp' ? reading.names.find(({ isSection }) => isSection) : undefined;
  return [
    ...(section === undefined ? [] : [sectionInLisp(section.tag)]),
    // Without parameters the template may name any key of the context.
    ...(params.length === 0 ? [] : placeholderProblems(reading.names, params, [...params, 'task'])),
  ];
}

function sectionInLisp(tag: string): UsageProblem {
  const advice = 'Name the data, the program walks it itself.';
  return expected('section_in_lisp', 'no sections in `prompt` of mode `lisp`', tag, advice);
}

/** The names of the parameters of the signature; mode `text` ignores it. */
function paramsOf(options: AgentOptions): readonly string[] {
  const { signature } = options;
  if (signature === undefined || modeName(options) === 'text') return [];
  return paramNames(signature) ?? [];
}
