/**
 * What a JSON Schema allows at a place, as far as YAML needs it to tell text from numbers: types,
 * and the schema one level down. Understands `type`, `enum`, `const`, `properties`,
 * `additionalProperties`, `items`, `prefixItems`, local `$ref`, `allOf`, `anyOf` and `oneOf`.
 */
import { isJsonObject, type Json, type JsonObject, jsonType } from '../base/json.ts';
import { targetOf } from './schema-target.ts';

/** A type of JSON Schema. */
export type SchemaType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object';

/** A moment, a duration as ISO text, or a duration as integer milliseconds. */
export type Coercion = 'date-time' | 'duration' | 'duration-ms';

/** A place in a value, as its schema describes it; caches its lookups. */
export interface SchemaPlace {
  /** The types allowed here, or undefined if all are. */
  readonly types: ReadonlySet<SchemaType> | undefined;
  /** The form that text here is converted to before it is checked. */
  readonly coercion: Coercion | undefined;
  /** The place of a property, even if the schema does not name it. */
  property(name: string): SchemaPlace;
  /** The place of an item of a list. */
  item(index: number): SchemaPlace;
  /** What the schema says of a property; a union needs it if all its objects do. */
  presence(name: string): Presence;
  /** Whether a property may be null, as far as those parts say that declare it. */
  takesNull(name: string): boolean;
}

/** Whether an object must have a property, may have it, or has it without a word of the schema. */
export type Presence = 'required' | 'optional' | 'undeclared';

/** Nested `$ref`s or unions that are followed; beyond that, anything is allowed. */
const maxNesting = 32;

/** Union members that are considered; beyond that, anything is allowed. */
const maxMembers = 64;

/** Cached children of a place. Bounded, because models may write any name. */
const maxChildren = 1_000;

const anything: SchemaPlace = {
  types: undefined,
  coercion: undefined,
  property: () => anything,
  item: () => anything,
  presence: () => 'undeclared',
  takesNull: () => true,
};

/** Each schema is read once, since a tool's is needed at every call. */
const roots = new WeakMap<JsonObject, SchemaPlace>();

/** The root place of `schema`; without a schema every place allows anything. */
export function schemaPlace(schema: Json | undefined): SchemaPlace {
  if (!isJsonObject(schema)) return anything;
  const known = roots.get(schema);
  if (known !== undefined) return known;
  const root = placeOf(schema, schema, new Map());
  roots.set(schema, root);
  return root;
}

function placeOf(schema: Json, root: JsonObject, known: Map<Json, SchemaPlace>): SchemaPlace {
  if (!isJsonObject(schema)) return anything;
  const found = known.get(schema);
  if (found !== undefined) return found;
  const down = (step: Step): SchemaPlace => {
    const child = childOf(schema, root, step, new WeakMap());
    return child === undefined ? anything : placeOf(child, root, known);
  };
  const children = new Map<string, SchemaPlace>();
  const remember = (key: string, step: Step): SchemaPlace => {
    const child = children.get(key);
    if (child !== undefined) return child;
    const place = down(step);
    if (children.size < maxChildren) children.set(key, place);
    return place;
  };
  const prefixLength = prefixItems(schema).length;
  const place: SchemaPlace = {
    types: typesOf(schema, root, 0),
    coercion: coercionOf(schema, root, 0),
    property: (name) => remember(`.${name}`, { kind: 'property', name }),
    item: (index) =>
      // Without a prefix all items share a place, since real lists have 40,000 items.
      prefixLength === 0 && !hasBranches(schema)
        ? remember('[]', { kind: 'item', index })
        : remember(`[${Math.min(index, maxMembers)}]`, { kind: 'item', index }),
    presence: (name) => presenceOf(schema, root, name, new Map()),
    takesNull: (name) => mayBeNull(schema, root, name, new Set()),
  };
  known.set(schema, place);
  return place;
}

type Step =
  | { readonly kind: 'property'; readonly name: string }
  | { readonly kind: 'item'; readonly index: number };

/** What was read of each part of a root: parts may refer to each other in any number of ways. */
type Known<T> = WeakMap<JsonObject, Map<Json, T | undefined>>;

/** What `read` gives for a part, once; undefined inside of itself, and nested too deep. */
function once<T>(
  known: Known<T>,
  schema: Json,
  root: JsonObject,
  nesting: number,
  read: (schema: JsonObject) => T | undefined,
): T | undefined {
  if (!isJsonObject(schema) || nesting > maxNesting) return undefined;
  const parts = known.get(root) ?? new Map<Json, T | undefined>();
  known.set(root, parts);
  if (parts.has(schema)) return parts.get(schema);
  parts.set(schema, undefined);
  const found = read(schema);
  parts.set(schema, found);
  return found;
}

const knownTypes: Known<ReadonlySet<SchemaType>> = new WeakMap();

/** The types that `schema` allows; undefined for all. */
function typesOf(
  schema: Json,
  root: JsonObject,
  nesting: number,
): ReadonlySet<SchemaType> | undefined {
  return once(knownTypes, schema, root, nesting, (part) => readTypes(part, root, nesting));
}

function readTypes(
  schema: JsonObject,
  root: JsonObject,
  nesting: number,
): ReadonlySet<SchemaType> | undefined {
  const conditions = [
    declaredTypes(schema),
    ...conjuncts(schema, root).map((part) => typesOf(part, root, nesting + 1)),
    ...unions(schema).map((members) =>
      unionOf(members.map((member) => typesOf(member, root, nesting + 1))),
    ),
  ].filter((types) => types !== undefined);
  const [first, ...others] = conditions;
  if (first === undefined) return undefined;
  return new Set([...first].filter((type) => others.every((types) => allows(types, type))));
}

/** Whether `types` allows values of `type`; every integer is a number. */
export function allows(types: ReadonlySet<SchemaType> | undefined, type: SchemaType): boolean {
  if (types === undefined || types.has(type)) return true;
  return type === 'integer' && types.has('number');
}

function declaredTypes(schema: JsonObject): ReadonlySet<SchemaType> | undefined {
  const type = schema['type'];
  if (typeof type === 'string') return new Set([type as SchemaType]);
  if (Array.isArray(type)) return new Set(type as readonly SchemaType[]);
  const values = Array.isArray(schema['enum'])
    ? (schema['enum'] as readonly Json[])
    : schema['const'] === undefined
      ? undefined
      : [schema['const']];
  return values === undefined ? undefined : new Set(values.map(jsonType));
}

function unionOf(
  members: readonly (ReadonlySet<SchemaType> | undefined)[],
): ReadonlySet<SchemaType> | undefined {
  const types = new Set<SchemaType>();
  for (const member of members) {
    if (member === undefined) return undefined;
    for (const type of member) types.add(type);
  }
  return types;
}

const knownCoercions: Known<Coercion> = new WeakMap();

/**
 * The coercion of the first part that names a format. A union coerces only if all its members that
 * allow text agree; otherwise text that one of them accepts unchanged would be changed.
 */
function coercionOf(schema: Json, root: JsonObject, nesting: number): Coercion | undefined {
  return once(knownCoercions, schema, root, nesting, (part) => readCoercion(part, root, nesting));
}

function readCoercion(schema: JsonObject, root: JsonObject, nesting: number): Coercion | undefined {
  const below = (part: Json): Coercion | undefined => coercionOf(part, root, nesting + 1);
  const ofUnions = unions(schema).map((members) => {
    const forText = members.filter((part) => allows(typesOf(part, root, nesting + 1), 'string'));
    const asked = new Set((forText.length > 0 ? forText : members).map(below));
    // Members that allow no text, such as null, do not count.
    if (forText.length === 0) asked.delete(undefined);
    const [only] = asked;
    return asked.size === 1 ? only : undefined;
  });
  const asked = [ownCoercion(schema), ...conjuncts(schema, root).map(below), ...ofUnions];
  return asked.find((coercion) => coercion !== undefined);
}

function ownCoercion(schema: JsonObject): Coercion | undefined {
  const types = declaredTypes(schema);
  const isText = types?.has('string') === true;
  if (schema['format'] === 'date-time' && isText) return 'date-time';
  if (schema['format'] !== 'duration') return undefined;
  if (isText) return 'duration';
  return types?.has('integer') === true ? 'duration-ms' : undefined;
}

/** The schema one level down, combined from all parts that describe it; undefined if none does. */
function childOf(schema: Json, root: JsonObject, step: Step, known: Known<Json>): Json | undefined {
  return once(known, schema, root, 0, (part) => readChild(part, root, step, known));
}

function readChild(
  schema: JsonObject,
  root: JsonObject,
  step: Step,
  known: Known<Json>,
): Json | undefined {
  const own = ownChild(schema, step);
  const parts = conjuncts(schema, root).map((part) => childOf(part, root, step, known));
  const branches = unions(schema).map((members) => {
    const holder: SchemaType = step.kind === 'property' ? 'object' : 'array';
    const children = members
      .filter((member) => allows(typesOf(member, root, 0), holder))
      .map((member) => childOf(member, root, step, known) ?? {});
    const distinct = [...new Set(children.map((child) => targetOf(child, root)))];
    if (distinct.length === 0 || distinct.length > maxMembers) return undefined;
    return distinct.length === 1 ? distinct[0] : { anyOf: distinct };
  });
  const all = [own, ...parts, ...branches].filter((part) => part !== undefined);
  return all.length > 1 ? { allOf: all } : all[0];
}

function ownChild(schema: JsonObject, step: Step): Json | undefined {
  if (step.kind === 'item') {
    return prefixItems(schema)[step.index] ?? schema['items'];
  }
  const properties = schema['properties'];
  return isJsonObject(properties) && Object.hasOwn(properties, step.name)
    ? properties[step.name]
    : schema['additionalProperties'];
}

/**
 * Declared by any part, and needed by one that always applies or by all objects of a union. `seen`:
 * the parts that were looked at, since a part may be referred to from many places.
 */
function presenceOf(
  schema: Json,
  root: JsonObject,
  name: string,
  seen: Map<Json, Presence>,
): Presence {
  if (!isJsonObject(schema)) return 'undeclared';
  const known = seen.get(schema);
  if (known !== undefined) return known;
  seen.set(schema, 'undeclared');
  const { required } = schema;
  const isNeeded = Array.isArray(required) && required.includes(name);
  const below = (part: Json): Presence => presenceOf(part, root, name, seen);
  const ofUnions = unions(schema).map((members) => {
    const objects = members.filter((part) => allows(typesOf(part, root, 0), 'object'));
    const found = objects.slice(0, maxMembers).map(below);
    if (found.length > 0 && found.every((presence) => presence === 'required')) return 'required';
    return found.every((presence) => presence === 'undeclared') ? 'undeclared' : 'optional';
  });
  const found = [...conjuncts(schema, root).map(below), ...ofUnions];
  const isOptional = declared(schema, name) !== undefined || found.includes('optional');
  const presence =
    isNeeded || found.includes('required') ? 'required' : isOptional ? 'optional' : 'undeclared';
  seen.set(schema, presence);
  return presence;
}

function declared({ properties }: JsonObject, name: string): Json | undefined {
  return isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** Whether a part that declares the property lets it be null. */
function mayBeNull(schema: Json, root: JsonObject, name: string, seen: Set<Json>): boolean {
  if (!isJsonObject(schema) || seen.has(schema)) return false;
  seen.add(schema);
  const own = declared(schema, name);
  if (own !== undefined && allows(typesOf(own, root, 0), 'null')) return true;
  const members = unions(schema).flatMap((union) => union.slice(0, maxMembers));
  return [...conjuncts(schema, root), ...members].some((part) => mayBeNull(part, root, name, seen));
}

function prefixItems(schema: JsonObject): readonly Json[] {
  const items = schema['prefixItems'];
  return Array.isArray(items) ? (items as readonly Json[]) : [];
}

function hasBranches(schema: JsonObject): boolean {
  return ['$ref', 'allOf', 'anyOf', 'oneOf'].some((keyword) => keyword in schema);
}

/** Schemas that apply together with this one: the target of a local `$ref`, and `allOf`. */
function conjuncts(schema: JsonObject, root: JsonObject): readonly Json[] {
  const target = typeof schema['$ref'] === 'string' ? targetOf(schema, root) : undefined;
  const all = schema['allOf'];
  return [
    ...(target === undefined || target === schema ? [] : [target]),
    ...(Array.isArray(all) ? (all as readonly Json[]) : []),
  ];
}

function unions(schema: JsonObject): readonly (readonly Json[])[] {
  return [schema['anyOf'], schema['oneOf']].filter((members) => Array.isArray(members));
}
