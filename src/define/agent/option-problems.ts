/** Which options an agent may have: their names, and the modes to which they belong. */
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { shown } from '../../core/text/shown.ts';
import { expected, unknownFields, type Fields } from '../checks/fields.ts';
import { hasKind } from '../checks/kinds.ts';
import {
  COMMON_OPTIONS,
  MODE_OPTIONS,
  OLD_NAMES,
  PROGRAM_OPTIONS,
  type AgentOptions,
} from './agent-options.ts';
import { isDataMode, isProgramMode, modeName } from './mode-problems.ts';

const KNOWN_OPTIONS = [...COMMON_OPTIONS, ...Object.keys(MODE_OPTIONS)];

/** Old and unknown names, and options of other modes. */
export function optionProblems(options: AgentOptions): readonly UsageProblem[] {
  const mode = modeName(options);
  const values = options as unknown as Fields;
  const foreign = Object.entries(MODE_OPTIONS).filter(
    ([name, owners]) => values[name] !== undefined && !owners.some((owner) => owner === mode),
  );
  const refused = (name: string, where: string, advice: string): UsageProblem =>
    expected('mode_option', `no \`${name}\` in ${where}`, shownOption(values[name]), advice);
  const withoutPrograms = ['react', 'chat'].includes(mode) && !isProgramMode(options);
  // Each name is reported once; `askUser` in a data mode is reported with the mode.
  const reported = [
    ...Object.keys(OLD_NAMES),
    ...foreign.map(([name]) => name),
    ...(isDataMode(options) ? ['askUser'] : []),
  ];
  const rest = Object.fromEntries(
    Object.entries(values).filter(([name]) => !reported.includes(name)),
  );
  return [
    ...oldNameProblems(values),
    ...foreign.map(([name, owners]) =>
      refused(name, `mode \`${mode}\``, `Remove it, it belongs to ${modesText(owners)}.`),
    ),
    ...PROGRAM_OPTIONS.filter((name) => withoutPrograms && values[name] !== undefined).map((name) =>
      refused(name, `mode \`${mode}\` without programs`, 'Remove it, or add `programs: true`.'),
    ),
    ...unknownFields(rest, KNOWN_OPTIONS, 'an agent'),
  ];
}

function oldNameProblems(values: Fields): readonly UsageProblem[] {
  return Object.keys(values).flatMap((name) => {
    const renamed = Object.hasOwn(OLD_NAMES, name) ? OLD_NAMES[name] : undefined;
    if (renamed === undefined) return [];
    return [expected('old_name', `\`${renamed}\``, `its old name \`${name}\``, 'Rename it.')];
  });
}

/** `mode a`, `the modes a and b`, `the modes a, b and c`. */
function modesText(modes: readonly string[]): string {
  const names = modes.map((mode) => `\`${mode}\``);
  const last = names.at(-1) ?? '';
  return names.length < 2
    ? `mode ${last}`
    : `the modes ${names.slice(0, -1).join(', ')} and ${last}`;
}

/** What a factory returned is shown by its kind, since users do not know its fields. */
function shownOption(value: unknown): string {
  if (Array.isArray(value) && value.length > 0 && value.every((it) => hasKind(it, 'section'))) {
    return value.length === 1 ? 'a section' : `${value.length} sections`;
  }
  const { type } = Object(value ?? {}) as Fields;
  if (type === 'format' || type === 'toolchain') return `a ${type}`;
  if (hasKind(value, 'section')) return 'a section';
  return hasKind(value, 'answer') ? 'an answer' : shown(value);
}
