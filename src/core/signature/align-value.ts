/** Aligns a value with its signature: names of fields, moments, and null for absent fields. */
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { isoOfMoment, momentOf } from '../text/civil-date.ts';
import type { SignatureField, SignatureType } from '../contract/signature.ts';

/**
 * `value` with the names of `type`: a field is found as `x_y` and as `x-y`. Moments with an offset
 * become UTC. Values that do not fit are unchanged, so the check reports them. Never throws.
 */
export function alignValue(type: SignatureType, value: Json): Json {
  switch (type.kind) {
    case 'optional':
      return value === null ? null : alignValue(type.inner, value);
    case 'list':
      return Array.isArray(value) ? value.map((item: Json) => alignValue(type.item, item)) : value;
    case 'record':
      return isJsonObject(value) ? alignFields(type.fields, value) : value;
    case 'datetime':
      return typeof value === 'string' ? (utcOf(value) ?? value) : value;
    default:
      return value;
  }
}

/** Aligns the fields of an object; undeclared fields are kept. */
function alignFields(fields: readonly SignatureField[], value: JsonObject): JsonObject {
  const aligned: { [name: string]: Json } = { ...nameFields(fields, value) };
  for (const { name, type } of fields) {
    const item = Object.hasOwn(aligned, name) ? aligned[name] : undefined;
    if (item === undefined) continue;
    aligned[name] = alignValue(type, item);
  }
  return aligned;
}

/** `value` with the declared spelling of each field; the values are unchanged. */
export function nameFields(fields: readonly SignatureField[], value: JsonObject): JsonObject {
  const names = new Map(fields.map(({ name }) => [foldName(name), name]));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const name = names.get(foldName(key)) ?? key;
      // The exact name wins over another spelling of it.
      return [Object.hasOwn(value, name) ? key : name, item];
    }),
  );
}

/** A name without differences of spelling: `:x-y`, `x-y` and `x_y` are one. */
function foldName(name: string): string {
  return name.replace(/^:/, '').replaceAll('-', '_');
}

/** A moment with an offset as UTC text; undefined for other text. A moment in UTC is unchanged. */
export function utcOf(text: string): string | undefined {
  if (momentOf(text) === undefined) return undefined;
  if (text.endsWith('Z')) return text;
  const moment = isoOfMoment(momentOf(text) ?? 0, 0);
  return moment.replace(/\.000Z$/, 'Z');
}
