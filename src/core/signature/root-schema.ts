/** Roots of schemas as providers require them: objects, and references that lead to definitions. */
import { defined } from '../base/defined.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { schemaAt } from '../section/schema-target.ts';

/** Definitions that are made for references to other places. */
const MAX_HOISTED = 100;

type Draft = { [keyword: string]: Json };

/** An object whose only field is a value of `schema`. */
export function wrappedRoot(schema: JsonObject, field: string): JsonObject {
  const { $defs, definitions, ...value } = withDefinitions(schema);
  return defined({
    type: 'object',
    properties: { [field]: value },
    required: [field],
    additionalProperties: false,
    $defs,
    definitions,
  });
}

/**
 * `schema` with every local reference to a definition of its root: what another place is referred
 * to as, the root itself included, becomes a definition. `schema` itself if that is so already.
 */
export function withDefinitions(schema: JsonObject): JsonObject {
  const names = new Map<string, string>();
  const left: Json[] = [schema];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (at === null || typeof at !== 'object') continue;
    const pointer = isJsonObject(at) ? at['$ref'] : undefined;
    if (typeof pointer === 'string' && isElsewhere(pointer) && names.size < MAX_HOISTED) {
      if (schemaAt(pointer, schema) !== undefined) names.set(pointer, '');
    }
    for (const part of Object.values(at) as readonly Json[]) left.push(part);
  }
  if (names.size === 0) return schema;
  const own = isJsonObject(schema['$defs']) ? schema['$defs'] : {};
  for (const pointer of names.keys()) names.set(pointer, freeName(pointer, own, names));
  const pointed = (part: Json): Json => withPointers(part, names);
  const { $defs: _defs, definitions, ...root } = schema;
  const made = [...names].map(([pointer, name]): readonly [string, Json] => {
    const target = pointer === '#' ? root : (schemaAt(pointer, schema) ?? {});
    return [name, pointed(target)];
  });
  return defined({
    ...(pointed(root) as JsonObject),
    $defs: { ...(pointed(own) as JsonObject), ...Object.fromEntries(made) },
    definitions: definitions && pointed(definitions),
  });
}

/** Whether a pointer leads into the schema, but not to a definition. */
function isElsewhere(pointer: string): boolean {
  const isDefinition = /^#\/(?:\$defs|definitions)\/[^/]+$/.test(pointer);
  return !isDefinition && (pointer === '#' || pointer.startsWith('#/'));
}

function freeName(pointer: string, own: JsonObject, names: ReadonlyMap<string, string>): string {
  const last = /[^/#]*$/.exec(pointer)?.[0].replaceAll(/[^\w.-]/g, '_') ?? '';
  const base = last === '' ? 'Root' : last;
  const isTaken = (name: string): boolean =>
    Object.hasOwn(own, name) || [...names.values()].includes(name);
  let name = base;
  for (let count = 2; isTaken(name); count++) name = `${base}${count}`;
  return name;
}

function withPointers(part: Json, names: ReadonlyMap<string, string>): Json {
  if (Array.isArray(part)) return part.map((item: Json) => withPointers(item, names));
  if (!isJsonObject(part)) return part;
  const next: Draft = {};
  for (const [key, value] of Object.entries(part)) {
    const name = key === '$ref' && typeof value === 'string' ? names.get(value) : undefined;
    next[key] = name === undefined ? withPointers(value, names) : `#/$defs/${name}`;
  }
  return next;
}
