/**
 * Finds the program in a reply, and cleans its source from what models and editors insert:
 * invisible characters, special blanks, typographic quotes. Strings in the program are unchanged.
 */
import { withLineFeeds } from '../text/line-breaks.ts';

/** The program of a reply, or why there is none to run. */
export type FoundProgram =
  | {
      readonly kind: 'program';
      /** Cleaned, as it will run. */
      readonly source: string;
      /** The text around it, trimmed. */
      readonly around: string;
      /** False if its block runs to the end of the reply, which may then be truncated. */
      readonly isClosed: boolean;
    }
  | { readonly kind: 'none' }
  | { readonly kind: 'several'; readonly count: number };

/**
 * The one program of a reply: a block tagged `clojure` or `lisp`; otherwise a block that begins
 * with `(`; otherwise the text between tags of these names; otherwise the whole reply if it begins
 * with `(`. Never throws, linear in the length.
 */
export function findProgram(reply: string): FoundProgram {
  const text = withLineFeeds(reply).replace(/^\uFEFF/, '');
  const blocks = fencedBlocks(text).filter(({ content }) => content.trim() !== '');
  const tagged = blocks.filter(({ tag }) => TAGS.includes(tag));
  const ways = [
    tagged,
    tagged.length === 0 ? blocks.filter(({ content }) => beginsForm(content)) : [],
    tagBlocks(text),
  ];
  const found = ways.find((way) => way.length > 0) ?? wholeReply(text);
  const [block] = found;
  if (block === undefined) return { kind: 'none' };
  if (found.length > 1) return { kind: 'several', count: found.length };
  const { content, start, end, isClosed } = block;
  const around = [text.slice(0, start), text.slice(end)].map((part) => part.trim());
  return {
    kind: 'program',
    source: cleanProgram(content).trim(),
    around: around.filter((part) => part !== '').join('\n\n'),
    isClosed,
  };
}

/** The program in a text that holds nothing else, such as a section; it may be in a fence. */
export function programIn(text: string): FoundProgram {
  const found = findProgram(text);
  if (found.kind !== 'none') return found;
  const source = cleanProgram(text).trim();
  return source === ''
    ? { kind: 'none' }
    : { kind: 'program', source, around: '', isClosed: false };
}

/** Whether `text` has a block that is tagged as a program. */
export function hasProgramBlock(text: string): boolean {
  return fencedBlocks(withLineFeeds(text)).some(({ tag }) => TAGS.includes(tag));
}

/** A program as a transcript keeps it. */
export function programBlock(source: string): string {
  return `\`\`\`clojure\n${source}\n\`\`\``;
}

const TAGS: readonly string[] = ['clojure', 'lisp'];

interface Block {
  readonly tag: string;
  readonly content: string;
  /** Offsets of the block with its marks. */
  readonly start: number;
  readonly end: number;
  readonly isClosed: boolean;
}

/** The fenced blocks of `text`. A fence is a whole line; an open block runs to the end. */
function fencedBlocks(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let open: { readonly tag: string; readonly fence: string; readonly start: number } | null = null;
  let inside = 0;
  let at = 0;
  for (const line of text.split('\n')) {
    const next = at + line.length + 1;
    const trimmed = line.trim();
    if (open === null) {
      const opener = /^(`{3,})([^`]*)$/.exec(trimmed);
      if (opener !== null) {
        const tag = (opener[2] ?? '').trim().split(/\s/)[0] ?? '';
        open = { tag: tag.toLowerCase(), fence: opener[1] ?? '', start: at };
        inside = next;
      }
    } else if (closes(trimmed, open.fence)) {
      const { tag, start } = open;
      const content = text.slice(inside, Math.max(inside, at - 1));
      blocks.push({ tag, content, start, end: next - 1, isClosed: true });
      open = null;
    }
    at = next;
  }
  if (open === null) return blocks;
  const { tag, start } = open;
  const rest = text.slice(inside);
  return [...blocks, { tag, content: rest, start, end: text.length, isClosed: false }];
}

function closes(line: string, fence: string): boolean {
  if (line === '</clojure>' || line === '</lisp>') return true;
  return line.length >= fence.length && line === '`'.repeat(line.length);
}

/** The text between `<clojure>` and `</clojure>`, or the same with `lisp`. */
function tagBlocks(text: string): readonly Block[] {
  const blocks: Block[] = [];
  const tags = /<(\/?)(clojure|lisp)>/gi;
  let open: { readonly tag: string; readonly start: number; readonly inside: number } | null = null;
  for (const found of text.matchAll(tags)) {
    const tag = (found[2] ?? '').toLowerCase();
    const end = found.index + found[0].length;
    if (found[1] === '') open ??= { tag, start: found.index, inside: end };
    else if (open?.tag === tag) {
      const content = text.slice(open.inside, found.index);
      if (content.trim() !== '') {
        blocks.push({ tag, content, start: open.start, end, isClosed: true });
      }
      open = null;
    }
  }
  return blocks;
}

function wholeReply(text: string): readonly Block[] {
  if (!beginsForm(text)) return [];
  return [{ tag: '', content: text, start: 0, end: text.length, isClosed: false }];
}

/** Invisible characters may come first. */
function beginsForm(text: string): boolean {
  return /^[\s\u200B-\u200D\u2060\uFEFF\u00AD]*\(/.test(text);
}

/**
 * `source` with line feeds. Outside of strings, zero-width characters, byte order marks and soft
 * hyphens are removed, no-break spaces become spaces, and curly single quotes straight ones. A
 * curly double quote opens a string, which the next double quote of either kind closes.
 */
export function cleanProgram(source: string): string {
  return withLineFeeds(source).replaceAll(TOKEN, (token, opened: string | undefined) => {
    if (opened !== undefined) return `"${opened}"`;
    if (token.length > 1) return token;
    return PLAIN[token] ?? token;
  });
}

/**
 * Units: a string, a comment, a character literal, a string in curly quotes (its content is the
 * group), then single characters. Exactly one alternative matches, so the cost is linear.
 */
const TOKEN =
  /"(?:[^"\\]|\\[^])*"?|;[^\n]*|\\[^]|[“”„‟]((?:[^"“”„‟\\]|\\[^])*)["“”„‟]|[“”„‟\u200B-\u200D\u2060\uFEFF\u00AD\u00A0\u2007\u202F‘’‛]/gu;

const PLAIN: { readonly [sign: string]: string } = {
  '\u200B': '',
  '\u200C': '',
  '\u200D': '',
  '\u2060': '',
  '\uFEFF': '',
  '\u00AD': '',
  '\u00A0': ' ',
  '\u2007': ' ',
  '\u202F': ' ',
  '‘': "'",
  '’': "'",
  '‛': "'",
  // Not closed: the reader reports it with its place.
  '“': '"',
  '”': '"',
  '„': '"',
  '‟': '"',
};
