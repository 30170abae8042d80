/**
 * A template for a model that reads data by programs: it names the data instead of containing it.
 * Hidden names are allowed, since a name reveals no value.
 */
import { memberOf, type Json, type JsonObject } from '../base/json.ts';
import type { TemplateNode } from './template.ts';

/** The text, and the tags whose data is missing, each once. */
export interface NamedData {
  readonly text: string;
  readonly missing: readonly string[];
}

/**
 * `nodes` with `~{data/name}` for each variable that `data` has; `{{task}}` is the text of the
 * task, which is not data. A missing name stays as written. Agents with sections in such a template
 * are refused by `defineAgent`.
 */
export function nameData(nodes: readonly TemplateNode[], data: JsonObject): NamedData {
  const missing = new Set<string>();
  const text = nodes
    .map((node) => {
      if (node.kind === 'text') return node.text;
      const name = node.path.join('.');
      if (name === 'task' && typeof data['task'] === 'string') return data['task'];
      const value = node.path.reduce<Json | undefined>(memberOf, data);
      if (name !== '' && value !== undefined) return `~{data/${name}}`;
      const tag = `{{${name === '' ? '.' : name}}}`;
      missing.add(tag);
      return tag;
    })
    .join('');
  return { text, missing: [...missing] };
}
