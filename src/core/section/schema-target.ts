/** Follows the local references of a JSON Schema. */
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';

/** The target of a schema that is only a local `$ref`; other schemas unchanged. */
export function targetOf(schema: Json, root: JsonObject): Json {
  if (!isJsonObject(schema) || typeof schema['$ref'] !== 'string') return schema;
  return schemaAt(schema['$ref'], root) ?? schema;
}

/** The schema at a JSON pointer such as `#/$defs/flight`; undefined if there is none in `root`. */
export function schemaAt(pointer: string, root: JsonObject): Json | undefined {
  if (pointer === '#') return root;
  if (!pointer.startsWith('#/')) return undefined;
  let target: Json = root;
  for (const part of pointer.slice(2).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    const inner: Json | undefined = Array.isArray(target)
      ? (target as readonly Json[])[Number(key)]
      : isJsonObject(target) && Object.hasOwn(target, key)
        ? target[key]
        : undefined;
    if (inner === undefined) return undefined;
    target = inner;
  }
  return target;
}
