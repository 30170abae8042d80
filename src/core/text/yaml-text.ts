import { stringify } from 'yaml';
import type { Json } from '../json.ts';

/**
 * `value` as YAML for a model: 2 blanks of indentation, no folding, keys in their own order, no
 * line break at the end. Reads back as the same value.
 */
export function yamlText(value: Json): string {
  return stringify(value, {
    version: '1.2',
    schema: 'core',
    indent: 2,
    lineWidth: 0,
    // One object in two places is written twice: readers refuse aliases.
    aliasDuplicateObjects: false,
  }).trimEnd();
}
