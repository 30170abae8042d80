/**
 * Reads JSON Schema as a signature. A signature can express less: what it cannot express becomes
 * `:any`. Values are always checked against the full schema.
 */
import { defined } from '../base/defined.ts';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { Primitive, SignatureField, SignatureType } from '../contract/signature.ts';

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

const PRIMITIVES: { readonly [type: string]: Primitive } = {
  string: 'string',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
};

/** The type of `schema`; anything without a type becomes `:any`. Never throws. */
export function toSignature(schema: Json): SignatureType {
  return typeOf(schema, 0).type;
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
