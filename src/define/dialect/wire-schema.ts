/**
 * A schema as a provider takes it, and the way of values there and back.
 *
 * I1  The root is an object without `anyOf`, `oneOf`, `allOf` or `enum` beside its fields: any other
 *     root is the only field of an object.
 * I2  Names of fields are 1 to 64 letters, digits, `_`, `.` and `-`: others have a name on the wire.
 * I3  `decode(encode(value))` is `value`. A value that was not wrapped is taken, too.
 */
import { defined } from '../../core/base/defined.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { isAbsent } from '../../core/section/coerce.ts';
import { schemaPlace, type SchemaPlace } from '../../core/section/schema-types.ts';
import { withDefinitions, wrappedRoot } from '../../core/signature/root-schema.ts';
import { mapSubschemas } from '../schema/subschemas.ts';
import type { Dialect } from './dialect.ts';
import { resolved, withoutAllOf } from './merge.ts';
import { writeSubset, type DialectProblem } from './subset.ts';

/** A schema on the wire. */
export interface WireSchema {
  readonly schema: JsonObject;
  /** Whether values have another form there. */
  readonly isChanged: boolean;
  /** What the dialect cannot say without a change of meaning; empty: nothing. */
  readonly problems: readonly DialectProblem[];
  /** A value in the form of the wire. */
  encode(value: Json): Json;
  /** A value in the form of the schema. */
  decode(value: Json): Json;
}

const known = new WeakMap<JsonObject, Map<Dialect, WireSchema>>();

/** `schema` in `dialect`; each schema object is read once. */
export function wireSchema(schema: JsonObject, dialect: Dialect): WireSchema {
  const found = known.get(schema) ?? new Map<Dialect, WireSchema>();
  known.set(schema, found);
  const wire = found.get(dialect) ?? newWire(schema, dialect);
  found.set(dialect, wire);
  return wire;
}

function newWire(schema: JsonObject, dialect: Dialect): WireSchema {
  const root = objectRoot(withDefinitions(schema));
  const field = root === undefined ? freeField(schema) : undefined;
  const whole = root ?? wrappedRoot(schema, field ?? 'value');
  const { schema: written, problems } =
    dialect.name === 'open'
      ? { schema: openSchema(whole), problems: [] }
      : writeSubset(whole, dialect);
  const names = wireNames(whole);
  const place = schemaPlace(schema);
  const originals = new Map([...names].map(([name, wire]) => [wire, name]));
  return {
    schema: names.size === 0 ? written : (renamed(written, names) as JsonObject),
    isChanged: field !== undefined || names.size > 0 || dialect.isClosed,
    problems,
    encode: (value) => {
      const named = names.size === 0 ? value : sent(value, names, place);
      return field === undefined ? named : { [field]: named };
    },
    decode: (value) => {
      const bare = field === undefined ? value : unwrapped(value, field);
      const own = names.size === 0 ? bare : received(bare, originals, place);
      return dialect.isClosed ? withoutAbsent(own, place) : own;
    },
  };
}

/** The root as one object, or undefined if it has to be wrapped. */
function objectRoot(schema: JsonObject): JsonObject | undefined {
  const { $defs, definitions } = schema;
  const hasParts = schema['$ref'] !== undefined || schema['allOf'] !== undefined;
  const whole = hasParts ? withoutAllOf(resolved(schema, schema), schema) : schema;
  const { anyOf, oneOf, ...own } = whole;
  const unions = [anyOf, oneOf].filter((union) => union !== undefined);
  // "One of these fields must be there" is left to the check of the schema itself.
  const areRules = unions.every(
    (union) => Array.isArray(union) && union.every((member: Json) => isRule(member)),
  );
  const isObject = own['type'] === 'object' || isJsonObject(own['properties']);
  if (!isObject || !areRules || own['enum'] !== undefined || own['not'] !== undefined) {
    return undefined;
  }
  if (!hasParts && unions.length === 0 && own['type'] === 'object') return schema;
  return defined({ ...own, type: 'object', $defs, definitions });
}

function isRule(member: Json): boolean {
  return (
    isJsonObject(member) &&
    Object.keys(member).every((keyword) => ['required', 'not', 'type'].includes(keyword))
  );
}

/** The name of the field that wraps a root. */
function freeField(schema: JsonObject): string {
  if (schema['type'] === 'array') return 'items';
  const place = schemaPlace(schema);
  let name = 'value';
  while (place.presence(name) !== 'undeclared') name = `${name}_`;
  return name;
}

function unwrapped(value: Json, field: string): Json {
  const isWrapped =
    isJsonObject(value) && Object.keys(value).length === 1 && Object.hasOwn(value, field);
  return isWrapped ? (value[field] ?? null) : value;
}

/** A list without a schema of its items, which OpenAI refuses, gets one that takes anything. */
function openSchema(schema: JsonObject): JsonObject {
  let isSame = true;
  const next: { [keyword: string]: Json } = {};
  for (const [keyword, value] of Object.entries(schema)) {
    next[keyword] = mapSubschemas(keyword, value, openSchema) ?? value;
    isSame &&= sameParts(next[keyword], value);
  }
  const { type } = schema;
  const isList = type === 'array' || (Array.isArray(type) && type.includes('array'));
  if (!isList || isJsonObject(schema['items'])) return isSame ? schema : next;
  return { ...next, items: {} };
}

/** Whether nothing was written anew in the parts of a keyword. */
function sameParts(one: Json | undefined, other: Json): boolean {
  if (one === other) return true;
  if (one === undefined || one === null || typeof one !== 'object') return false;
  const parts = other as JsonObject;
  return Object.entries(one as JsonObject).every(([key, part]) => part === parts[key]);
}

const PLAIN_NAME = /^[A-Za-z0-9_.-]{1,64}$/;

/** Names on the wire of all fields whose own cannot be there. */
function wireNames(schema: JsonObject): ReadonlyMap<string, string> {
  const all = new Set<string>();
  const collect = (part: JsonObject): Json => {
    for (const [keyword, value] of Object.entries(part)) {
      if (keyword === 'properties' && isJsonObject(value)) {
        for (const name of Object.keys(value)) all.add(name);
      }
      mapSubschemas(keyword, value, collect);
    }
    return part;
  };
  collect(schema);
  const names = new Map<string, string>();
  const taken = new Set([...all].filter((name) => PLAIN_NAME.test(name)));
  for (const name of all) {
    if (PLAIN_NAME.test(name)) continue;
    const base = name.replaceAll(/[^A-Za-z0-9_.-]/gu, '_').slice(0, 60) || 'field';
    let wire = base;
    for (let count = 2; taken.has(wire); count++) wire = `${base}_${count}`;
    taken.add(wire);
    names.set(name, wire);
  }
  return names;
}

/** `schema` with its fields under their names on the wire; the description has their own. */
function renamed(schema: Json, names: ReadonlyMap<string, string>): Json {
  if (!isJsonObject(schema)) return schema;
  const next: { [keyword: string]: Json } = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const parts = mapSubschemas(
      keyword,
      value,
      (part) => renamed(part, names),
      keyword === 'properties' ? (name) => names.get(name) ?? name : undefined,
    );
    const isList = keyword === 'required' && Array.isArray(value);
    next[keyword] = isList
      ? value.map((name: Json) => (typeof name === 'string' ? (names.get(name) ?? name) : name))
      : (parts ?? value);
  }
  const { properties } = next;
  if (isJsonObject(properties)) next['properties'] = labelled(properties, names);
  return next;
}

function labelled(properties: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const originals = new Map([...names].map(([name, wire]) => [wire, name]));
  const entries = Object.entries(properties).map(([wire, part]): readonly [string, Json] => {
    const name = originals.get(wire);
    if (name === undefined || !isJsonObject(part)) return [wire, part];
    const { description } = part;
    const label = `The field ${JSON.stringify(name)}.`;
    const text = typeof description === 'string' ? `${label} ${description}` : label;
    return [wire, { ...part, description: text }];
  });
  return Object.fromEntries(entries);
}

function sent(value: Json, names: ReadonlyMap<string, string>, place: SchemaPlace): Json {
  return withNames(value, place, (key, at) =>
    at.presence(key) === 'undeclared' ? [key, key] : [names.get(key) ?? key, key],
  );
}

function received(value: Json, originals: ReadonlyMap<string, string>, place: SchemaPlace): Json {
  return withNames(value, place, (key, at) => {
    const name = originals.get(key);
    return name === undefined || at.presence(name) === 'undeclared' ? [key, key] : [name, name];
  });
}

/** `value` without the fields that are null because a closed object needs them all. */
function withoutAbsent(value: Json, place: SchemaPlace): Json {
  if (Array.isArray(value)) {
    return value.map((item: Json, index) => withoutAbsent(item, place.item(index)));
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value)
    .filter(([key, item]) => item !== null || !isAbsent(key, place))
    .map(([key, item]): readonly [string, Json] => [key, withoutAbsent(item, place.property(key))]);
  return Object.fromEntries(entries);
}

/** `value` with the keys that `rename` gives: the new one, and the one in the schema. */
function withNames(
  value: Json,
  place: SchemaPlace,
  rename: (key: string, at: SchemaPlace) => readonly [string, string],
): Json {
  if (Array.isArray(value)) {
    return value.map((item: Json, index) => withNames(item, place.item(index), rename));
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]): readonly [string, Json] => {
    const [name, own] = rename(key, place);
    return [name, withNames(item, place.property(own), rename)];
  });
  return Object.fromEntries(entries);
}
