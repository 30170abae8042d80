/**
 * Sections as level-1 headings. A heading is a line with one `#` at column 0, blanks and a title,
 * outside code fences. A block ends at the next heading of a registered section.
 */
import type { FormattedSection } from '../base/message.ts';
import { clip } from '../text/cut.ts';
import { fencedBlocks, type PlacedLine } from '../text/fences.ts';
import { withLineFeeds } from '../text/line-breaks.ts';
import {
  assertSectionNames,
  noSections,
  truncatedReply,
  type Block,
  type DescribedSection,
  type FormatReading,
  type FormatReadOptions,
  type TextFormat,
} from './format.ts';

interface Heading {
  /** Start of its line. */
  readonly at: number;
  /** Start of the next line. */
  readonly end: number;
  readonly title: string;
}

const heading =
  'Write your reply as the sections below. Start each one with its level-1 heading, and use level-1 headings for nothing else.';

/** CommonMark: four blanks make an indented code block, not a fence. */
const maxFenceIndent = 3;

/** Characters of an unknown title that a problem quotes. */
const maxQuotedTitle = 80;

/**
 * The format whose sections are headings.
 * `strict`: refuse replies with a level-1 heading that is not a section. Default: false.
 */
export function markdownFormat({ strict = false }: { readonly strict?: boolean } = {}): TextFormat {
  return {
    describe,
    parse: (text, names, readOptions) => parse(withLineFeeds(text), names, readOptions, strict),
    format: (sections) => writeAll(sections, 1),
  };
}

function describe(sections: readonly DescribedSection[]): string {
  assertSectionNames(sections.map((section) => section.name));
  return [heading, ...sections.map(({ name, guidance }) => `# ${name}\n${guidance}`)].join('\n\n');
}

function parse(
  text: string,
  names: readonly string[],
  { wasCut }: FormatReadOptions,
  strict: boolean,
): FormatReading {
  const registered = new Map(names.map((name) => [name.toLowerCase(), name]));
  const headings = headingsOf(text);
  const sections = headings.flatMap(({ at, end, title }) => {
    const name = registered.get(title.toLowerCase());
    return name === undefined ? [] : [{ at, end, name }];
  });
  // Headings have no end marks, so the last section of a truncated reply is always open.
  if (wasCut) return truncatedReply(sections.at(-1)?.name);
  const unknown = headings.find(({ title }) => !registered.has(title.toLowerCase()));
  if (strict && unknown !== undefined) return unknownSection(unknown.title);
  const blocks = sections.flatMap(({ end, name }, index): Block[] => {
    const content = text.slice(end, sections[index + 1]?.at).trim();
    return content === '' ? [] : [{ name, content }];
  });
  return blocks.length === 0 ? noSections() : { kind: 'read', blocks };
}

/** The title is the model's text: the message quotes only its beginning. */
function unknownSection(title: string): FormatReading {
  const message = `there is no section ${clip(title, maxQuotedTitle)}`;
  return { kind: 'problem', problem: { code: 'unknown_section', message } };
}

function headingsOf(text: string): readonly Heading[] {
  const lines = markedLines(text);
  const blocks = fencedBlocks(lines, maxFenceIndent);
  const headings: Heading[] = [];
  let next = 0;
  for (const { at, text: line } of lines) {
    while ((blocks[next]?.close ?? Infinity) < at) next += 1;
    if ((blocks[next]?.open ?? Infinity) <= at) continue;
    const title = titleOf(line);
    if (title !== '') headings.push({ at, end: at + line.length + 1, title });
  }
  return headings;
}

/** The lines that may be headings or fences. A reply has few, so other lines are not extracted. */
function markedLines(text: string): readonly PlacedLine[] {
  const lines: PlacedLine[] = [];
  let at = 0;
  while (at < text.length) {
    const found = text.indexOf('\n', at);
    const end = found === -1 ? text.length : found;
    const mark = text[at];
    if (mark === '#' || mark === '`' || mark === '~' || mark === ' ') {
      lines.push({ at, text: text.slice(at, end) });
    }
    at = end + 1;
  }
  return lines;
}

/** The title of a level-1 heading; empty if `line` is not one. */
function titleOf(line: string): string {
  if (line[0] !== '#' || (line[1] !== ' ' && line[1] !== '\t')) return '';
  let title = line.slice(1).trim();
  let end = title.length;
  while (title[end - 1] === '#') end -= 1;
  title = title.slice(0, end).trimEnd();
  return title.endsWith(':') ? title.slice(0, -1).trimEnd() : title;
}

function writeAll(sections: readonly FormattedSection[], depth: number): string {
  return sections.map((section) => write(section, depth)).join('\n\n');
}

function write(section: FormattedSection, depth: number): string {
  const content = section.content ?? '';
  const children = section.children ?? [];
  return [
    `${'#'.repeat(depth)} ${section.name}`,
    ...(content === ''
      ? []
      : [section.isVerbatim === true ? content : withoutHeadings(withLineFeeds(content), depth)]),
    ...(children.length === 0 ? [] : [writeAll(children, depth + 1)]),
  ].join('\n');
}

/** `text` with `\` before each line that would end a section of this depth or an outer one. */
function withoutHeadings(text: string, depth: number): string {
  return text.replace(new RegExp(`^(?=#{1,${depth}}[ \\t])`, 'gm'), '\\');
}
