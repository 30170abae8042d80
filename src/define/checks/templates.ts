/** Checks of options that are templates. */
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { parseTemplate } from '../../core/template/parse-template.ts';
import { namesOf, type TemplateName } from '../../core/template/template.ts';
import { clip } from '../../core/text/cut.ts';
import { expected } from './fields.ts';

/** The longest reason that a message quotes, in characters. */
const MAX_REASON = 200;

/** The names that a template uses, or why it cannot be read. */
export type NamesReading =
  | { readonly kind: 'template'; readonly names: readonly TemplateName[] }
  | { readonly kind: 'problem'; readonly problem: UsageProblem };

/** Reads the template in option `what`. */
export function readTemplate(template: string, what: string): NamesReading {
  const reading = parseTemplate(template);
  if (reading.kind !== 'problem') return { kind: 'template', names: namesOf(reading.nodes) };
  const got = `one that cannot be read: ${clip(reading.message, MAX_REASON)}`;
  const problem = expected('bad_template', `${what} to be a template`, got, 'Correct it.');
  return { kind: 'problem', problem };
}

/**
 * A problem when the template of `prompt` uses a name that is not `known`. Names inside a section
 * may be fields of its value, so they are not checked. `params` are listed in the message.
 */
export function placeholderProblems(
  names: readonly TemplateName[],
  params: readonly string[],
  known: readonly string[],
): readonly UsageProblem[] {
  const unknown = names.filter(({ root, isOuter }) => isOuter && !known.includes(root));
  if (unknown.length === 0) return [];
  const listed = params.length === 0 ? 'there are none' : params.join(', ');
  const tags = [...new Set(unknown.map(({ tag }) => tag))].join(', ');
  const advice = 'Rename it or add the parameter.';
  return [
    expected('unknown_placeholder', `\`prompt\` to use parameters (${listed})`, tags, advice),
  ];
}
