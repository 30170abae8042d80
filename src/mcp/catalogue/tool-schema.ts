/**
 * The schema of a server's tool as a specification may hold it.
 *
 * I1  It is small, flat enough to walk, and has no hidden characters.
 * I2  It has no regular expressions. One that backtracks would hold the worker that checks arguments
 *     with it. The model reads the expression in the description, and the server checks it.
 * I3  What the server takes fits the schema, or the schema says that it is not to be checked here:
 *     under a negation, a removed expression makes the schema stricter.
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
import { mapSubschemas } from '../../define/schema/subschemas.ts';
import { visibleText } from '../text/hidden-text.ts';

/** UTF-8 bytes of a schema with its descriptions. */
const MAX_SCHEMA_BYTES = 16_384;

/** Levels of a schema; generated ones have fewer than twenty. */
const MAX_SCHEMA_DEPTH = 60;

/** Characters of one description inside a schema. */
const MAX_TEXT = 2_000;

/** Characters of a regular expression that a description quotes. */
const MAX_PATTERN = 200;

/** Expressions for keys that a description quotes. */
const MAX_KEY_PATTERNS = 5;

/** A schema, or why the tool cannot be used. */
export type ToolSchema =
  | {
      readonly kind: 'schema';
      readonly schema: JsonObject;
      readonly hadHidden: boolean;
      /** Whether arguments that the server takes may not fit, so that only the server can check. */
      readonly isStricter: boolean;
    }
  | { readonly kind: 'unfit'; readonly reason: string };

/** Keywords under which a value fits less often when the schema below says less. */
const NEGATIONS = ['oneOf', 'not', 'if', 'maxContains'];
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
  const found = { hadHidden: false, hadExpression: false, hasNegation: false };
  const whole = cleaned(toCurrentDraft(given), found);
  // A reference may lead from anywhere to anywhere, so the place of the expression says nothing.
  const { hadHidden, hadExpression, hasNegation } = found;
  const read = { kind: 'schema', hadHidden, isStricter: hadExpression && hasNegation } as const;
  if (byteSize(whole) <= MAX_SCHEMA_BYTES) return { ...read, schema: whole };
  const bare = withoutTexts(whole);
  const bytes = byteSize(bare);
  if (bytes <= MAX_SCHEMA_BYTES) return { ...read, schema: bare };
  const reason = `its schema has ${bytes} bytes, at most ${MAX_SCHEMA_BYTES} are allowed`;
  return { kind: 'unfit', reason };
}

interface Found {
  hadHidden: boolean;
  hadExpression: boolean;
  hasNegation: boolean;
}

function cleaned(schema: JsonObject, found: Found): JsonObject {
  found.hadExpression ||= EXPRESSIONS.some((keyword) => Object.hasOwn(schema, keyword));
  found.hasNegation ||= NEGATIONS.some((keyword) => Object.hasOwn(schema, keyword));
  const entries = Object.entries(schema)
    .filter(([keyword]) => !EXPRESSIONS.includes(keyword))
    .map(([keyword, value]): readonly [string, Json] => [
      keyword,
      mapSubschemas(
        keyword,
        value,
        (part) => cleaned(part, found),
        (name) => shownKey(name, found),
      ) ?? visible(value, found),
    ]);
  return withPatterns(schema, Object.fromEntries(entries) as JsonObject, found);
}

/** The regular expressions of `schema` as words of `clean`, which takes the keys that fit them. */
function withPatterns(schema: JsonObject, clean: JsonObject, found: Found): JsonObject {
  const { pattern, patternProperties: byPattern } = schema;
  const quoted = (text: string): string => visible(clip(text, MAX_PATTERN), found) as string;
  const notes = typeof pattern === 'string' ? [`Pattern: ${quoted(pattern)}`] : [];
  const opened = isJsonObject(byPattern) ? { additionalProperties: true } : {};
  if (isJsonObject(byPattern)) {
    const keys = Object.entries(byPattern);
    const listed = keys.slice(0, MAX_KEY_PATTERNS).map(([key, part]) => {
      const type = isJsonObject(part) ? part['type'] : undefined;
      return typeof type === 'string' ? `${quoted(key)} (${quoted(type)})` : quoted(key);
    });
    const more = keys.length - listed.length;
    if (listed.length > 0) {
      notes.push(`Keys by pattern: ${listed.join(', ')}${more > 0 ? `, and ${more} more` : ''}`);
    }
  }
  if (notes.length === 0) return { ...clean, ...opened };
  const described = clean['description'];
  const words = typeof described === 'string' ? [described, ...notes] : notes;
  return { ...clean, ...opened, description: words.join(' ') };
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
  const entries = Object.entries(schema)
    .filter(([keyword]) => !TEXTS.includes(keyword))
    .map(([keyword, value]): readonly [string, Json] => [
      keyword,
      mapSubschemas(keyword, value, withoutTexts) ?? value,
    ]);
  return Object.fromEntries(entries) as JsonObject;
}
