/**
 * JSON Schema of older drafts as draft 2020-12, which the check, the prompts and the providers of
 * today read: `$schema` of draft 4, 6 and 7 means other forms of the same keywords.
 */
import { isJsonObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { readShape } from '../../core/section/schema-shape.ts';
import { schemaAt } from '../../core/section/schema-target.ts';
import { mapSubschemas } from './subschemas.ts';

/** Schemas nested inside each other; deeper ones are left as they are. */
const MAX_DEPTH = 200;

type Draft = { [keyword: string]: Json };

/**
 * `schema` in draft 2020-12, without `$schema`:
 *
 * - a list of `items` is `prefixItems`, and `additionalItems` beside it is `items`;
 * - `exclusiveMinimum: true` beside `minimum: 1` is `exclusiveMinimum: 1`, and so for maximum;
 * - `$id: '#name'` is `$anchor: 'name'`, and `id` of draft 4 is left out.
 */
export function toCurrentDraft(schema: JsonObject): JsonObject {
  return currentDraft(schema, 0);
}

function currentDraft(schema: JsonObject, depth: number): JsonObject {
  const next: Draft = { ...schema };
  delete next['$schema'];
  if (depth > MAX_DEPTH) return next;
  const convert = (part: JsonObject): JsonObject => currentDraft(part, depth + 1);
  for (const [keyword, value] of Object.entries(next)) {
    next[keyword] = mapSubschemas(keyword, value, convert) ?? value;
  }
  convertItems(next, convert);
  convertBound(next, 'minimum', 'exclusiveMinimum');
  convertBound(next, 'maximum', 'exclusiveMaximum');
  const id = next['$id'];
  if (typeof id === 'string' && id.startsWith('#')) {
    delete next['$id'];
    if (id.length > 1) next['$anchor'] = id.slice(1);
  }
  // The name of `$id` in draft 4. A property of that name is inside `properties`.
  if (typeof next['id'] === 'string') delete next['id'];
  return next;
}

function convertItems(next: Draft, convert: (part: JsonObject) => JsonObject): void {
  const { items, additionalItems } = next;
  if (Array.isArray(items)) {
    next['prefixItems'] = (items as readonly Json[]).map((item) =>
      isJsonObject(item) ? convert(item) : item,
    );
    delete next['items'];
    if (additionalItems !== undefined) next['items'] = additionalItems;
  }
  delete next['additionalItems'];
}

function convertBound(next: Draft, bound: string, exclusive: string): void {
  const value = next[exclusive];
  if (typeof value !== 'boolean') return;
  delete next[exclusive];
  const limit = next[bound];
  if (!value || limit === undefined) return;
  next[exclusive] = limit;
  delete next[bound];
}

/**
 * `schema` with `"type": "object"` at its root, as providers require, if all its values are
 * objects: the target of a reference at the root is written in its place. Else `schema`.
 */
export function withObjectRoot(schema: JsonObject): JsonObject {
  if (schema['type'] === 'object') return schema;
  const { shape, named } = readShape(schema);
  const root = shape.kind === 'name' ? named.get(shape.name) : shape;
  const members = root?.kind === 'union' ? root.members : [root];
  const areObjects = members.every(
    (member) =>
      member?.kind === 'record' ||
      (member?.kind === 'word' && member.word === 'map') ||
      (member?.kind === 'name' && named.get(member.name)?.kind === 'record'),
  );
  return areObjects ? { ...withoutRootReference(schema), type: 'object' } : schema;
}

function withoutRootReference(schema: JsonObject): JsonObject {
  const { $ref: pointer, ...others } = schema;
  const target = typeof pointer === 'string' ? schemaAt(pointer, schema) : undefined;
  if (!isJsonObject(target)) return schema;
  // Keywords of both apply, so one that stands in both cannot be written once.
  const isTwice = Object.keys(target).some(
    (keyword) => Object.hasOwn(others, keyword) && !['title', 'description'].includes(keyword),
  );
  return isTwice ? schema : { ...target, ...others };
}
