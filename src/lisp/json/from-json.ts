/**
 * Converts JSON to values.
 */
import { toWellFormed } from '../value/characters.ts';
import { mapOf } from '../value/tree.ts';
import { float, UNMETERED, type Value } from '../value/value.ts';
import { vectorOf } from '../value/vector.ts';
import { isJsonObject, type Json } from '../base/json.ts';

/** Parts that are nested deeper become nil. */
const MAX_NESTING = 1_000;

/**
 * The value of a JSON value. Objects become maps with string keys; whole numbers within ±(2^53−1)
 * become integers; text is made well-formed.
 */
export function fromJson(json: Json): Value {
  return convert(json, 0);
}

function convert(json: Json, nesting: number): Value {
  if (typeof json === 'string') return toWellFormed(json);
  if (typeof json === 'number') {
    return Number.isSafeInteger(json) ? json + 0 : float(json);
  }
  if (json === null || typeof json === 'boolean') return json;
  if (nesting >= MAX_NESTING) return null;
  if (!isJsonObject(json)) return vectorOf(json.map((item) => convert(item, nesting + 1)));
  const names = Object.keys(json);
  const keys = names.map(toWellFormed);
  const vals = names.map((name) => convert(json[name] as Json, nesting + 1));
  return mapOf(keys, vals, UNMETERED);
}
