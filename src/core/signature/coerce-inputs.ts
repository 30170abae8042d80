/**
 * Coerces inputs to their parameters. People write numbers as text, programs write keywords. A
 * value with only one possible meaning is changed with a warning; any other misfit is an error
 * before it costs money.
 */
import { isJsonObject, type Json, type JsonObject, jsonType } from '../base/json.ts';
import { toDateTime } from '../section/coerce.ts';
import { clip } from '../text/cut.ts';
import { momentOf } from '../text/civil-date.ts';
import { nameFields, utcOf } from './align-value.ts';
import { promptType } from './print-signature.ts';
import { withoutOptional, type SignatureField, type SignatureType } from '../contract/signature.ts';

/** Coerced inputs, with warnings and problems. */
export interface CoercedInputs {
  readonly inputs: JsonObject;
  /** A line for each value that was changed in a way its author may not have meant. */
  readonly warnings: readonly string[];
  /** A line for each value that does not fit. */
  readonly problems: readonly string[];
}

/** Characters of a text that a message quotes. */
const MAX_QUOTED = 80;

/** Coerces `inputs` to the types of `params`; other inputs are kept. Never throws. */
export function coerceInputs(params: readonly SignatureField[], inputs: JsonObject): CoercedInputs {
  const place: Place = { path: '', warnings: [], problems: [] };
  const coerced = coerceFields(params, nameFields(params, inputs), place);
  return { inputs: coerced, warnings: place.warnings, problems: place.problems };
}

/** A place in the inputs, and the lines about all places. */
interface Place {
  readonly path: string;
  readonly warnings: string[];
  readonly problems: string[];
}

function coerceFields(
  fields: readonly SignatureField[],
  value: JsonObject,
  place: Place,
): JsonObject {
  const coerced: { [name: string]: Json } = { ...value };
  for (const { name, type } of fields) {
    const path = place.path === '' ? name : `${place.path}.${name}`;
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    if (given === undefined) {
      if (type.kind === 'optional') continue;
      place.problems.push(`\`${path}\` is required (${promptType(type)}).`);
      continue;
    }
    coerced[name] = coerceValue(type, given, { ...place, path });
  }
  return coerced;
}

function coerceValue(type: SignatureType, value: Json, place: Place): Json {
  switch (type.kind) {
    case 'optional':
      return value === null ? null : coerceValue(withoutOptional(type), value, place);
    case 'list':
      if (!Array.isArray(value)) return refuse(value, 'list', place);
      return value.map((item: Json, index) =>
        coerceValue(type.item, item, { ...place, path: `${place.path}[${index}]` }),
      );
    case 'record':
      if (!isJsonObject(value)) return refuse(value, 'record', place);
      return coerceFields(type.fields, nameFields(type.fields, value), place);
    case 'map':
      return isJsonObject(value) ? value : refuse(value, 'map', place);
    case 'any':
      return value;
    case 'string':
      return typeof value === 'string' ? value : refuse(value, 'string', place);
    case 'keyword':
      return typeof value === 'string' ? value.replace(/^:/, '') : refuse(value, 'keyword', place);
    case 'int':
      return coerceNumber(value, WHOLE, place);
    case 'float':
      return coerceNumber(value, FLOAT, place);
    case 'bool':
      if (typeof value === 'boolean') return value;
      if (value !== 'true' && value !== 'false') return refuse(value, 'boolean', place);
      return warned(value, value === 'true', place);
    case 'datetime':
      return coerceDatetime(value, place);
  }
}

const WHOLE = { name: 'integer', text: /^-?\d+$/, fits: Number.isSafeInteger };
const FLOAT = {
  name: 'float',
  text: /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/,
  fits: Number.isFinite,
};

function coerceNumber(value: Json, { name, text, fits }: typeof FLOAT, place: Place): Json {
  if (typeof value === 'number') return fits(value) ? value : refuse(value, name, place);
  const number = typeof value === 'string' && text.test(value) ? Number(value) : Number.NaN;
  return fits(number) ? warned(value, number, place) : refuse(value, name, place);
}

function coerceDatetime(value: Json, place: Place): Json {
  if (typeof value !== 'string') return refuse(value, 'datetime', place);
  const utc = utcOf(value);
  if (utc === undefined) {
    const isMoment =
      toDateTime(value) !== undefined &&
      momentOf(`${value.trim()}Z`.replace(' ', 'T')) !== undefined;
    if (!isMoment) return refuse(value, 'datetime', place);
    place.problems.push(`${place.path}: datetime needs an offset, got ${quoted(value)}`);
    return value;
  }
  return utc === value ? value : warned(value, utc, place);
}

function warned(from: Json, to: Json, place: Place): Json {
  place.warnings.push(`${place.path}: ${quoted(from)} was read as ${quoted(to)}`);
  return to;
}

function refuse(value: Json, type: string, place: Place): Json {
  place.problems.push(`${place.path}: cannot coerce ${described(value)} to ${type}`);
  return value;
}

function described(value: Json): string {
  return value === null ? 'null' : `${jsonType(value)} ${quoted(value)}`;
}

function quoted(value: Json): string {
  return clip(JSON.stringify(value), MAX_QUOTED);
}
