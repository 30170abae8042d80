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
  const coercion: Coercion = { path: '', warnings: [], problems: [] };
  const coerced = coerceFields(params, nameFields(params, inputs), coercion);
  return { inputs: coerced, warnings: coercion.warnings, problems: coercion.problems };
}

/** The coercion of one value: its path in the inputs, and the lines about all values. */
interface Coercion {
  readonly path: string;
  readonly warnings: string[];
  readonly problems: string[];
}

function coerceFields(
  fields: readonly SignatureField[],
  value: JsonObject,
  coercion: Coercion,
): JsonObject {
  const coerced: { [name: string]: Json } = { ...value };
  for (const { name, type } of fields) {
    const path = coercion.path === '' ? name : `${coercion.path}.${name}`;
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    if (given === undefined) {
      if (type.kind === 'optional') continue;
      coercion.problems.push(`\`${path}\` is required (${promptType(type)}).`);
      continue;
    }
    coerced[name] = coerceValue(type, given, { ...coercion, path });
  }
  return coerced;
}

function coerceValue(type: SignatureType, value: Json, coercion: Coercion): Json {
  switch (type.kind) {
    case 'optional':
      return value === null ? null : coerceValue(withoutOptional(type), value, coercion);
    case 'list':
      if (!Array.isArray(value)) return refuse(value, 'list', coercion);
      return value.map((item: Json, index) =>
        coerceValue(type.item, item, { ...coercion, path: `${coercion.path}[${index}]` }),
      );
    case 'record':
      if (!isJsonObject(value)) return refuse(value, 'record', coercion);
      return coerceFields(type.fields, nameFields(type.fields, value), coercion);
    case 'map':
      return isJsonObject(value) ? value : refuse(value, 'map', coercion);
    case 'any':
      return value;
    case 'string':
      return typeof value === 'string' ? value : refuse(value, 'string', coercion);
    case 'keyword':
      return typeof value === 'string'
        ? value.replace(/^:/, '')
        : refuse(value, 'keyword', coercion);
    case 'int':
      return coerceNumber(value, WHOLE, coercion);
    case 'float':
      return coerceNumber(value, FLOAT, coercion);
    case 'bool':
      if (typeof value === 'boolean') return value;
      if (value !== 'true' && value !== 'false') return refuse(value, 'boolean', coercion);
      return warned(value, value === 'true', coercion);
    case 'datetime':
      return coerceDatetime(value, coercion);
  }
}

const WHOLE = { name: 'integer', text: /^-?\d+$/, fits: Number.isSafeInteger };
const FLOAT = {
  name: 'float',
  text: /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/,
  fits: Number.isFinite,
};

function coerceNumber(value: Json, { name, text, fits }: typeof FLOAT, coercion: Coercion): Json {
  if (typeof value === 'number') return fits(value) ? value : refuse(value, name, coercion);
  const number = typeof value === 'string' && text.test(value) ? Number(value) : Number.NaN;
  return fits(number) ? warned(value, number, coercion) : refuse(value, name, coercion);
}

function coerceDatetime(value: Json, coercion: Coercion): Json {
  if (typeof value !== 'string') return refuse(value, 'datetime', coercion);
  const utc = utcOf(value);
  if (utc === undefined) {
    const isMoment =
      toDateTime(value) !== undefined &&
      momentOf(`${value.trim()}Z`.replace(' ', 'T')) !== undefined;
    if (!isMoment) return refuse(value, 'datetime', coercion);
    coercion.problems.push(`${coercion.path}: datetime needs an offset, got ${quoted(value)}`);
    return value;
  }
  return utc === value ? value : warned(value, utc, coercion);
}

function warned(from: Json, to: Json, coercion: Coercion): Json {
  coercion.warnings.push(`${coercion.path}: ${quoted(from)} was read as ${quoted(to)}`);
  return to;
}

function refuse(value: Json, type: string, coercion: Coercion): Json {
  coercion.problems.push(`${coercion.path}: cannot coerce ${described(value)} to ${type}`);
  return value;
}

function described(value: Json): string {
  return value === null ? 'null' : `${jsonType(value)} ${quoted(value)}`;
}

function quoted(value: Json): string {
  return clip(JSON.stringify(value), MAX_QUOTED);
}
