/** A JSON value, the form in which the host and the language exchange data. */
export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** An object without a prototype, so that a key such as `__proto__` is an ordinary key. */
export function emptyObject<T>(): { [key: string]: T } {
  const bare: { [key: string]: T } = Object.create(null);
  return bare;
}

/** Whether `value` is a JSON object. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The text of a JSON string or number; empty for any other value. */
export function textOfJson(value: Json | undefined): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
