/**
 * Sections as tags: `<answer>…</answer>`. Not XML: content is raw, nothing is decoded, and only the
 * tags of registered sections count, so a reply may quote any markup.
 *
 * I1  A tag is `<name>` or `</name>`, ASCII case ignored, blanks allowed before `>`, no attributes.
 * I2  The outermost closed section wins; tags in its content are ignored.
 * I3  An opening tag that is never closed is text, unless the reply was cut off, or the section may
 *     stay open and nothing but its content follows.
 */
import type { FormattedSection } from '../base/message.ts';
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

interface Tag {
  /** The registered name. */
  readonly name: string;
  readonly opens: boolean;
  readonly start: number;
  /** After the `>`. */
  readonly end: number;
}

const heading =
  'Write your reply as the sections below. Open and close each one with its tag, exactly as spelled, and put nothing outside them.';

/**
 * The format whose sections are tags. The default of react agents.
 * `strict`: refuse replies in which a section contains a tag of another one. Default: false.
 */
export function xmlFormat({ strict = false }: { readonly strict?: boolean } = {}): TextFormat {
  return {
    describe,
    parse: (text, names, readOptions) => parse(withLineFeeds(text), names, readOptions, strict),
    format: (sections) => sections.map((section) => write(section, [])).join('\n'),
  };
}

function describe(sections: readonly DescribedSection[]): string {
  assertSectionNames(sections.map((section) => section.name));
  const blocks = sections.map(({ name, guidance }) => `<${name}>\n${guidance}\n</${name}>`);
  return [heading, ...blocks].join('\n\n');
}

function parse(
  text: string,
  names: readonly string[],
  { wasCut, mayStayOpen }: FormatReadOptions,
  strict: boolean,
): FormatReading {
  const tags = tagsOf(text, names);
  const closing = closingTags(tags);
  const blocks: Block[] = [];
  let open: string | undefined;
  let mixed: { inner: string; outer: string } | undefined;
  let position = 0;
  for (let index = 0; index < tags.length; index++) {
    const tag = tags[index];
    if (tag === undefined || !tag.opens || tag.start < position) continue;
    const closeIndex = closing[index];
    const close = closeIndex === undefined ? undefined : tags[closeIndex];
    if (close === undefined || closeIndex === undefined) {
      open ??= tag.name; // I3: reset below by every block that follows
      continue;
    }
    position = close.end;
    const content = text.slice(tag.end, close.start).trim();
    if (content === '') continue;
    open = undefined;
    blocks.push({ name: tag.name, content });
    const inner = tags.slice(index + 1, closeIndex).find((other) => other.name !== tag.name);
    if (inner !== undefined) mixed ??= { inner: inner.name, outer: tag.name };
  }
  if (!wasCut && mayStayOpen !== undefined) {
    const isOpen = (tag: Tag, index: number): boolean =>
      tag.opens && tag.name === mayStayOpen && closing[index] === undefined;
    const content = openEnd(text, tags, tags.findIndex(isOpen), position);
    if (content !== '') blocks.push({ name: mayStayOpen, content });
  }
  if (wasCut && (open !== undefined || blocks.length === 0)) return truncatedReply(open);
  if (strict && mixed !== undefined) return ambiguousSections(mixed.inner, mixed.outer);
  return blocks.length === 0 ? noSections() : { kind: 'read', blocks };
}

/**
 * The content of the section that `tags[index]` opens and nothing closes, up to the next tag; empty
 * unless its tag begins a line or follows the last block, which ends at `position`. A tag within a
 * sentence is quoted.
 */
function openEnd(text: string, tags: readonly Tag[], index: number, position: number): string {
  const tag = tags[index];
  if (tag === undefined || tag.start < position) return '';
  const lineStart = Math.max(position, text.lastIndexOf('\n', tag.start) + 1);
  if (text.slice(lineStart, tag.start).trim() !== '') return '';
  const content = text.slice(tag.end, tags[index + 1]?.start).trim();
  const half = content.lastIndexOf('<');
  return half !== -1 && /^<\/?[A-Za-z0-9_-]{0,32}$/.test(content.slice(half))
    ? content.slice(0, half).trim()
    : content;
}

function ambiguousSections(inner: string, outer: string): FormatReading {
  const message = `${inner} appears inside ${outer}`;
  return { kind: 'problem', problem: { code: 'ambiguous_sections', message, path: outer } };
}

/** All tags of registered sections, by I1, in order. */
function tagsOf(text: string, names: readonly string[]): readonly Tag[] {
  const registered = new Map(names.map((name) => [name.toLowerCase(), name]));
  const tags: Tag[] = [];
  // Sticky, not a global search: each `<` is tried once, so many half tags stay linear.
  const pattern = /<(\/?)([A-Za-z][A-Za-z0-9_-]{0,31})\s*>/y;
  let start = text.indexOf('<');
  while (start !== -1) {
    pattern.lastIndex = start;
    const match = pattern.exec(text);
    const name = match?.[2] === undefined ? undefined : registered.get(match[2].toLowerCase());
    if (name !== undefined) {
      tags.push({ name, opens: match?.[1] === '', start, end: pattern.lastIndex });
    }
    start = text.indexOf('<', start + 1);
  }
  return tags;
}

/** For each opening tag, the index of its closing tag. Each name is matched on its own. */
function closingTags(tags: readonly Tag[]): readonly (number | undefined)[] {
  const closing: (number | undefined)[] = Array.from({ length: tags.length });
  const openByName = new Map<string, number[]>();
  tags.forEach((tag, index) => {
    const open = openByName.get(tag.name) ?? [];
    openByName.set(tag.name, open);
    if (tag.opens) open.push(index);
    else {
      const opener = open.pop();
      if (opener !== undefined) closing[opener] = index;
    }
  });
  return closing;
}

/** `around`: names of the enclosing sections. */
function write(section: FormattedSection, around: readonly string[]): string {
  const names = [...around, section.name];
  const content = section.content ?? '';
  const inner = [
    ...(content === ''
      ? []
      : [
          section.isVerbatim === true ? content : withoutClosingTags(withLineFeeds(content), names),
        ]),
    ...(section.children ?? []).map((child) => write(child, names)),
  ].join('\n');
  return `<${section.name}>\n${inner}\n</${section.name}>`;
}

/** `text` with `<\/n>` for each closing tag of the enclosing sections. */
function withoutClosingTags(text: string, names: readonly string[]): string {
  const lowerNames = new Set(names.map((name) => name.toLowerCase()));
  return text.replace(/<\/([A-Za-z][A-Za-z0-9_-]*)(?=\s*>)/g, (tag, name: string) =>
    lowerNames.has(name.toLowerCase()) ? `<\\/${name}` : tag,
  );
}
