/**
 * The parts of a reply, read from a text that may be unfinished: while it streams, a tag that has
 * only begun is held back, so that a reader sees no raw tags.
 *
 * I1  Linear in the length of the text; never throws.
 * I2  Without sections the text is one part, unchanged.
 * I3  Shown text only grows while a reply grows, except that text may turn out to be a heading.
 */

/** A part of a reply. */
export interface ReplyPart {
  /** `text` is outside of sections. */
  readonly kind: 'text' | 'thinking' | 'action' | 'answer' | 'program' | 'section';
  /** The name of the section; empty for text. */
  readonly name: string;
  readonly text: string;
  /** The section is not closed yet. */
  readonly isOpen: boolean;
}

/** What a model wrote in one iteration. */
export interface ReplyView {
  /** Its reasoning, as the provider gave it; empty: none. */
  readonly reasoning: string;
  /** The text of the reply as the model wrote it. */
  readonly source: string;
  readonly parts: readonly ReplyPart[];
}

/** Sections of every react agent; their own come from the events of a run. */
const KNOWN_SECTIONS = ['thinking', 'action', 'answer', 'program'] as const;

/** The parts of `text`; `names` are those of the sections that the run has beside the usual ones. */
export function replyParts(text: string, names: readonly string[] = []): readonly ReplyPart[] {
  const known = new Set([...KNOWN_SECTIONS, ...names].map((name) => name.toLowerCase()));
  const title = titleOf(HEADING_OF_TEXT.exec(text));
  return title !== undefined && known.has(title)
    ? headedParts(text, known)
    : taggedParts(text, known);
}

/** Greedy to the end of the line: a lazy match before spaces tries each of them again and again. */
const HEADING_OF_TEXT = /^#[ \t]+(\S[^\n]*)/m;
const HEADING = /^#[ \t]+(\S.*)/;

function titleOf(heading: RegExpExecArray | null): string | undefined {
  return heading?.[1]?.trimEnd().toLowerCase();
}

/** A reply of `source` and `reasoning`. */
export function replyOf(source: string, reasoning: string, names?: readonly string[]): ReplyView {
  return { reasoning, source, parts: replyParts(source, names) };
}

function taggedParts(text: string, known: ReadonlySet<string>): readonly ReplyPart[] {
  const parts: ReplyPart[] = [];
  let outside = 0;
  let open: { readonly name: string; readonly start: number } | null = null;
  for (const tag of text.matchAll(/<(\/?)([A-Za-z][A-Za-z0-9_-]{0,31})[ \t]*>/g)) {
    const name = (tag[2] ?? '').toLowerCase();
    const closes = tag[1] === '/';
    if (!known.has(name)) continue;
    if (open === null && !closes) {
      push(parts, '', text.slice(outside, tag.index), false);
      open = { name, start: tag.index + tag[0].length };
    } else if (open !== null && closes && open.name === name) {
      push(parts, name, text.slice(open.start, tag.index), false);
      outside = tag.index + tag[0].length;
      open = null;
    }
  }
  const rest = withoutBegunTag(text.slice(open?.start ?? outside), known);
  if (open === null) push(parts, '', rest, false);
  else parts.push(partOf(open.name, trimmed(rest), true));
  return parts;
}

function headedParts(text: string, known: ReadonlySet<string>): readonly ReplyPart[] {
  const parts: ReplyPart[] = [];
  let name = '';
  let lines: string[] = [];
  let isFenced = false;
  const all = text.split('\n');
  for (const line of all) {
    if (/^(```|~~~)/.test(line)) isFenced = !isFenced;
    const title = isFenced ? undefined : titleOf(HEADING.exec(line));
    if (title !== undefined && known.has(title)) {
      push(parts, name, lines.join('\n'), false);
      name = title;
      lines = [];
    } else {
      lines.push(line);
    }
  }
  push(parts, name, lines.join('\n'), name !== '');
  return parts;
}

/** `text` without a tag at its end that has begun and may become that of a section. */
function withoutBegunTag(text: string, known: ReadonlySet<string>): string {
  const at = text.lastIndexOf('<');
  if (at === -1 || text.length - at > 36) return text;
  const begun = text
    .slice(at + 1)
    .replace(/^\//, '')
    .toLowerCase();
  const mayBecome = [...known].some((name) => name.startsWith(begun.trimEnd()));
  return mayBecome ? text.slice(0, at) : text;
}

function push(parts: ReplyPart[], name: string, text: string, isOpen: boolean): void {
  const shown = trimmed(text);
  if (shown !== '') parts.push(partOf(name, shown, isOpen));
}

function trimmed(text: string): string {
  return text.replace(/^\s*\n/, '').trimEnd();
}

function partOf(name: string, text: string, isOpen: boolean): ReplyPart {
  const usual = KNOWN_SECTIONS.find((known) => known === name);
  return { kind: name === '' ? 'text' : (usual ?? 'section'), name, text, isOpen };
}
