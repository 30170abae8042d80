/** The usage in the raw chunks of a stream, for calls that break off. */
import { isPlainObject, type Json, type JsonObject } from '../core/base/json.ts';

/** Fields of a report that are kept; the largest known one has 20. */
const MAX_FIELDS = 64;

/** The longest text that may be a number. */
const MAX_COUNT_CHARACTERS = 64;

/**
 * `reported` with the usage in one raw chunk: `usage` (OpenAI, Anthropic's `message_delta`),
 * `message.usage` (Anthropic's `message_start`), `response.usage` (OpenAI's responses),
 * `usageMetadata` (Google). All are running totals, so later ones replace earlier ones field by field.
 */
export function withUsageIn(chunk: unknown, reported: JsonObject): JsonObject {
  if (!isPlainObject(chunk)) return reported;
  const inner = (key: string): unknown => {
    const value = chunk[key];
    return isPlainObject(value) ? value['usage'] : undefined;
  };
  const found = [inner('message'), inner('response'), chunk['usageMetadata'], chunk['usage']];
  const fields = found.flatMap(fieldsOf);
  return fields.length === 0 ? reported : firstFields([...Object.entries(reported), ...fields]);
}

/** The counts of a report, and those one level deeper. Nothing else that it has is kept. */
function fieldsOf(usage: unknown): readonly (readonly [string, Json])[] {
  if (!isPlainObject(usage)) return [];
  return Object.entries(usage).flatMap(([name, value]): readonly (readonly [string, Json])[] => {
    if (!isPlainObject(value)) return isCount(value) ? [[name, value]] : [];
    const counts = Object.entries(value).filter((field): field is [string, string | number] =>
      isCount(field[1]),
    );
    return [[name, firstFields(counts)]];
  });
}

function isCount(value: unknown): value is string | number {
  return (
    typeof value === 'number' || (typeof value === 'string' && value.length <= MAX_COUNT_CHARACTERS)
  );
}

/** An object of `fields`, of which later ones replace earlier ones. */
function firstFields(fields: readonly (readonly [string, Json])[]): JsonObject {
  return Object.fromEntries([...new Map(fields)].slice(0, MAX_FIELDS));
}
