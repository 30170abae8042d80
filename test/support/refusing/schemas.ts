/** What providers refuse of the schemas of tools and of answers. */
import { isPlainObject } from '../../../src/core/base/json.ts';
import { repeated, textOf, type Fields } from './json.ts';

/** A provider's way of reading schemas; `strict` ones are those it holds the model to. */
export type SchemaReader =
  | 'openai'
  | 'openai-strict'
  | 'claude'
  | 'claude-strict'
  // The form of OpenAPI, and that of JSON Schema.
  | 'gemini'
  | 'gemini-json';

/** A tool as a server reads it. */
export interface SentTool {
  readonly name: string;
  readonly schema: unknown;
  readonly reader: SchemaReader;
}

const NAMES: Readonly<Record<SchemaReader, RegExp>> = {
  openai: /^[a-zA-Z0-9_-]{1,64}$/,
  'openai-strict': /^[a-zA-Z0-9_-]{1,64}$/,
  claude: /^[a-zA-Z0-9_-]{1,128}$/,
  'claude-strict': /^[a-zA-Z0-9_-]{1,128}$/,
  gemini: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
  'gemini-json': /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
};

/** Why a server refuses `tools`. */
export function toolsProblem(tools: readonly SentTool[]): string | undefined {
  for (const [index, { name, schema, reader }] of tools.entries()) {
    if (!NAMES[reader].test(name)) {
      return `Invalid 'tools[${index}].function.name': string does not match pattern. Got '${name}'.`;
    }
    const problem = schemaProblem(schema, reader);
    if (problem !== undefined) return `Invalid schema for function '${name}': ${problem}`;
  }
  const twice = repeated(tools.map(({ name }) => name));
  return twice === undefined
    ? undefined
    : `tools: Tool names must be unique. Got '${twice}' twice.`;
}

/** Why a server refuses the schema of an answer or of a tool. */
export function schemaProblem(schema: unknown, reader: SchemaReader): string | undefined {
  if (schema === undefined && reader.startsWith('gemini')) return undefined;
  const root = isPlainObject(schema) ? schema : {};
  if (root['type'] !== 'object') {
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${textOf(root['type']) || 'None'}"'.`;
  }
  const union = ['oneOf', 'anyOf', 'allOf', 'enum', 'not'].find((keyword) => keyword in root);
  if (union !== undefined) return `${union} is not supported at the top level`;
  return partProblem(root, '', reader);
}

/** Where schemas stand in a schema: in a map, in a list, or alone. */
const MAPS = ['properties', '$defs', 'definitions'];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const ALONE = ['items', 'additionalProperties', 'not'];

function partProblem(part: unknown, at: string, reader: SchemaReader): string | undefined {
  if (!isPlainObject(part)) return undefined;
  const problem = ownProblem(part, reader);
  if (problem !== undefined) return `In context=(${at}), ${problem}`;
  const inner = [
    ...MAPS.flatMap((keyword) => Object.entries(Object(part[keyword]) as Fields)),
    ...LISTS.flatMap((keyword) => Object.entries(Object(part[keyword]) as Fields)),
    ...ALONE.map((keyword) => [keyword, part[keyword]] as const),
  ];
  for (const [name, one] of inner) {
    const found = partProblem(one, `${at}/${name}`, reader);
    if (found !== undefined) return found;
  }
  return undefined;
}

function ownProblem(part: Fields, reader: SchemaReader): string | undefined {
  const keys = Object.keys(Object(part['properties']) as Fields);
  const odd = keys.find((key) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(key));
  if (odd !== undefined) {
    return `Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$', got '${odd}'`;
  }
  if (part['type'] === 'array' && !('items' in part) && !('prefixItems' in part)) {
    return 'array schema missing items';
  }
  if (Array.isArray(part['items'])) return 'JSON schema is invalid: draft 2020-12 has prefixItems';
  switch (reader) {
    case 'openai':
    case 'claude':
      return undefined;
    case 'openai-strict':
      return strictProblem(part, keys);
    case 'claude-strict':
      return claudeProblem(part);
    case 'gemini':
    case 'gemini-json':
      return geminiProblem(part, keys, reader === 'gemini-json');
  }
}

/** OpenAI's structured outputs. */
const STRICT_KEYWORDS =
  /^(?:type|title|description|properties|required|additionalProperties|items|anyOf|\$ref|\$defs|definitions|\$schema|enum|const|minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf|format|pattern|minItems|maxItems)$/;

const STRICT_FORMATS = /^(?:date-time|time|date|duration|email|hostname|ipv4|ipv6|uuid)$/;

function strictProblem(part: Fields, keys: readonly string[]): string | undefined {
  const odd = Object.keys(part).find((keyword) => !STRICT_KEYWORDS.test(keyword));
  if (odd !== undefined) return `'${odd}' is not permitted.`;
  if ('$ref' in part && Object.keys(part).length > 1) return '$ref cannot have keywords beside it.';
  if (!['type', '$ref', 'anyOf'].some((keyword) => keyword in part)) {
    return "schema must have a 'type' key.";
  }
  const { format } = part;
  if (format !== undefined && !STRICT_FORMATS.test(textOf(format))) {
    return `'${textOf(format)}' is not a valid format.`;
  }
  if (!isTyped(part, 'object')) return undefined;
  if (part['additionalProperties'] !== false) {
    return "'additionalProperties' is required to be supplied and to be false.";
  }
  const required: readonly unknown[] = Array.isArray(part['required']) ? part['required'] : [];
  const missing = keys.find((key) => !required.includes(key));
  return missing === undefined
    ? undefined
    : `'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
}

function isTyped({ type }: Fields, wanted: string): boolean {
  return type === wanted || (Array.isArray(type) && type.includes(wanted));
}

/** Claude's own structured output. */
const CLAUDE_REFUSES = [
  'oneOf',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'patternProperties',
  'not',
];

function claudeProblem(part: Fields): string | undefined {
  const odd = CLAUDE_REFUSES.find((keyword) => keyword in part);
  if (odd !== undefined) {
    return `For '${textOf(part['type'])}' type, property '${odd}' is not supported`;
  }
  if (![undefined, 0, 1].includes(part['minItems'] as number | undefined)) {
    return "For 'array' type, 'minItems' values other than 0 or 1 are not supported";
  }
  return isTyped(part, 'object') && part['additionalProperties'] !== false
    ? "For 'object' type, 'additionalProperties' must be explicitly set to false"
    : undefined;
}

/** The subset of OpenAPI that Gemini has. */
const GEMINI_KEYWORDS =
  /^(?:type|format|title|description|nullable|enum|items|maxItems|minItems|properties|required|minProperties|maxProperties|minLength|maxLength|pattern|example|anyOf|propertyOrdering|default|minimum|maximum)$/;

function geminiProblem(
  part: Fields,
  keys: readonly string[],
  isJsonSchema: boolean,
): string | undefined {
  const odd = Object.keys(part).find((keyword) => !GEMINI_KEYWORDS.test(keyword));
  if (odd !== undefined) return `Unknown name "${odd}": Cannot find field.`;
  const { enum: values, format, required } = part;
  if ('anyOf' in part && Object.keys(part).some((it) => !/^(?:anyOf|description)$/.test(it))) {
    return 'when using any_of, it must be the only field set';
  }
  if (!('anyOf' in part) && !('type' in part))
    return 'schema did not specify the schema type field';
  if (Array.isArray(part['type']) && !isJsonSchema)
    return 'Proto field is not repeating, cannot start list.';
  if (Array.isArray(values)) {
    if (!isTyped(part, 'string')) return 'enum: only allowed for STRING type';
    const isText = (value: unknown): boolean =>
      (typeof value === 'string' && value !== '') || (isJsonSchema && value === null);
    const index = values.findIndex((value) => !isText(value));
    if (index !== -1) return `enum[${index}]: cannot be empty`;
  }
  if (isTyped(part, 'string') && ![undefined, 'date-time', 'enum'].includes(format as string)) {
    return "format: only 'enum' and 'date-time' are supported for STRING type";
  }
  const lone = Array.isArray(required)
    ? required.find((key) => !keys.includes(String(key)))
    : undefined;
  return lone === undefined ? undefined : `required: property '${String(lone)}' is not defined`;
}
