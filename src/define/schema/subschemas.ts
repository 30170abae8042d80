/** Where JSON Schema nests schemas: the keywords of draft 4 to 2020-12 that hold subschemas. */
import { isJsonObject, type Json, type JsonObject } from '../../core/base/json.ts';

/** Keywords whose value is a map of schemas by name; `dependencies` may have lists of names too. */
export const SCHEMA_MAPS: readonly string[] = [
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
];

/** Keywords whose value is one schema; before draft 2020-12, `items` may have a list. */
export const SINGLE_SCHEMAS: readonly string[] = [
  'items',
  'additionalItems',
  'additionalProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
];

/** Keywords whose value is a list of schemas. */
export const SCHEMA_LISTS: readonly string[] = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];

/**
 * `value` of `keyword` with each schema directly in it replaced by `change`, and the names in a map
 * by `rename`. A boolean stays as it is, being a schema without parts. Undefined if the value holds
 * no schemas.
 */
export function mapSubschemas(
  keyword: string,
  value: Json,
  change: (schema: JsonObject) => Json,
  rename: (name: string) => string = (name) => name,
): Json | undefined {
  const each = (part: Json): Json => (isJsonObject(part) ? change(part) : part);
  if (SINGLE_SCHEMAS.includes(keyword)) return each(value);
  if (SCHEMA_LISTS.includes(keyword) && Array.isArray(value)) return value.map(each);
  if (!SCHEMA_MAPS.includes(keyword) || !isJsonObject(value)) return undefined;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [rename(name), each(part)]),
  );
}
