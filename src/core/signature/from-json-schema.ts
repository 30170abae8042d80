/**
 * Reads JSON Schema as a signature. A signature can express less. What it cannot express becomes
 * `:any`, and the reading is not exact. Values are always checked against the full schema.
 */
import { defined } from '../base/defined.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { Primitive, SignatureField, SignatureType } from '../contract/signature.ts';

/** A type, and whether it expresses all of the schema. */
export interface SchemaAsSignature {
  readonly type: SignatureType;
  readonly exact: boolean;
}

/** A type that expresses exactly the schema, or why there is none. */
export type ExactReading =
  | { readonly kind: 'type'; readonly type: SignatureType }
  | { readonly kind: 'problem'; readonly message: string };

/** Keywords that a signature can express. */
const READ_KEYWORDS: readonly string[] = [
  'type',
  'description',
  'properties',
  'required',
  'items',
  'additionalProperties',
];

/** Keywords that do not constrain values. */
const SILENT_KEYWORDS: readonly string[] = ['$schema', '$id', 'title'];

/** Schemas nested inside each other; deeper ones are read as `:any`. */
const MAX_DEPTH = 50;

const PRIMITIVES: { readonly [type: string]: Primitive } = {
  string: 'string',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
};

/** The type of `schema`; anything without a type becomes `:any`. Never throws. */
export function toSignature(schema: Json): SchemaAsSignature {
  return typeOf(schema, 0);
}

/** The type of `schema`, or a problem if it would express less. Never throws. */
export function parseExact(schema: Json): ExactReading {
  const message = inexactness(schema, 0);
  return message === undefined
    ? { kind: 'type', type: toSignature(schema).type }
    : { kind: 'problem', message };
}

function typeOf(schema: Json, depth: number): SchemaAsSignature {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return inexact;
  const known = [...READ_KEYWORDS, ...SILENT_KEYWORDS];
  const exact = Object.keys(schema).every((keyword) => known.includes(keyword));
  const { type } = schema;
  if (typeof type !== 'string') {
    const isEmpty = exact && type === undefined && Object.keys(schema).every(isSilent);
    return { type: { kind: 'any' }, exact: isEmpty };
  }
  const primitive = Object.hasOwn(PRIMITIVES, type) ? PRIMITIVES[type] : undefined;
  if (primitive !== undefined) return { type: { kind: primitive }, exact };
  if (type === 'array') {
    const item = schema['items'] === undefined ? inexact : typeOf(schema['items'], depth + 1);
    return { type: { kind: 'list', item: item.type }, exact: exact && item.exact };
  }
  return type === 'object' ? recordOf(schema, exact, depth) : inexact;
}

const inexact: SchemaAsSignature = { type: { kind: 'any' }, exact: false };

function isSilent(keyword: string): boolean {
  return keyword === 'description' || SILENT_KEYWORDS.includes(keyword);
}

/** Fields are sorted by name, so that equal schemas have equal signatures. */
function recordOf(schema: JsonObject, exact: boolean, depth: number): SchemaAsSignature {
  const { properties, required, additionalProperties } = schema;
  if (properties === undefined && additionalProperties === undefined) {
    return { type: { kind: 'map' }, exact: exact && required === undefined };
  }
  const names = requiredNames(required);
  const members = isJsonObject(properties) ? Object.entries(properties) : [];
  const read = members
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => {
      const inner = typeOf(member, depth + 1);
      return { field: fieldOf(name, member, inner.type, names.includes(name)), inner };
    });
  const isClosed = additionalProperties === false;
  const isPlain = ['boolean', 'undefined'].includes(typeof additionalProperties);
  const declared = members.map(([name]) => name);
  return {
    type: defined({
      kind: 'record',
      fields: read.map(({ field }) => field),
      closed: isClosed || undefined,
    }),
    exact:
      exact &&
      isPlain &&
      names.every((name) => declared.includes(name)) &&
      read.every(({ inner }) => inner.exact),
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

function requiredNames(required: Json | undefined): readonly string[] {
  return Array.isArray(required)
    ? required.filter((name): name is string => typeof name === 'string')
    : [];
}

/** The first part of `schema` that a signature cannot express; undefined if there is none. */
function inexactness(schema: Json, depth: number): string | undefined {
  if (!isJsonObject(schema)) return 'schema must be an object';
  if (depth > MAX_DEPTH) return `schema is deeper than ${MAX_DEPTH} levels`;
  const known = [...READ_KEYWORDS, ...SILENT_KEYWORDS];
  const unsupported = Object.keys(schema).filter((keyword) => !known.includes(keyword));
  if (unsupported.length > 0) {
    return `unsupported JSON Schema key(s): ${unsupported.toSorted().join(', ')}`;
  }
  const { type, items, properties, additionalProperties } = schema;
  if (type === undefined) return 'schema must have a "type" key';
  if (typeof type !== 'string' || (!Object.hasOwn(PRIMITIVES, type) && !isContainer(type))) {
    return `unsupported "type": ${JSON.stringify(type)}`;
  }
  if (type === 'array') {
    return items === undefined
      ? 'array type requires an "items" key'
      : inexactness(items, depth + 1);
  }
  if (type !== 'object') return undefined;
  if (!['boolean', 'undefined'].includes(typeof additionalProperties)) {
    return '"additionalProperties" must be true or false';
  }
  const members = isJsonObject(properties) ? properties : {};
  const undeclared = requiredNames(schema['required']).find(
    (name) => !Object.hasOwn(members, name),
  );
  if (undeclared !== undefined)
    return `"required" entry "${undeclared}" is not a declared property`;
  return Object.values(members)
    .map((member) => inexactness(member, depth + 1))
    .find((message) => message !== undefined);
}

function isContainer(type: string): boolean {
  return type === 'array' || type === 'object';
}
