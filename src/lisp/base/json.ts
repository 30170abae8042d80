/** A JSON value, as it crosses the edge of the ring. */
export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** An object without a prototype, so that every key of a program is an ordinary one. */
export function emptyObject<T>(): { [key: string]: T } {
  const bare: { [key: string]: T } = Object.create(null);
  return bare;
}

/** Whether `value` is a JSON object. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text of a JSON value that ought to be text or a number; empty for anything else. */
export function textOfJson(value: Json | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
