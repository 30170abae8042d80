/** Which options an agent may have: names, and the modes to which they belong. */
import { shown } from '../../core/text/shown.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import {
  COMMON_OPTIONS,
  MODE_OPTIONS,
  OLD_NAMES,
  PROGRAM_OPTIONS,
  type AgentOptions,
} from './agent-options.ts';
import { hasKind } from '../checks/has-kind.ts';
import { isProgramMode, modeName } from './mode-problems.ts';
import { unknownFields } from '../checks/unknown-fields.ts';

/** Old and unknown names, and options of other modes. */
export function optionProblems(options: AgentOptions): readonly UsageProblem[] {
  const mode = modeName(options);
  const values = options as unknown as { readonly [name: string]: unknown };
  const foreign = Object.entries(MODE_OPTIONS).filter(
    ([name, owners]) => values[name] !== undefined && !owners.some((owner) => owner === mode),
  );
  const ofOtherModes = foreign.map(([name, owners]): UsageProblem => {
    const owner = listed(owners.map((it) => `\`${it}\``));
    const modes = owners.length === 1 ? `mode ${owner}` : `the modes ${owner}`;
    const message = `Expected no \`${name}\` in mode \`${mode}\`, got ${shownOption(values[name])}. Remove it, it belongs to ${modes}.`;
    return { code: 'mode_option', message };
  });
  const withoutPrograms = PROGRAM_OPTIONS.filter(
    (name) =>
      values[name] !== undefined &&
      (mode === 'react' || mode === 'chat') &&
      !isProgramMode(options),
  ).map((name): UsageProblem => {
    const message = `Expected no \`${name}\` in mode \`${mode}\` without programs, got ${shownOption(values[name])}. Remove it, or add \`programs: true\`.`;
    return { code: 'mode_option', message };
  });
  const old = Object.keys(values).flatMap((name): readonly UsageProblem[] => {
    const renamed = Object.hasOwn(OLD_NAMES, name) ? OLD_NAMES[name] : undefined;
    if (renamed === undefined) return [];
    const message = `Expected \`${renamed}\`, got its old name \`${name}\`. Rename it.`;
    return [{ code: 'old_name', message }];
  });
  const known = [...COMMON_OPTIONS, ...Object.keys(MODE_OPTIONS)];
  // What was told about is not told about twice.
  const told = [
    ...Object.keys(OLD_NAMES),
    ...foreign.map(([name]) => name),
    ...(mode === 'json' || mode === 'text' ? ['askUser'] : []),
  ];
  const rest = Object.fromEntries(Object.entries(values).filter(([name]) => !told.includes(name)));
  return [...old, ...ofOtherModes, ...withoutPrograms, ...unknownFields(rest, known, 'an agent')];
}

/** `a`, `a and b`, `a, b and c`. */
function listed(names: readonly string[]): string {
  return names.length < 2
    ? names.join('')
    : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
}

/** What factories return is shown by its kind: users know it as a call, not as a record. */
function shownOption(value: unknown): string {
  if (Array.isArray(value) && value.length > 0 && value.every((it) => hasKind(it, 'section'))) {
    return value.length === 1 ? 'a section' : `${value.length} sections`;
  }
  if (typeof value !== 'object' || value === null) return shown(value);
  const { type, kind } = value as { readonly type?: unknown; readonly kind?: unknown };
  if (type === 'format' || type === 'toolchain') return `a ${type}`;
  if (kind === 'section') return 'a section';
  return kind === 'answer' ? 'an answer' : shown(value);
}
