/** What is wrong with the sections of a react agent: their names, their schemas, what made them. */
import { shown } from '../core/text/shown.ts';
import type { UsageProblem } from '../core/usage-error.ts';
import type { AgentOptions } from './agent-options.ts';
import { SECTION_NAMES } from './define-text.ts';

/** Sections that the loop writes itself; equal names in replies would be read as the model's. */
export const RESERVED_SECTION_NAMES: readonly string[] = [
  'observation',
  'task',
  'context',
  'history',
  'message',
  'summary',
  'error',
];

/** All problems of what lays out an agent's replies. */
export function sectionProblems(options: AgentOptions): readonly UsageProblem[] {
  const shapes = shapeProblems(options);
  if (shapes.length > 0) return shapes;
  const names = sectionNames(options);
  return [
    ...names.flatMap((name) => nameProblems(name)),
    ...duplicates(names),
    ...parts(options).flatMap(({ problems }) => problems),
  ];
}

/** The names of all sections, in the order in which a reply has them. */
function sectionNames(options: AgentOptions): readonly string[] {
  const { thinking = true, sections = [], tools = [], toolchain, answer } = options;
  const thinkingName = typeof thinking === 'object' ? thinking.spec.name : SECTION_NAMES.thinking;
  return [
    ...(thinking === false ? [] : [thinkingName]),
    ...sections.map(({ spec }) => spec.name),
    ...(tools.length === 0 ? [] : [toolchain?.section ?? SECTION_NAMES.action]),
    answer?.spec.section ?? SECTION_NAMES.answer,
  ];
}

function parts(options: AgentOptions): readonly { readonly problems: readonly UsageProblem[] }[] {
  const { thinking, sections = [], answer } = options;
  return [
    ...(typeof thinking === 'object' ? [thinking] : []),
    ...sections,
    ...(answer === undefined ? [] : [answer]),
  ];
}

function nameProblems(name: unknown): readonly UsageProblem[] {
  if (typeof name !== 'string' || !/^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(name)) {
    const got = typeof name === 'string' ? `\`${name.slice(0, 200)}\`` : shown(name);
    const message = `Expected a section name of 1 to 32 letters, digits, \`_\` or \`-\` that starts with a letter, got ${got}. Rename it.`;
    return [{ code: 'section_name', message }];
  }
  if (!RESERVED_SECTION_NAMES.includes(name.toLowerCase())) return [];
  const message = `Expected a free section name, got \`${name}\`, which the loop writes itself. Rename it.`;
  return [{ code: 'section_name', message }];
}

function duplicates(names: readonly string[]): readonly UsageProblem[] {
  const seen = new Map<string, string>();
  return names.flatMap((name) => {
    const folded = String(name).toLowerCase();
    const first = seen.get(folded);
    seen.set(folded, name);
    if (first === undefined) return [];
    const message = `Expected section names to be unique without case, got \`${first}\` and \`${name}\`. Rename one.`;
    return [{ code: 'duplicate_section', message }];
  });
}

function shapeProblems(options: AgentOptions): readonly UsageProblem[] {
  const { thinking, sections, format, toolchain, answer } = options;
  const isThinking =
    ['undefined', 'boolean', 'string'].includes(typeof thinking) ||
    has(thinking, 'kind', 'section');
  const isSections =
    sections === undefined ||
    (Array.isArray(sections) && sections.every((section) => has(section, 'kind', 'section')));
  const rows: readonly [ok: boolean, field: string, value: unknown, factories: string][] = [
    [isThinking, 'thinking', thinking, 'true, false, a text or what `textSection` returns'],
    [isSections, 'sections', sections, 'a list of what `textSection` and its like return'],
    [
      isOne(format, 'type', 'format'),
      'format',
      format,
      'what `xmlFormat` or `markdownFormat` returns',
    ],
    [
      isOne(toolchain, 'type', 'toolchain'),
      'toolchain',
      toolchain,
      'what `yamlToolchain` or `jsonToolchain` returns',
    ],
    [
      isOne(answer, 'kind', 'answer'),
      'answer',
      answer,
      'what `textAnswer` or `jsonAnswer` returns',
    ],
  ];
  return rows.flatMap(([ok, field, value, expected]) => {
    if (ok) return [];
    const message = `Expected \`${field}\` to be ${expected}, got ${shown(value)}. Change it.`;
    return [{ code: 'definition', message }];
  });
}

function isOne(value: unknown, field: string, kind: string): boolean {
  return value === undefined || has(value, field, kind);
}

function has(value: unknown, field: string, kind: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return (value as { readonly [name: string]: unknown })[field] === kind;
}
