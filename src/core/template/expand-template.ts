/** Fills a template. Hidden names are never filled in, since the result goes to a model. */
import { memberOf, type Json, type JsonObject, jsonType } from '../base/json.ts';
import { isHidden } from '../contract/signature.ts';
import { placeText } from './parse-template.ts';
import type { TagPlace, TemplateNode } from './template.ts';

/** The text; or all missing names; or the first value that has no text. */
export type Expansion =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'problem'; readonly message: string };

/** Fills `nodes` with `data`; never throws. */
export function expandTemplate(nodes: readonly TemplateNode[], data: JsonObject): Expansion {
  const notes: Notes = { missing: [], problems: [] };
  const text = expand(nodes, [data], notes);
  if (notes.missing.length > 0) {
    return { kind: 'problem', message: `missing: ${notes.missing.join(', ')}` };
  }
  const [problem] = notes.problems;
  return problem === undefined ? { kind: 'text', text } : { kind: 'problem', message: problem };
}

interface Notes {
  readonly missing: string[];
  readonly problems: string[];
}

/** Innermost context last. */
type Contexts = readonly Json[];

function expand(nodes: readonly TemplateNode[], contexts: Contexts, notes: Notes): string {
  return nodes
    .map((node) => {
      if (node.kind === 'text') return node.text;
      const value = lookUp(node.path, contexts);
      if (node.kind === 'variable') return textOf(node.path, node.place, value, notes);
      return sectionText(node, value, contexts, notes);
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
    return value.map((item: Json) => expand(nodes, [...contexts, item], notes)).join('');
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
