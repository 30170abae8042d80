/** What is wrong with the sections of a react agent: their names, their schemas, what made them. */
import { checkSectionNames } from '../../core/format/format.ts';
import { shown } from '../../core/text/shown.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import type { AgentOptions } from './agent-options.ts';
import { chosenFormat, chosenToolchain, SECTION_NAMES } from './reply-layout.ts';

/** All problems of what lays out an agent's replies. */
export function sectionProblems(options: AgentOptions): readonly UsageProblem[] {
  const shapes = shapeProblems(options);
  if (shapes.length > 0) return shapes;
  const names = sectionNames(options);
  return [...checkSectionNames(names), ...parts(options).flatMap(({ problems }) => problems)];
}

/** The names of all sections, in the order in which a reply has them. */
function sectionNames(options: AgentOptions): readonly string[] {
  const { thinking = true, sections = [], tools = [], toolchain, answer } = options;
  const thinkingName = typeof thinking === 'object' ? thinking.spec.name : SECTION_NAMES.thinking;
  return [
    ...(thinking === false ? [] : [thinkingName]),
    ...sections.map(({ spec }) => spec.name),
    ...(tools.length === 0 ? [] : [chosenToolchain(toolchain).section]),
    ...(tools.length === 0 || options.programs !== true ? [] : [SECTION_NAMES.program]),
    answer?.spec.section ?? SECTION_NAMES.answer,
    // Programs without types may leave a name out.
  ].map((name: unknown) => (typeof name === 'string' ? name : ''));
}

function parts(options: AgentOptions): readonly { readonly problems: readonly UsageProblem[] }[] {
  const { thinking, sections = [], answer } = options;
  return [
    ...(typeof thinking === 'object' ? [thinking] : []),
    ...sections,
    ...(answer === undefined ? [] : [answer]),
  ];
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
      isOne(chosenFormat(format), 'type', 'format'),
      'format',
      format,
      "'xml', 'markdown', or what `xmlFormat` or `markdownFormat` returns",
    ],
    [
      isOne(chosenToolchain(toolchain), 'type', 'toolchain'),
      'toolchain',
      toolchain,
      "'yaml', 'json', or what `yamlToolchain` or `jsonToolchain` returns",
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
