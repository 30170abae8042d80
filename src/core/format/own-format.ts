/**
 * Formats of authors: the contract that they write, and how the loop uses one.
 *
 * I1  Nothing of a reply that the provider cut off counts, so its parser does not get it.
 * I2  Blocks of other names than those asked for, and empty ones, are left out.
 */
import type { FormattedSection } from '../base/message.ts';
import type { FormatSpec } from '../contract/spec.ts';
import { ownText, ownTextOr, readOwn, wrongReturn } from '../extension/guard.ts';
import { ownPart } from '../extension/own-parts.ts';
import { withLineFeeds } from '../text/line-breaks.ts';
import { shown } from '../text/shown.ts';
import { wellFormedText } from '../text/well-formed.ts';
import {
  assertSectionNames,
  noSections,
  truncatedReply,
  type Block,
  type DescribedSection,
  type FormatReading,
  type TextFormat,
} from './format.ts';
import { xmlFormat } from './xml.ts';

/**
 * A format of your own. It has no state. `formatCases` of `everloop/testing` tests its laws.
 *
 * @example
 * const brackets: OwnFormat = {
 *   describe: (sections) =>
 *     `Write these sections:\n${sections.map((s) => `[${s.name}]\n${s.guidance}`).join('\n')}`,
 *   parse: (text, names) =>
 *     text.split(/^(?=\[[\w-]+\]$)/m).flatMap((part) => {
 *       const [mark = '', ...lines] = part.split('\n');
 *       const name = names.find((it) => mark === `[${it}]`);
 *       return name === undefined ? [] : [{ name, content: lines.join('\n') }];
 *     }),
 *   format: (sections) => sections.map((s) => `[${s.name}]\n${s.content ?? ''}`).join('\n'),
 * };
 */
export interface OwnFormat {
  /** The text that asks for these sections, in this order. A model copies the layout it shows. */
  describe(sections: readonly DescribedSection[]): string;
  /**
   * The sections of a reply, in order of appearance; none if it has none. Must be linear in the
   * length of the text. What it throws is told to the model as the reason why its reply is not read.
   */
  parse(text: string, names: readonly string[]): readonly Block[];
  /**
   * Sections as text for a model: task, context, observations. Content must not be able to close its
   * section. If it throws, the sections are written as XML.
   */
  format(sections: readonly FormattedSection[]): string;
}

/** More blocks than any reply needs. */
const MAX_BLOCKS = 1_000;

/** A format of an author, under the laws of the built-in ones. */
export function ownFormat(spec: FormatSpec): TextFormat {
  const own = ownPart('formats', spec) as OwnFormat;
  const what = `format ${spec.kind}`;
  return {
    describe: (sections) => {
      assertSectionNames(sections.map(({ name }) => name));
      return ownText(`\`describe\` of ${what}`, () => own.describe(sections));
    },
    parse: (text, names, { wasCut }) =>
      wasCut ? truncatedReply() : parseWith(own, what, withLineFeeds(text), names),
    format: (sections) =>
      ownTextOr(
        `\`format\` of ${what}`,
        () => own.format(sections),
        () => xmlFormat().format(sections),
      ),
  };
}

function parseWith(
  own: OwnFormat,
  what: string,
  text: string,
  names: readonly string[],
): FormatReading {
  const reading = readOwn(text, (whole): unknown => own.parse(whole, names));
  if (reading.kind === 'problem') return reading;
  const { value } = reading;
  if (!Array.isArray(value)) return wrongReturn(what, 'a list of sections', shown(value));
  if (value.length > MAX_BLOCKS) {
    return wrongReturn(what, `at most ${MAX_BLOCKS} sections`, String(value.length));
  }
  const blocks: Block[] = [];
  let length = 0;
  for (const block of value as readonly unknown[]) {
    const { name, content } = Object(block ?? {}) as Partial<Record<'name' | 'content', unknown>>;
    if (typeof name !== 'string' || typeof content !== 'string') {
      return wrongReturn(what, 'sections with `name` and `content` as texts', shown(block));
    }
    length += content.length;
    const trimmed = wellFormedText(withLineFeeds(content)).trim();
    if (names.includes(name) && trimmed !== '') blocks.push({ name, content: trimmed });
  }
  // A parser takes sections out of the reply, so what it returns cannot be much longer.
  if (length > 2 * text.length + 1_000) {
    return wrongReturn(what, 'parts of the reply', `${length} characters`);
  }
  return blocks.length === 0 ? noSections() : { kind: 'read', blocks };
}
