/**
 * The schema of a server's tool as a specification may hold it.
 *
 * I1  It is small, flat enough to walk, and has no hidden characters.
 * I2  It has no regular expressions. One that backtracks would hold the worker that checks arguments
 *     with it. The model reads the expression in the description, and the server checks it.
 */
import {
  byteSize,
  isDeeperThan,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../../core/base/json.ts';
import { clip } from '../../core/text/cut.ts';
import { toCurrentDraft, withObjectRoot } from '../../define/schema/current-draft.ts';
import { visibleText } from '../text/hidden-text.ts';

/** UTF-8 bytes of a schema with its descriptions. */
const MAX_SCHEMA_BYTES = 16_384;

/** Levels of a schema; generated ones have fewer than twenty. */
const MAX_SCHEMA_DEPTH = 60;

/** Characters of one description inside a schema. */
const MAX_TEXT = 2_000;

/** Characters of a regular expression that a description quotes. */
const MAX_PATTERN = 200;

/** A schema, or why the tool cannot be used. */
export type ToolSchema =
  | { readonly kind: 'schema'; readonly schema: JsonObject; readonly hadHidden: boolean }
  | { readonly kind: 'unfit'; readonly reason: string };

const MAPS = ['properties', '$defs', 'definitions', 'dependentSchemas'];
const SCHEMAS = [
  'items',
  'additionalProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const EXPRESSIONS = ['pattern', 'patternProperties'];
const TEXTS = ['description', 'title', '$comment', 'default', 'examples'];

/** The schema of the arguments of a tool, in the current draft. */
export function argumentsSchema(given: Json): ToolSchema {
  const read = cleanSchema(given);
  if (read.kind === 'unfit') return read;
  const schema = withObjectRoot(read.schema);
  return { ...read, schema: schema['type'] === 'object' ? schema : { ...schema, type: 'object' } };
}

/** Any schema of a server, in the current draft. */
export function cleanSchema(given: Json): ToolSchema {
  if (!isJsonObject(given)) return { kind: 'unfit', reason: 'its schema is no object' };
  if (isDeeperThan(given, MAX_SCHEMA_DEPTH)) {
    return { kind: 'unfit', reason: `its schema has more than ${MAX_SCHEMA_DEPTH} levels` };
  }
  const found = { hadHidden: false };
  const whole = cleaned(toCurrentDraft(given), found);
  if (byteSize(whole) <= MAX_SCHEMA_BYTES) return { kind: 'schema', schema: whole, ...found };
  const bare = withoutTexts(whole);
  const bytes = byteSize(bare);
  if (bytes <= MAX_SCHEMA_BYTES) return { kind: 'schema', schema: bare, ...found };
  const reason = `its schema has ${bytes} bytes, at most ${MAX_SCHEMA_BYTES} are allowed`;
  return { kind: 'unfit', reason };
}

interface Found {
  hadHidden: boolean;
}

function cleaned(schema: JsonObject, found: Found): JsonObject {
  const each = (part: Json): Json => (isJsonObject(part) ? cleaned(part, found) : part);
  const entries = Object.entries(schema)
    .filter(([keyword]) => !EXPRESSIONS.includes(keyword))
    .map(([keyword, value]): readonly [string, Json] => {
      if (SCHEMAS.includes(keyword)) return [keyword, each(value)];
      if (LISTS.includes(keyword) && Array.isArray(value)) return [keyword, value.map(each)];
      if (!MAPS.includes(keyword) || !isJsonObject(value)) return [keyword, visible(value, found)];
      const parts = Object.entries(value).map(([name, part]) => [
        shownKey(name, found),
        each(part),
      ]);
      return [keyword, Object.fromEntries(parts) as JsonObject];
    });
  return withPattern(schema, Object.fromEntries(entries) as JsonObject, found);
}

/** The regular expression of `schema` as words of `clean`. */
function withPattern(schema: JsonObject, clean: JsonObject, found: Found): JsonObject {
  const { pattern } = schema;
  if (typeof pattern !== 'string') return clean;
  const note = `Pattern: ${visible(clip(pattern, MAX_PATTERN), found) as string}`;
  const described = clean['description'];
  const description = typeof described === 'string' ? `${described} ${note}` : note;
  return { ...clean, description };
}

/** `value` with all its texts made visible. */
function visible(value: Json, found: Found): Json {
  if (typeof value === 'string') return shownKey(value, found);
  if (Array.isArray(value)) return value.map((item: Json) => visible(item, found));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [shownKey(key, found), visible(item, found)]),
  );
}

function shownKey(text: string, found: Found): string {
  const read = visibleText(text, MAX_TEXT);
  found.hadHidden ||= read.hadHidden;
  return read.text;
}

/** `schema` without what only explains it. */
function withoutTexts(schema: JsonObject): JsonObject {
  const each = (part: Json): Json => (isJsonObject(part) ? withoutTexts(part) : part);
  const entries = Object.entries(schema)
    .filter(([keyword]) => !TEXTS.includes(keyword))
    .map(([keyword, value]): readonly [string, Json] => {
      if (SCHEMAS.includes(keyword)) return [keyword, each(value)];
      if (LISTS.includes(keyword) && Array.isArray(value)) return [keyword, value.map(each)];
      if (!MAPS.includes(keyword) || !isJsonObject(value)) return [keyword, value];
      const parts = Object.entries(value).map(([name, part]) => [name, each(part)]);
      return [keyword, Object.fromEntries(parts) as JsonObject];
    });
  return Object.fromEntries(entries) as JsonObject;
}
