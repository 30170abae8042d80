/**
 * The contract of a text format: it describes sections to a model, reads them from a reply and
 * writes them. A format has no state and no sections, so agents can share one.
 */
import type { FormattedSection } from '../base/message.ts';
import type { ReplyProblem } from '../base/problem.ts';
import { usageErrorOf, type UsageProblem } from '../base/usage-error.ts';

/** A section of a reply, as it is described to the model. */
export interface DescribedSection {
  readonly name: string;
  readonly guidance: string;
}

/** One section that was found in a reply. */
export interface Block {
  /** The registered name, whatever its case in the reply. */
  readonly name: string;
  /** Trimmed, not empty, with LF line breaks; nothing in it is decoded. */
  readonly content: string;
}

/**
 * The blocks of a reply in order of appearance, at least one; or why it cannot be used:
 * `no_sections`, `truncated_reply`, `ambiguous_sections`, `unknown_section`.
 */
export type FormatReading =
  | { readonly kind: 'read'; readonly blocks: readonly Block[] }
  | { readonly kind: 'problem'; readonly problem: ReplyProblem };

/** Facts about the reply besides its text. */
export interface FormatReadOptions {
  /** The provider stopped at its token limit. */
  readonly wasCut: boolean;
  /** The section that counts even if the reply ends without closing it. Default: none. */
  readonly mayStayOpen?: string;
}

/** A text format. `parse` never throws and is linear in the length of the text. */
export interface TextFormat {
  /** The text that asks for these sections. Throws a UsageError for names that are not valid. */
  describe(sections: readonly DescribedSection[]): string;
  /** The blocks of a reply. `names` are those of the registered sections. */
  parse(text: string, names: readonly string[], options: FormatReadOptions): FormatReading;
  /** Sections as text for a model. Content without tags or headings can be parsed back. */
  format(sections: readonly FormattedSection[]): string;
}

/** The form of a section name. */
const sectionNamePattern: RegExp = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;

/** Names that observations, prompts and inputs use. */
const reservedSectionNames: readonly string[] = [
  'observation',
  'task',
  'context',
  'history',
  'message',
  'summary',
  'error',
];

/** All problems with the section names of one agent; empty if there are none. */
export function checkSectionNames(names: readonly string[]): readonly UsageProblem[] {
  if (names.length === 0) {
    return [
      { code: 'no_sections', message: 'Expected at least one section, got none. Add a section.' },
    ];
  }
  const problems: UsageProblem[] = [];
  const seen = new Set<string>();
  for (const name of names) {
    const key = name.toLowerCase();
    if (!sectionNamePattern.test(name)) {
      problems.push({
        code: 'section_name',
        message: `Expected a section name of 1 to 32 letters, digits, \`_\` or \`-\` that starts with a letter, got \`${name}\`. Rename it.`,
      });
    } else if (reservedSectionNames.includes(key)) {
      problems.push({
        code: 'section_name',
        message: `Expected a free section name, got the reserved \`${name}\`. Rename it.`,
      });
    } else if (seen.has(key)) {
      problems.push({
        code: 'duplicate_section',
        message: `Expected section names to be unique, got two sections named \`${name}\`. Rename one.`,
      });
    }
    seen.add(key);
  }
  return problems;
}

/** Throws one UsageError with all that {@link checkSectionNames} finds, if anything. */
export function assertSectionNames(names: readonly string[]): void {
  const problems = checkSectionNames(names);
  if (problems.length > 0) throw usageErrorOf(problems);
}

/** The reading of a reply that has no sections, or only empty ones. */
export function noSections(): FormatReading {
  return { kind: 'problem', problem: { code: 'no_sections', message: 'no section was found' } };
}

/** The reply stopped at the token limit, inside the section `open` if known. */
export function truncatedReply(open?: string): FormatReading {
  return { kind: 'problem', problem: truncatedProblem(open) };
}

/** The problem `truncated_reply`; its path is the section that was open. */
export function truncatedProblem(open?: string): ReplyProblem {
  const message = 'the reply was cut off by the length limit';
  return open === undefined
    ? { code: 'truncated_reply', message }
    : { code: 'truncated_reply', message: `${message} inside the section ${open}`, path: open };
}
