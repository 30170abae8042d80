import type { Json } from './json.ts';

/** The types of JSON Schema, except that `integer` is `number`. */
export type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

/** The type of `value`, named as in JSON Schema: `null`, `number`, `array`, … */
export function jsonType(value: Json): JsonType {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : (typeof value as JsonType);
}
