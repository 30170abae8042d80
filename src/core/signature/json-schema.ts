/**
 * JSON Schema of signature types, in two forms: for providers, which refuse many keywords, and for
 * the check of a value, which must be exact.
 */
import { defined } from '../base/defined.ts';
import type { Json, JsonObject } from '../base/json.ts';
import { withoutOptional, type SignatureField, type SignatureType } from '../contract/signature.ts';

/** The name of a keyword: no blanks, no delimiters of the language, no digit first. */
const KEYWORD_PATTERN = '^:?[^\\s:,;()\\[\\]{}"\'`@^~\\\\#0-9][^\\s:,;()\\[\\]{}"\'`@^~\\\\]*$';

/** Name of the format of moments with an offset; our own parser checks it. */
export const DATETIME_FORMAT = 'datetime-with-offset';

/** Marks a type that may be null in validation schemas, so that messages name only the type. */
export const OPTIONAL_KEYWORD = 'x-optional';

/** The name of the single field that wraps a root other than an object; null for an object. */
export function rootField(type: SignatureType): 'items' | 'value' | null {
  const { kind } = withoutOptional(type);
  if (kind === 'record' || kind === 'map') return null;
  return kind === 'list' ? 'items' : 'value';
}

/** The schema of an output for a provider: always an object, as providers require. */
export function providerSchema(type: SignatureType): JsonObject {
  const field = rootField(type);
  return field === null
    ? providerType(withoutOptional(type))
    : parametersSchema([{ name: field, type }]);
}

/** The schema that accepts exactly the values of `type`. */
export function validationSchema(type: SignatureType): JsonObject {
  switch (type.kind) {
    case 'string':
      return { type: 'string' };
    case 'int':
      return { type: 'integer' };
    case 'float':
      return { type: 'number' };
    case 'bool':
      return { type: 'boolean' };
    case 'keyword':
      return { type: 'string', pattern: KEYWORD_PATTERN };
    case 'datetime':
      return { type: 'string', format: DATETIME_FORMAT };
    case 'map':
      return { type: 'object' };
    case 'any':
      return {};
    case 'list':
      return { type: 'array', items: validationSchema(type.item) };
    case 'record':
      return validationRecord(type.fields, type.closed === true);
    case 'optional': {
      const schema = nullable(validationSchema(type.inner));
      return Array.isArray(schema['type']) ? { ...schema, [OPTIONAL_KEYWORD]: true } : schema;
    }
  }
}

/** The schema of inputs: the parameters, and any other fields. */
export function inputsSchema(params: readonly SignatureField[]): JsonObject {
  return validationRecord(params, false);
}

function validationRecord(fields: readonly SignatureField[], isClosed: boolean): JsonObject {
  return defined({
    type: 'object',
    properties: Object.fromEntries(
      fields.map(({ name, type }) => [name, validationSchema(type)] as const),
    ),
    required: requiredNames(fields),
    additionalProperties: isClosed ? false : undefined,
  });
}

function providerType(type: SignatureType): JsonObject {
  switch (type.kind) {
    case 'keyword':
    case 'datetime':
      return { type: 'string' };
    case 'list':
      return { type: 'array', items: providerType(type.item) };
    case 'record':
      // A record without declared fields is any object: closed, it would be empty.
      return type.fields.length === 0 ? { type: 'object' } : parametersSchema(type.fields);
    case 'optional':
      return providerType(type.inner);
    default:
      return validationSchema(type);
  }
}

/** The schema of parameters for a provider, like those of a tool, or of a closed record. */
export function parametersSchema(fields: readonly SignatureField[]): JsonObject {
  return {
    type: 'object',
    properties: Object.fromEntries(
      fields.map(({ name, type, description }) => {
        const schema = providerType(type);
        return [name, description === undefined ? schema : { ...schema, description }] as const;
      }),
    ),
    required: requiredNames(fields),
    additionalProperties: false,
  };
}

function requiredNames(fields: readonly SignatureField[]): readonly string[] {
  return fields.filter(({ type }) => type.kind !== 'optional').map(({ name }) => name);
}

/** `{}` accepts null already; a type becomes a pair of types, which providers support best. */
function nullable(schema: JsonObject): JsonObject {
  const { type } = schema;
  if (Object.keys(schema).length === 0 || Array.isArray(type)) return schema;
  const types: Json = typeof type === 'string' ? [type, 'null'] : ['null'];
  return { ...schema, type: types };
}
