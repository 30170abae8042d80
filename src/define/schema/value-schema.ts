/** Reads a user's schema: JSON Schema for the model and ajv, and the schema library's own check. */
import { errorText } from '../../core/base/error-text.ts';
import { isPlainObject, type JsonObject } from '../../core/base/json.ts';
import { shown } from '../../core/text/shown.ts';
import { toCurrentDraft, withObjectRoot } from './current-draft.ts';
import { DATA_KEYWORDS } from './keywords.ts';
import { schemaProblem } from './schema.ts';
import { isStandardSchema, type StandardSchema } from './standard-schema.ts';

/**
 * A schema as a user gives it: JSON Schema (draft 2020-12, or an older draft from 4 on), or an
 * object of zod, valibot, …
 */
export type SchemaInput = JsonObject | StandardSchema;

/** A schema that compiles. */
export interface ValueSchema {
  readonly json: JsonObject;
  /** The library's own check, which runs after ajv; null when the schema is plain JSON Schema. */
  readonly standard: StandardSchema | null;
}

/** A schema, or why it cannot be used: `got` and `advice` complete a message. */
export type SchemaReading =
  | { readonly kind: 'schema'; readonly schema: ValueSchema }
  | { readonly kind: 'problem'; readonly got: string; readonly advice: string };

/**
 * Reads a schema and compiles it. `beside` is the JSON Schema of a Standard Schema object that has
 * none of its own. A schema of an older draft is written in the current one.
 */
export function readSchema(input: unknown, beside?: JsonObject): SchemaReading {
  if (isStandardSchema(input)) return readStandardSchema(input, beside);
  if (!isPlainObject(input)) {
    const advice = 'Use JSON Schema or a Standard Schema object, such as one of zod.';
    return { kind: 'problem', got: shown(input), advice };
  }
  return compiled(input, null);
}

/** As {@link readSchema}, for a schema of objects; its root gets `"type": "object"`. */
export function readObjectSchema(input: unknown, beside?: JsonObject): SchemaReading {
  const reading = readSchema(input, beside);
  if (reading.kind === 'problem') return reading;
  const json = withObjectRoot(reading.schema.json);
  if (json['type'] === 'object') return { kind: 'schema', schema: { ...reading.schema, json } };
  const advice = 'Its root must have `"type": "object"`.';
  return { kind: 'problem', got: shown(json), advice };
}

/** The oldest version that works; `zod/v4` of zod 3 is older. */
const OLD_ZOD = 'install zod 4.2 or newer, and import it from `zod`; or ';

function readStandardSchema(input: StandardSchema, beside: JsonObject | undefined): SchemaReading {
  if (beside !== undefined) return compiled(beside, input);
  const { vendor, jsonSchema } = input['~standard'];
  const got = `a schema of ${vendor}`;
  if (jsonSchema === undefined) {
    const update = vendor === 'zod' ? OLD_ZOD : '';
    const advice = `It cannot tell its JSON Schema: ${update}give that as \`jsonSchema\` beside it.`;
    return { kind: 'problem', got, advice };
  }
  try {
    const schema = jsonSchema.input({ target: 'draft-2020-12' });
    return compiled(withoutNoise(schema) as typeof schema, input);
  } catch (error) {
    const cause = errorText(error);
    const advice = `It has no JSON Schema (${cause.replace(/\.$/, '')}): give one as \`jsonSchema\` beside it.`;
    return { kind: 'problem', got, advice };
  }
}

function compiled(
  schema: { readonly [key: string]: unknown },
  standard: StandardSchema | null,
): SchemaReading {
  // A copy by text, so that the specification has plain JSON that a user cannot change later.
  const json = toCurrentDraft(JSON.parse(JSON.stringify(schema)) as JsonObject);
  const cause = schemaProblem(json);
  if (cause !== undefined) return { kind: 'problem', got: shown(json), advice: `${cause}.` };
  return { kind: 'schema', schema: { json, standard } };
}

/**
 * The schema without keywords that only cost tokens: zod adds the bounds of safe integers to every
 * integer, and a pattern of up to 300 characters to every format. The library's own check covers
 * both.
 */
function withoutNoise(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutNoise);
  if (!isPlainObject(schema)) return schema;
  const entries = Object.entries(schema).filter(
    ([keyword, value]) =>
      !(keyword === 'pattern' && typeof schema['format'] === 'string') &&
      !(keyword === 'minimum' && value === Number.MIN_SAFE_INTEGER) &&
      !(keyword === 'maximum' && value === Number.MAX_SAFE_INTEGER),
  );
  return Object.fromEntries(
    entries.map(([keyword, value]) => [
      keyword,
      DATA_KEYWORDS.includes(keyword) ? value : withoutNoise(value),
    ]),
  );
}
