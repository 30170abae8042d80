import { isJsonObject, type Json } from './json.ts';

/** `value` with every number that is not whole rounded to `digits` decimal places. */
export function roundFloats(value: Json, digits: number): Json {
  if (typeof value === 'number') {
    return Number.isInteger(value) ? value : Number(value.toFixed(digits));
  }
  if (Array.isArray(value)) return value.map((item: Json) => roundFloats(item, digits));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, roundFloats(item, digits)]),
  );
}
