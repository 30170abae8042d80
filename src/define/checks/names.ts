/** The rule for names of agents, pipelines, tools and validators. */
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { expected, shownName } from './fields.ts';

/** Names of tools that Everloop has, or will have. */
const RESERVED_TOOL_NAMES: readonly string[] = [
  'tool_registry_search',
  'ask_user',
  'respond',
  'return',
  'fail',
  'lisp_eval',
  'llm_query',
];

/** Whether `name` is 1 to 64 letters, digits, `_` or `-`, a letter first. */
export function isName(name: unknown): name is string {
  return typeof name === 'string' && /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name);
}

/** The problems of a name. */
export function nameProblems(
  name: unknown,
  noun: 'agent' | 'pipeline' | 'tool' | 'validator' = 'tool',
): readonly UsageProblem[] {
  if (!isName(name)) {
    const what = `${noun === 'agent' ? 'an' : 'a'} ${noun} name of 1 to 64 letters, digits, \`_\` or \`-\` that starts with a letter`;
    return [expected(`${noun}_name`, what, shownName(name), 'Rename it.')];
  }
  if (noun !== 'tool' || !RESERVED_TOOL_NAMES.includes(name.replaceAll('-', '_'))) return [];
  return [expected('reserved_name', 'a free tool name', `the built-in \`${name}\``, 'Rename it.')];
}
