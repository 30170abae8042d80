/**
 * Reads JSON Schema as a signature. A signature can express less: what it cannot express becomes
 * `:any`. Values are always checked against the full schema.
 *
 * `toSignature` follows references and reads what the parts of a schema have in common;
 * `parseExact` reads only what a schema says in its own keywords.
 */
import { defined } from '../base/defined.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { Primitive, SignatureField, SignatureType } from '../contract/signature.ts';
import {
  readShape,
  wordOfValues,
  type RecordShape,
  type SchemaShape,
  type ShapeWord,
} from '../section/schema-shape.ts';

/** A type that expresses exactly the schema, or why there is none. */
export type ExactReading =
  | { readonly kind: 'type'; readonly type: SignatureType }
  | { readonly kind: 'problem'; readonly message: string };

/** Keywords that a signature can express, and keywords that do not constrain values. */
const KNOWN_KEYWORDS: readonly string[] = [
  '$schema',
  '$id',
  'title',
  'description',
  'type',
  'properties',
  'required',
  'items',
  'additionalProperties',
];

/** Schemas nested inside each other; deeper ones are read as `:any`. */
const MAX_DEPTH = 50;

/** Types that a signature may have; further ones become `:any`. Shared parts count each time. */
const MAX_TYPES = 1_000;

const PRIMITIVES: { readonly [type: string]: Primitive } = {
  string: 'string',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
};

/**
 * The type of `schema`: references and `allOf` are followed, null beside another type is optional,
 * and values of one type have that type. Other unions, and a type inside itself, become `:any`.
 * Never throws.
 */
export function toSignature(schema: Json): SignatureType {
  const { shape, named } = readShape(schema);
  return typeOfShape(shape, named, { open: new Set(), left: MAX_TYPES });
}

/** The type of `schema`, or a problem if it would express less. Never throws. */
export function parseExact(schema: Json): ExactReading {
  const { type, problem } = typeOf(schema, 0);
  return problem === undefined ? { kind: 'type', type } : { kind: 'problem', message: problem };
}

/** A type, and why it expresses less than the schema. */
interface Reading {
  readonly type: SignatureType;
  readonly problem: string | undefined;
}

function typeOf(schema: Json, depth: number): Reading {
  if (!isJsonObject(schema)) return inexact('schema must be an object');
  if (depth > MAX_DEPTH) return inexact(`schema is deeper than ${MAX_DEPTH} levels`);
  const unknown = Object.keys(schema)
    .filter((keyword) => !KNOWN_KEYWORDS.includes(keyword))
    .toSorted();
  const problem =
    unknown.length === 0 ? undefined : `unsupported JSON Schema key(s): ${unknown.join(', ')}`;
  const { type, items } = schema;
  if (type === undefined) return inexact(problem ?? 'schema must have a "type" key');
  if (type === 'array') {
    const item =
      items === undefined
        ? inexact('array type requires an "items" key')
        : typeOf(items, depth + 1);
    return { type: { kind: 'list', item: item.type }, problem: problem ?? item.problem };
  }
  if (type === 'object') return recordOf(schema, problem, depth);
  const primitive =
    typeof type === 'string' && Object.hasOwn(PRIMITIVES, type) ? PRIMITIVES[type] : undefined;
  return primitive === undefined
    ? inexact(problem ?? `unsupported "type": ${JSON.stringify(type)}`)
    : { type: { kind: primitive }, problem };
}

function inexact(problem: string): Reading {
  return { type: { kind: 'any' }, problem };
}

/** Fields are sorted by name, so that equal schemas have equal signatures. */
function recordOf(schema: JsonObject, problem: string | undefined, depth: number): Reading {
  const { properties, required, additionalProperties } = schema;
  const names = Array.isArray(required)
    ? required.filter((name): name is string => typeof name === 'string')
    : [];
  const members = isJsonObject(properties) ? properties : {};
  const undeclared = names.find((name) => !Object.hasOwn(members, name));
  const own = ['boolean', 'undefined'].includes(typeof additionalProperties)
    ? undeclared === undefined
      ? undefined
      : `"required" entry "${undeclared}" is not a declared property`
    : '"additionalProperties" must be true or false';
  const found = problem ?? own;
  if (properties === undefined && additionalProperties === undefined) {
    return { type: { kind: 'map' }, problem: found };
  }
  const read = Object.entries(members).map(([name, member]) => {
    const inner = typeOf(member, depth + 1);
    return { field: fieldOf(name, member, inner.type, names.includes(name)), inner };
  });
  return {
    type: defined({
      kind: 'record',
      fields: read.map(({ field }) => field).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      closed: additionalProperties === false || undefined,
    }),
    problem: found ?? read.find(({ inner }) => inner.problem !== undefined)?.inner.problem,
  };
}

function fieldOf(
  name: string,
  schema: Json,
  type: SignatureType,
  isRequired: boolean,
): SignatureField {
  const description = isJsonObject(schema) ? schema['description'] : undefined;
  return defined({
    name,
    type: isRequired ? type : { kind: 'optional' as const, inner: type },
    description: typeof description === 'string' ? description : undefined,
  });
}

/** The names that are being read, and the types that may still be. */
interface Room {
  readonly open: Set<string>;
  left: number;
}

const ANY: SignatureType = { kind: 'any' };

type Named = ReadonlyMap<string, SchemaShape>;

function typeOfShape(shape: SchemaShape, named: Named, room: Room): SignatureType {
  room.left -= 1;
  if (room.left < 0) return ANY;
  switch (shape.kind) {
    case 'word':
      return { kind: primitiveOf(shape.word) };
    case 'choice':
      return ofChoice(shape.values);
    case 'list':
      return { kind: 'list', item: typeOfShape(shape.item, named, room) };
    case 'tuple':
      return { kind: 'list', item: ANY };
    case 'record':
      return recordOfShape(shape, named, room);
    case 'union':
      return ofUnion(shape.members, named, room);
    case 'name': {
      const target = named.get(shape.name);
      if (target === undefined || room.open.has(shape.name)) return ANY;
      room.open.add(shape.name);
      const type = typeOfShape(target, named, room);
      room.open.delete(shape.name);
      return type;
    }
  }
}

function primitiveOf(word: ShapeWord): Primitive {
  return word === 'nil' ? 'any' : word;
}

function ofChoice(values: readonly Json[]): SignatureType {
  const others = values.filter((value) => value !== null);
  const type: SignatureType = { kind: primitiveOf(wordOfValues(others)) };
  const isOptional = others.length < values.length && type.kind !== 'any';
  return isOptional ? { kind: 'optional', inner: type } : type;
}

function ofUnion(members: readonly SchemaShape[], named: Named, room: Room): SignatureType {
  const others = members.filter((member) => !isNil(member));
  const types = others.map((member) => typeOfShape(member, named, room));
  const [type = ANY] = types;
  const isOne = types.every((other) => JSON.stringify(other) === JSON.stringify(type));
  if (!isOne || type.kind === 'any') return ANY;
  return others.length === members.length ? type : { kind: 'optional', inner: type };
}

function isNil(shape: SchemaShape): boolean {
  return shape.kind === 'word' && shape.word === 'nil';
}

/** Fields are sorted by name, so that equal schemas have equal signatures. */
function recordOfShape({ fields, closed }: RecordShape, named: Named, room: Room): SignatureType {
  const read = fields.map(({ name, shape, isRequired, description }): SignatureField => {
    const inner = typeOfShape(shape, named, room);
    const isOptional = !isRequired && inner.kind !== 'optional';
    const type = isOptional ? { kind: 'optional' as const, inner } : inner;
    return defined({ name, type, description });
  });
  return defined({
    kind: 'record',
    fields: read.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    closed,
  });
}
