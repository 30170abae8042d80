/**
 * JSON Schema of signature types, twice: for providers, which refuse much of the language, and for the
 * check of a value, which must be exact.
 */
import { defined } from '../base/defined.ts';
import type { Json, JsonObject } from '../base/json.ts';
import { withoutOptional, type SignatureField, type SignatureType } from '../contract/signature.ts';

/** Text that is the name of a keyword: no blanks, no delimiters of the language, no digit first. */
const KEYWORD_PATTERN = '^:?[^\\s:,;()\\[\\]{}"\'`@^~\\\\#0-9][^\\s:,;()\\[\\]{}"\'`@^~\\\\]*$';

/** Name of the format of moments with an offset; checked by our own parser. */
export const DATETIME_FORMAT = 'datetime-with-offset';

/**
 * Stands in validation schemas beside a type that may be null: what is wrong with a value is told in the
 * words of the type alone, as null only stands for nothing.
 */
export const OPTIONAL_KEYWORD = 'x-optional';

/** How a provider wants a schema. */
export interface ProviderSchemaOptions {
  /** Every field is required, and what may be absent is null instead. Default false. */
  readonly strict?: boolean;
}

/** The name of the one field in which a root that is no object is asked for; null for an object. */
export function rootField(type: SignatureType): 'items' | 'value' | null {
  const { kind } = withoutOptional(type);
  if (kind === 'record' || kind === 'map') return null;
  return kind === 'list' ? 'items' : 'value';
}

/** The schema of an output for a provider: always that of an object, as providers want. */
export function providerSchema(
  type: SignatureType,
  options: ProviderSchemaOptions = {},
): JsonObject {
  const field = rootField(type);
  return field === null
    ? providerType(withoutOptional(type), options)
    : providerRecord([{ name: field, type }], options);
}

/** The schema of parameters for a provider, as those of a tool. */
export function parametersSchema(
  params: readonly SignatureField[],
  options: ProviderSchemaOptions = {},
): JsonObject {
  return providerRecord(params, options);
}

/** The schema that a value of `type` fits exactly when it is one. */
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

/** The schema that inputs fit: the parameters, and whatever else there is. */
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

function providerType(type: SignatureType, options: ProviderSchemaOptions): JsonObject {
  switch (type.kind) {
    case 'keyword':
    case 'datetime':
      return { type: 'string' };
    case 'list':
      return { type: 'array', items: providerType(type.item, options) };
    case 'record':
      // A record without declared fields is any object: closed, it would hold nothing.
      return type.fields.length === 0 ? { type: 'object' } : providerRecord(type.fields, options);
    case 'optional':
      return options.strict === true
        ? nullable(providerType(type.inner, options))
        : providerType(type.inner, options);
    default:
      return validationSchema(type);
  }
}

function providerRecord(
  fields: readonly SignatureField[],
  options: ProviderSchemaOptions,
): JsonObject {
  return {
    type: 'object',
    properties: Object.fromEntries(
      fields.map(({ name, type, description }) => {
        const schema = providerType(type, options);
        return [name, description === undefined ? schema : { ...schema, description }] as const;
      }),
    ),
    required: options.strict === true ? fields.map(({ name }) => name) : requiredNames(fields),
    additionalProperties: false,
  };
}

function requiredNames(fields: readonly SignatureField[]): readonly string[] {
  return fields.filter(({ type }) => type.kind !== 'optional').map(({ name }) => name);
}

/** `{}` takes null as it is; a type becomes a pair of types, which providers know best. */
function nullable(schema: JsonObject): JsonObject {
  const { type } = schema;
  if (Object.keys(schema).length === 0 || Array.isArray(type)) return schema;
  const types: Json = typeof type === 'string' ? [type, 'null'] : ['null'];
  return { ...schema, type: types };
}
