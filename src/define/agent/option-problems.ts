/** The checks of an agent's options: their names and modes, the layout of replies, the prompt. */
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { unknownOptions } from '../../core/text/option-names.ts';
import { shown } from '../../core/text/shown.ts';
import { expected, type Fields, fieldProblems, type FieldRules } from '../checks/fields.ts';
import { hasKind, listOf, isText } from '../checks/kinds.ts';
import {
  AGENT_DEFAULTS,
  COMMON_OPTIONS,
  MODE_OPTIONS,
  OTHER_NAMES,
  PROGRAM_OPTIONS,
  type ListedOptions,
} from './agent-options.ts';
import { isDataMode, isProgramMode, modeName } from './mode-problems.ts';
import { isOwnName } from '../../core/extension/own-parts.ts';
import { checkSectionNames } from '../../core/format/format.ts';
import { chosenAnswer, chosenToolchain, SECTION_NAMES } from './reply-layout.ts';
import { placeholderProblems, readTemplate } from '../checks/templates.ts';
import { paramNames } from '../schema/define-signature.ts';

const KNOWN_OPTIONS = [...COMMON_OPTIONS, ...Object.keys(MODE_OPTIONS)];

/** Old and unknown names, and options of other modes. */
export function optionProblems(options: ListedOptions): readonly UsageProblem[] {
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
    ...Object.keys(OTHER_NAMES),
    ...foreign.map(([name]) => name),
    ...(isDataMode(options) ? ['askUser'] : []),
  ];
  const rest = Object.fromEntries(
    Object.entries(values).filter(([name]) => !reported.includes(name)),
  );
  return [
    ...oldNameProblems(values),
    ...foreign.map(([name, owners]) =>
      values['mode'] === undefined
        ? withoutMode(name, owners)
        : refused(name, `mode \`${mode}\``, `Remove it, it belongs to ${modesText(owners)}.`),
    ),
    ...PROGRAM_OPTIONS.filter((name) => withoutPrograms && values[name] !== undefined).map((name) =>
      refused(name, `mode \`${mode}\` without programs`, 'Remove it, or add `programs: true`.'),
    ),
    ...unknownOptions(rest, KNOWN_OPTIONS, 'an agent'),
  ];
}

/** An option of another mode than the default, in a definition that names no mode. */
function withoutMode(option: string, [owner = '']: readonly string[]): UsageProblem {
  const line = `mode: '${owner}'`;
  const advice = `Write \`${line},\`; the default is \`${AGENT_DEFAULTS.mode}\`.`;
  return expected('mode_option', `\`${line}\` beside \`${option}\``, 'no `mode`', advice);
}

function oldNameProblems(values: Fields): readonly UsageProblem[] {
  return Object.keys(values).flatMap((name) => {
    const renamed = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined;
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

const isSection = (value: unknown): boolean => hasKind(value, 'section');

const LAYOUT_FIELDS: FieldRules = {
  thinking: {
    wanted: 'to be true, false, a text or what `textSection` returns',
    fits: (value) => ['boolean', 'string'].includes(typeof value) || isSection(value),
  },
  sections: {
    wanted: 'to be a list of what `textSection` and its like return',
    fits: listOf(isSection),
  },
  format: {
    wanted: "to be 'xml', 'markdown', 'own:NAME', or what `xmlFormat` or `markdownFormat` returns",
    fits: (value) =>
      value === 'xml' || value === 'markdown' || isOwnName(value) || hasType(value, 'format'),
  },
  toolchain: {
    wanted: "to be 'yaml', 'json', 'own:NAME', or what `yamlToolchain` and its like return",
    fits: (value) => value === 'yaml' || value === 'json' || isOwnName(value) || isToolchain(value),
  },
  answer: {
    wanted: "to be what `textAnswer`, `jsonAnswer` or `ownAnswer` returns, or 'own:NAME'",
    fits: (value) => isOwnName(value) || hasKind(value, 'answer'),
  },
};

/** All problems of the layout of an agent's replies. */
export function sectionProblems(options: ListedOptions): readonly UsageProblem[] {
  const problems = fieldProblems(options, LAYOUT_FIELDS, { code: 'definition' });
  if (problems.length > 0) return problems;
  const { thinking, sections = [], answer } = options;
  const parts = [
    ...(typeof thinking === 'object' ? [thinking] : []),
    ...sections,
    ...(answer === undefined ? [] : [chosenAnswer(answer)]),
  ];
  return [...checkSectionNames(sectionNames(options)), ...parts.flatMap((part) => part.problems)];
}

/** The names of all sections, in the order in which a reply has them. */
function sectionNames(options: ListedOptions): readonly string[] {
  const { thinking = true, sections = [], tools = [], toolchain, answer } = options;
  const thinkingName = typeof thinking === 'object' ? thinking.spec.name : SECTION_NAMES.thinking;
  return [
    ...(thinking === false ? [] : [thinkingName]),
    ...sections.map(({ spec }) => spec.name),
    ...(tools.length === 0 ? [] : [chosenToolchain(toolchain).section]),
    ...(tools.length === 0 || options.programs !== true ? [] : [SECTION_NAMES.program]),
    chosenAnswer(answer).spec.section,
    // Programs without types may leave a name out.
  ].map((name: unknown) => (typeof name === 'string' ? name : ''));
}

/** `ownToolchain` may have been given any name. */
function isToolchain(value: unknown): boolean {
  const { kind } = Object(value ?? {}) as { readonly kind?: unknown };
  return hasType(value, 'toolchain') && (kind === 'yaml' || kind === 'json' || isOwnName(kind));
}

function hasType(value: unknown, type: string): boolean {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === type;
}

/** All problems of the option `prompt`. */
export function promptProblems(options: ListedOptions): readonly UsageProblem[] {
  const prompt: unknown = options.prompt;
  const mode = modeName(options);
  if (prompt === undefined || (typeof prompt === 'function' && mode === 'react')) return [];
  if (typeof prompt === 'function') {
    if (options.mode === undefined) return [withoutMode('prompt', ['react'])];
    const advice = 'Remove it, it belongs to mode `react`.';
    return [expected('mode_option', `no \`prompt\` in mode \`${mode}\``, 'a function', advice)];
  }
  if (!isText(prompt)) {
    const what = '`prompt` to be a template, or in mode `react` a function that returns messages';
    return [expected('agent_prompt', what, shown(prompt), 'Write a text such as `{{task}}`.')];
  }
  const reading = readTemplate(prompt, '`prompt`');
  if (reading.kind === 'problem') return [reading.problem];
  const { signature } = options;
  // Mode `text` ignores the signature.
  const isUsed = signature !== undefined && mode !== 'text';
  const params = (isUsed ? paramNames(signature) : undefined) ?? [];
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
