/** Fills a template. Hidden names are never filled in, since the result goes to a model. */
import { memberOf, type Json, type JsonObject, jsonType } from '../base/json.ts';
import { isHidden } from '../contract/signature.ts';
import { placeText } from './parse-template.ts';
import type { TagPlace, TemplateNode } from './template.ts';

/** The text; or all missing names; or the first value that has no text. */
export type Expansion =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'problem'; readonly message: string };

/** How a template is filled that comes with a start, and not with a definition. */
export interface Filling {
  /**
   * What is missing inside the data of these names is empty, and its lists and objects are JSON; in
   * all other data both are problems. Default: none.
   */
  readonly loose?: readonly string[];
  /** Characters of the text, and pieces that make it, at most; default: no bound. */
  readonly max?: number;
}

/** Fills `nodes` with `data`; never throws. */
export function expandTemplate(
  nodes: readonly TemplateNode[],
  data: JsonObject,
  { loose = [], max = Infinity }: Filling = {},
): Expansion {
  const notes: Notes = { missing: [], problems: [], loose, left: max };
  const text = expand(nodes, [data], notes);
  if (notes.left < 0) {
    const message = `Expected a text of at most ${max} characters, got more. Name less data.`;
    return { kind: 'problem', message };
  }
  if (notes.missing.length > 0) {
    return { kind: 'problem', message: `missing: ${notes.missing.join(', ')}` };
  }
  const [problem] = notes.problems;
  return problem === undefined ? { kind: 'text', text } : { kind: 'problem', message: problem };
}

interface Notes {
  readonly missing: string[];
  readonly problems: string[];
  readonly loose: readonly string[];
  /** Characters that the text may still have; below 0: nothing more is written. */
  left: number;
}

/** Innermost context last. */
type Contexts = readonly Json[];

function expand(nodes: readonly TemplateNode[], contexts: Contexts, notes: Notes): string {
  return nodes
    .map((node) => {
      // Sections in sections multiply what they write, so each piece counts.
      if (--notes.left < 0) return '';
      if (node.kind === 'section') {
        return sectionText(node, lookUp(node.path, contexts), contexts, notes);
      }
      const text =
        node.kind === 'text'
          ? node.text
          : textOf(node.path, node.place, lookUp(node.path, contexts), notes);
      notes.left -= text.length;
      return text;
    })
    .join('');
}

function sectionText(
  { isInverted, nodes }: Extract<TemplateNode, { readonly kind: 'section' }>,
  value: Json | undefined,
  contexts: Contexts,
  notes: Notes,
): string {
  if (isInverted) return isFalsy(value) ? expand(nodes, contexts, notes) : '';
  if (value === undefined || isFalsy(value)) return '';
  if (Array.isArray(value)) {
    let text = '';
    for (const item of value as readonly Json[]) {
      // An empty section writes nothing, but takes its time.
      if (--notes.left < 0) break;
      text += expand(nodes, [...contexts, item], notes);
    }
    return text;
  }
  return expand(nodes, [...contexts, value], notes);
}

/** `0` and `{}` are data; nothing, false, empty text and an empty list are not. */
function isFalsy(value: Json | undefined): boolean {
  return (
    value === undefined ||
    value === null ||
    value === false ||
    value === '' ||
    (Array.isArray(value) && value.length === 0)
  );
}

/** The first name is looked up from the innermost context outward, the others inside its value. */
function lookUp(path: readonly string[], contexts: Contexts): Json | undefined {
  if (path.some(isHidden)) return undefined;
  const [first, ...rest] = path;
  if (first === undefined) return contexts.at(-1);
  const holder = contexts.findLast((context) => memberOf(context, first) !== undefined);
  let value = memberOf(holder, first);
  for (const name of rest) value = memberOf(value, name);
  return value;
}

function textOf(
  path: readonly string[],
  place: TagPlace,
  value: Json | undefined,
  notes: Notes,
): string {
  const tag = `{{${path.length === 0 ? '.' : path.join('.')}}}`;
  const at = `(${placeText(place)})`;
  const [root = ''] = path;
  const isLoose = path.length > 1 && notes.loose.includes(root);
  if (isLoose && (value === undefined || typeof value === 'object')) {
    return value === undefined || value === null ? '' : JSON.stringify(value);
  }
  if (value === undefined) {
    notes.missing.push(`${tag} ${at}`);
    return '';
  }
  if (typeof value !== 'object' || value === null) return value === null ? '' : String(value);
  const kind = jsonType(value) === 'array' ? 'a list' : 'an object';
  if (path.length === 0) notes.problems.push(`${tag} needs a scalar, got ${kind} ${at}.`);
  else if (kind === 'a list') {
    const advice = `Use a section {{#${path.join('.')}}} to repeat.`;
    notes.problems.push(`${tag} is a list ${at}. ${advice}`);
  } else notes.problems.push(`${tag} is an object ${at}. Name a field.`);
  return '';
}
