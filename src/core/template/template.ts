/** A template as data: text, names to fill in, sections that repeat or are conditional. */

/** The place of a tag, both from 1. */
export interface TagPlace {
  readonly line: number;
  /** In UTF-16 code units. */
  readonly column: number;
}

/** One piece of a template. `path` is the name split at its dots; empty for `{{.}}`. */
export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'variable'; readonly path: readonly string[]; readonly place: TagPlace }
  | {
      readonly kind: 'section';
      readonly path: readonly string[];
      /** Shown if the value is falsy. */
      readonly isInverted: boolean;
      readonly place: TagPlace;
      readonly nodes: readonly TemplateNode[];
    };

/** A parsed template, or its first problem. */
export type TemplateReading =
  | { readonly kind: 'template'; readonly nodes: readonly TemplateNode[] }
  | { readonly kind: 'problem'; readonly message: string };

/** Sections nested inside each other. */
export const MAX_TEMPLATE_DEPTH = 20;

/** A name in a template, with its tag as written; names of sections too. */
export interface TemplateName {
  readonly root: string;
  readonly tag: string;
  readonly isSection: boolean;
  /** Whether it is outside of every section, where the context is the data of the run. */
  readonly isOuter: boolean;
}

/** The names in `nodes`, in order of appearance. `{{.}}` has none. */
export function namesOf(nodes: readonly TemplateNode[], isOuter = true): readonly TemplateName[] {
  return nodes.flatMap((node): readonly TemplateName[] => {
    if (node.kind === 'text') return [];
    const [root] = node.path;
    const own = root === undefined ? [] : [{ root, ...tagOf(node), isOuter }];
    return node.kind === 'variable' ? own : [...own, ...namesOf(node.nodes, false)];
  });
}

function tagOf(
  node: Exclude<TemplateNode, { readonly kind: 'text' }>,
): Pick<TemplateName, 'tag' | 'isSection'> {
  const name = node.path.join('.');
  if (node.kind === 'variable') return { tag: `{{${name}}}`, isSection: false };
  return { tag: `{{${node.isInverted ? '^' : '#'}${name}}}`, isSection: true };
}
