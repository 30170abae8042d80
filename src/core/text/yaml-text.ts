import { Document, isScalar, Scalar, visit } from 'yaml';
import type { Json } from '../base/json.ts';

/** `value` as YAML for a model: indented by 2, not folded. Reads back as the same value. */
export function yamlText(value: Json): string {
  const document = new Document(value, {
    version: '1.2',
    schema: 'core',
    // Write a shared object twice, because readers refuse aliases.
    aliasDuplicateObjects: false,
  });
  visit(document, {
    Pair: (_index, { key }) => {
      // Unquoted, it would be a merge key, which readers refuse.
      if (isScalar(key) && key.value === '<<') key.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString({ indent: 2, lineWidth: 0 }).trimEnd();
}
