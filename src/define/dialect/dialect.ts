/**
 * What providers take of JSON Schema. Each refuses something of it with an error that ends the
 * call, and no two the same; what is known comes from their documentation and from reports.
 */

/** The traits of a provider's JSON Schema. */
export interface Dialect {
  readonly name: 'open' | 'strict' | 'gemini';
  /** Every object is closed and needs all its fields; one that may be absent may be null instead. */
  readonly isClosed: boolean;
  /** References are written out. */
  readonly isInlined: boolean;
  /** Unions are `anyOf`, with nothing beside it; there is no `allOf`, `not`, `if` and their like. */
  readonly hasPlainUnions: boolean;
  /** Null is a mark of a type, and no member of a union. */
  readonly marksNull: boolean;
  /** The values of an `enum` are texts, none of them empty. */
  readonly hasTextEnums: boolean;
  /** The limits that are kept; others are told in the description. Absent: all. */
  readonly limits?: readonly string[];
  /** The formats of texts that are kept; others are told in the description. Absent: all. */
  readonly formats?: readonly string[];
}

/** Providers that take JSON Schema nearly as it is. */
export const OPEN: Dialect = {
  name: 'open',
  isClosed: false,
  isInlined: false,
  hasPlainUnions: false,
  marksNull: false,
  hasTextEnums: false,
};

/** The subset of OpenAI's structured outputs, for an entry with `strict: true`. */
export const STRICT: Dialect = {
  name: 'strict',
  isClosed: true,
  isInlined: false,
  hasPlainUnions: true,
  marksNull: false,
  hasTextEnums: false,
  limits: [
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
    'multipleOf',
    'format',
    'pattern',
    'minItems',
    'maxItems',
  ],
  formats: ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
};

/** The subset of Claude's strict tools and structured outputs: it holds the model to no bound. */
const CLAUDE_STRICT: Dialect = {
  ...STRICT,
  limits: ['format'],
  formats: [...(STRICT.formats ?? []), 'uri'],
};

/** The subset of OpenAPI of Gemini, as far as the adapter of the AI SDK passes it on. */
export const GEMINI: Dialect = {
  name: 'gemini',
  isClosed: false,
  isInlined: true,
  hasPlainUnions: true,
  marksNull: true,
  hasTextEnums: true,
  limits: ['format', 'minLength'],
  formats: ['date-time'],
};

/** The dialect of a provider of the AI SDK, by its id such as `google.generative-ai`. */
export function dialectOf(provider: string, isStrict: boolean): Dialect {
  const isGoogle = /^(?:google|gemini)\b/.test(provider) && !provider.includes('anthropic');
  if (isGoogle) return GEMINI;
  if (!isStrict) return OPEN;
  return /anthropic|bedrock/.test(provider) ? CLAUDE_STRICT : STRICT;
}
