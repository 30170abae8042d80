/** Schemas without `allOf`: what several schemas say together, as one. */
import { isJsonObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { schemaAt } from '../../core/section/schema-target.ts';

/** References behind each other that are followed. */
const MAX_NESTING = 32;

/**
 * Values of one schema that fit the other too, as one schema. Of keywords that differ the first
 * stays: a provider may then allow more than the schema, whose own check follows.
 */
export function merged(one: JsonObject, other: JsonObject): JsonObject {
  const both: { [keyword: string]: Json } = { ...other, ...one };
  const [fields, others] = [one['properties'], other['properties']];
  if (isJsonObject(fields) && isJsonObject(others)) {
    const shared = Object.entries(fields).map(([name, field]): readonly [string, Json] => [
      name,
      Object.hasOwn(others, name) ? joinedField(field, others[name] ?? true) : field,
    ]);
    both['properties'] = { ...others, ...Object.fromEntries(shared) };
  }
  const required = [one['required'], other['required']].flatMap((names) =>
    Array.isArray(names) ? (names as readonly Json[]) : [],
  );
  if (required.length > 0) both['required'] = [...new Set(required)];
  const [values, allowed] = [one['enum'], other['enum']];
  if (Array.isArray(values) && Array.isArray(allowed)) {
    const common = values.filter((value: Json) => allowed.includes(value));
    both['enum'] = common.length === 0 ? values : common;
  }
  // Each of two closed objects would refuse the fields of the other.
  if (isJsonObject(fields) !== isJsonObject(others)) return both;
  if (one['additionalProperties'] !== other['additionalProperties']) {
    delete both['additionalProperties'];
  }
  return both;
}

function joinedField(one: Json, other: Json): Json {
  if (!isJsonObject(one)) return other;
  if (!isJsonObject(other) || JSON.stringify(one) === JSON.stringify(other)) return one;
  return { allOf: [one, other] };
}

/**
 * `schema` with its `allOf` merged into it; references in and beside `allOf` are followed, each
 * once, since what is said twice is said.
 */
export function withoutAllOf(
  schema: JsonObject,
  root: JsonObject,
  seen: Set<Json> = new Set(),
): JsonObject {
  const { allOf, ...own } = schema;
  const parts = Array.isArray(allOf) ? (allOf as readonly Json[]) : [];
  return parts
    .filter((part) => isJsonObject(part))
    .filter(({ $ref: pointer }) => {
      const isNew = pointer === undefined || !seen.has(pointer);
      if (pointer !== undefined) seen.add(pointer);
      return isNew;
    })
    .map((part) => withoutAllOf(resolved(part, root), root, seen))
    .reduce(merged, own);
}

/** The target of a reference, with what stands beside it. */
export function resolved(schema: JsonObject, root: JsonObject): JsonObject {
  let result = schema;
  for (let left = MAX_NESTING; typeof result['$ref'] === 'string' && left > 0; left--) {
    const { $ref: pointer, ...beside } = result;
    const target = schemaAt(pointer as string, root);
    result = isJsonObject(target) ? merged(beside, target) : beside;
  }
  return result;
}
