/** The checks of the layout of replies: thinking, sections, format, toolchain, answer. */
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { checkSectionNames } from '../../core/format/format.ts';
import { fieldProblems, type Rules } from '../checks/fields.ts';
import { hasKind, listOf } from '../checks/kinds.ts';
import type { AgentOptions } from './agent-options.ts';
import { chosenToolchain, SECTION_NAMES } from './reply-layout.ts';

const isSection = (value: unknown): boolean => hasKind(value, 'section');

const LAYOUT_FIELDS: Rules = {
  thinking: {
    wanted: 'to be true, false, a text or what `textSection` returns',
    fits: (value) => ['boolean', 'string'].includes(typeof value) || isSection(value),
  },
  sections: {
    wanted: 'to be a list of what `textSection` and its like return',
    fits: listOf(isSection),
  },
  format: {
    wanted: "to be 'xml', 'markdown', or what `xmlFormat` or `markdownFormat` returns",
    fits: (value) => value === 'xml' || value === 'markdown' || hasType(value, 'format'),
  },
  toolchain: {
    wanted: "to be 'yaml', 'json', or what `yamlToolchain` or `jsonToolchain` returns",
    fits: (value) => value === 'yaml' || value === 'json' || hasType(value, 'toolchain'),
  },
  answer: {
    wanted: 'to be what `textAnswer` or `jsonAnswer` returns',
    fits: (value) => hasKind(value, 'answer'),
  },
};

/** All problems of the layout of an agent's replies. */
export function sectionProblems(options: AgentOptions): readonly UsageProblem[] {
  const problems = fieldProblems(options, LAYOUT_FIELDS, { code: 'definition' });
  if (problems.length > 0) return problems;
  const { thinking, sections = [], answer } = options;
  const parts = [
    ...(typeof thinking === 'object' ? [thinking] : []),
    ...sections,
    ...(answer === undefined ? [] : [answer]),
  ];
  return [...checkSectionNames(sectionNames(options)), ...parts.flatMap((part) => part.problems)];
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

function hasType(value: unknown, type: string): boolean {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === type;
}
