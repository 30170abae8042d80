/** The sections of a react agent, made from its specification. */
import { formatOf } from '../format/format-of.ts';
import type { DescribedSection, TextFormat } from '../format/format.ts';
import { PROGRAM_SECTION, programsMethod } from '../program-text/system-text.ts';
import { sectionOf, type Section } from '../section/section.ts';
import { answerGuidance } from '../termination/candidates.ts';
import type { FeedbackNames } from '../termination/feedback.ts';
import { toolchainOf } from '../toolchain/toolchain-of.ts';
import type { Toolchain } from '../toolchain/toolchain.ts';
import type { AgentSpec, ReactSpec, SectionSpec } from '../contract/spec.ts';

/** The default guidance of the thinking section. */
const thinkingGuidance = 'Think about what you know, what is missing and what to do next.';

/** How a program is written in a section. */
const WRITE_PROGRAM =
  'Instead of an action you can write one program in the language below; it calls the tools.';

/** A react agent as the other files of this mode need it. */
export interface ReactAgent {
  readonly options: ReactSpec;
  readonly format: TextFormat;
  readonly toolchain: Toolchain;
  /** Thinking first, then the agent's own. */
  readonly own: readonly Section[];
  readonly names: FeedbackNames;
  /** The name of the section of programs; null when the agent writes none. */
  readonly program: string | null;
}

/** Made once for each specification, since every request and every reply needs it. */
const agents = new WeakMap<AgentSpec, ReactAgent>();

/** The parts of a react agent. */
export function reactAgentOf(spec: AgentSpec): ReactAgent {
  const known = agents.get(spec);
  if (known !== undefined) return known;
  const agent = makeReactAgent(spec);
  agents.set(spec, agent);
  return agent;
}

function makeReactAgent(spec: AgentSpec): ReactAgent {
  const options = reactOptions(spec);
  const toolchain = toolchainOf(spec.toolchain);
  const thinking = options.thinking === null ? [] : [thinkingSection(options.thinking)];
  const own = [...thinking, ...options.sections.map(sectionOf)];
  const action = spec.tools.length === 0 ? null : spec.toolchain.section;
  const program = spec.program === undefined || action === null ? null : PROGRAM_SECTION;
  const answer = spec.answer.section;
  const names: FeedbackNames = {
    sections: [
      ...own.map(({ name }) => name),
      ...(action === null ? [] : [action]),
      ...(program === null ? [] : [program]),
      answer,
    ],
    action,
    answer,
  };
  return { options, format: formatOf(options.format), toolchain, own, names, program };
}

/** All sections of a reply with what is asked of them, in the order of their names. */
export function describedSections(
  spec: AgentSpec,
  { own, toolchain, names, program }: ReactAgent,
): readonly DescribedSection[] {
  const { action, answer } = names;
  return [
    ...own.map((section) => ({ name: section.name, guidance: section.guidance() })),
    ...(action === null ? [] : [{ name: action, guidance: toolchain.guidance(spec) }]),
    ...(program === null ? [] : [{ name: program, guidance: programsMethod(WRITE_PROGRAM) }]),
    { name: answer, guidance: answerGuidance(spec.answer) },
  ];
}

function thinkingSection(spec: SectionSpec): Section {
  return sectionOf(
    spec.kind === 'text' && spec.guidance === undefined
      ? { ...spec, guidance: thinkingGuidance }
      : spec,
  );
}

function reactOptions(spec: AgentSpec): ReactSpec {
  if (spec.react === null) throw new Error(`Expected options of mode react, got none.`);
  return spec.react;
}
