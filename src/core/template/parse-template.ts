/**
 * Reads a template: `{{a.b}}`, `{{.}}`, `{{! comment}}`, `{{#x}}…{{/x}}`, `{{^x}}…{{/x}}`. If a
 * section or comment tag is alone on its line, the whole line is removed.
 */
import {
  MAX_TEMPLATE_DEPTH,
  type TagPlace,
  type TemplateNode,
  type TemplateReading,
} from './template.ts';

/** Reads `text`; never throws. */
export function parseTemplate(text: string): TemplateReading {
  const tags = tagsOf(text);
  if (tags.kind === 'problem') return tags;
  const open: OpenSection[] = [{ name: '', isInverted: false, place: START, nodes: [] }];
  let at = 0;
  for (const tag of tags.tags) {
    const top = open.at(-1);
    if (top === undefined) break;
    addText(top.nodes, text.slice(at, tag.from));
    at = tag.to;
    const problem = addTag(open, top, tag);
    if (problem !== null) return { kind: 'problem', message: problem };
  }
  const [root, unclosed] = [open[0], open.at(-1)];
  if (unclosed !== undefined && open.length > 1) {
    const message = `unclosed section '${unclosed.name}' opened at ${placeText(unclosed.place)}`;
    return { kind: 'problem', message };
  }
  addText(root?.nodes ?? [], text.slice(at));
  return { kind: 'template', nodes: root?.nodes ?? [] };
}

/** `line 1, column 7`. */
export function placeText({ line, column }: TagPlace): string {
  return `line ${line}, column ${column}`;
}

const START: TagPlace = { line: 1, column: 1 };

interface OpenSection {
  readonly name: string;
  readonly isInverted: boolean;
  readonly place: TagPlace;
  readonly nodes: TemplateNode[];
}

interface Tag {
  readonly kind: 'variable' | 'comment' | 'section' | 'inverted' | 'close';
  readonly name: string;
  readonly place: TagPlace;
  /** The text that the tag replaces; for a tag alone on its line, the whole line. */
  readonly from: number;
  readonly to: number;
}

type Tags =
  | { readonly kind: 'tags'; readonly tags: readonly Tag[] }
  | { readonly kind: 'problem'; readonly message: string };

const KINDS: { readonly [mark: string]: Tag['kind'] } = {
  '!': 'comment',
  '#': 'section',
  '^': 'inverted',
  '/': 'close',
};

function tagsOf(text: string): Tags {
  const tags: Tag[] = [];
  // Counts on from the previous tag, so that the cost is linear.
  let line = 1;
  let lineStart = 0;
  let counted = 0;
  for (let open = text.indexOf('{{'); open !== -1;) {
    for (let next = text.indexOf('\n', counted); next !== -1 && next < open;) {
      line += 1;
      lineStart = next + 1;
      counted = lineStart;
      next = text.indexOf('\n', counted);
    }
    const place = { line, column: open - lineStart + 1 };
    const close = text.indexOf('}}', open + 2);
    if (close === -1) return { kind: 'problem', message: `unclosed tag at ${placeText(place)}` };
    const content = text.slice(open + 2, close);
    const kind = KINDS[content.trimStart()[0] ?? ''] ?? 'variable';
    const name = (kind === 'variable' ? content : content.trimStart().slice(1)).trim();
    const span = { from: open, to: close + 2 };
    tags.push({ kind, name, place, ...(kind === 'variable' ? span : lineSpan(text, span)) });
    open = text.indexOf('{{', close + 2);
  }
  return { kind: 'tags', tags };
}

/** The whole line of a tag that stands alone on it, else the tag. */
function lineSpan(text: string, span: Pick<Tag, 'from' | 'to'>): Pick<Tag, 'from' | 'to'> {
  const lineStart = text.lastIndexOf('\n', span.from - 1) + 1;
  const lineEnd = text.indexOf('\n', span.to);
  const end = lineEnd === -1 ? text.length : lineEnd;
  const around = text.slice(lineStart, span.from) + text.slice(span.to, end);
  if (around.trim() !== '') return span;
  return { from: lineStart, to: lineEnd === -1 ? end : lineEnd + 1 };
}

/** Adds a tag to the open sections; returns the text of a problem, or null. */
function addTag(open: OpenSection[], top: OpenSection, tag: Tag): string | null {
  const { kind, name, place } = tag;
  switch (kind) {
    case 'comment':
      return null;
    case 'variable':
      if (name === '') return `empty variable name at ${placeText(place)}`;
      top.nodes.push({ kind: 'variable', path: pathOf(name), place });
      return null;
    case 'section':
    case 'inverted':
      if (name === '') return `empty section name at ${placeText(place)}`;
      if (open.length > MAX_TEMPLATE_DEPTH) {
        return `max depth (${MAX_TEMPLATE_DEPTH}) exceeded at ${placeText(place)}`;
      }
      open.push({ name, isInverted: kind === 'inverted', place, nodes: [] });
      return null;
    case 'close':
      return closeSection(open, top, tag);
  }
}

function closeSection(open: OpenSection[], top: OpenSection, { name, place }: Tag): string | null {
  if (open.length === 1) {
    return `closing tag '${name}' without opening section at ${placeText(place)}`;
  }
  if (top.name !== name) {
    return `mismatched section at ${placeText(place)}: expected '${top.name}', got '${name}'`;
  }
  open.pop();
  const { isInverted, nodes } = top;
  const section = {
    kind: 'section',
    path: pathOf(name),
    isInverted,
    place: top.place,
    nodes,
  } as const;
  open.at(-1)?.nodes.push(section);
  return null;
}

/** `a.b` split at its dots; a lone dot is the current value. */
function pathOf(name: string): readonly string[] {
  return name === '.' ? [] : name.split('.').map((part) => part.trim());
}

function addText(nodes: TemplateNode[], text: string): void {
  if (text !== '') nodes.push({ kind: 'text', text });
}
