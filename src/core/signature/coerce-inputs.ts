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
  const notes: Notes = { warnings: [], problems: [] };
  const coerced = coerceFields(params, nameFields(params, inputs), '', notes);
  return { inputs: coerced, warnings: notes.warnings, problems: notes.problems };
}

interface Notes {
  readonly warnings: string[];
  readonly problems: string[];
}

function coerceFields(
  fields: readonly SignatureField[],
  value: JsonObject,
  path: string,
  notes: Notes,
): JsonObject {
  const coerced: { [name: string]: Json } = { ...value };
  for (const { name, type } of fields) {
    const place = path === '' ? name : `${path}.${name}`;
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    if (given === undefined) {
      if (type.kind === 'optional') continue;
      notes.problems.push(`\`${place}\` is required (${promptType(type)}).`);
      continue;
    }
    coerced[name] = coerceValue(type, given, place, notes);
  }
  return coerced;
}

function coerceValue(type: SignatureType, value: Json, place: string, notes: Notes): Json {
  switch (type.kind) {
    case 'optional':
      return value === null ? null : coerceValue(withoutOptional(type), value, place, notes);
    case 'list':
      if (!Array.isArray(value)) return refuse(value, 'list', place, notes);
      return value.map((item: Json, index) =>
        coerceValue(type.item, item, `${place}[${index}]`, notes),
      );
    case 'record':
      if (!isJsonObject(value)) return refuse(value, 'record', place, notes);
      return coerceFields(type.fields, nameFields(type.fields, value), place, notes);
    case 'map':
      return isJsonObject(value) ? value : refuse(value, 'map', place, notes);
    case 'any':
      return value;
    case 'string':
      return typeof value === 'string' ? value : refuse(value, 'string', place, notes);
    case 'keyword':
      return typeof value === 'string'
        ? value.replace(/^:/, '')
        : refuse(value, 'keyword', place, notes);
    case 'int':
      return coerceNumber(value, { name: 'integer', text: /^-?\d+$/, isWhole: true }, place, notes);
    case 'float':
      return coerceNumber(
        value,
        { name: 'float', text: /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/, isWhole: false },
        place,
        notes,
      );
    case 'bool':
      if (typeof value === 'boolean') return value;
      if (value !== 'true' && value !== 'false') return refuse(value, 'boolean', place, notes);
      return warned(value, value === 'true', place, notes);
    case 'datetime':
      return coerceDatetime(value, place, notes);
  }
}

interface NumberForm {
  readonly name: string;
  readonly text: RegExp;
  readonly isWhole: boolean;
}

function coerceNumber(value: Json, form: NumberForm, place: string, notes: Notes): Json {
  const fits = (number: number): boolean =>
    form.isWhole ? Number.isSafeInteger(number) : Number.isFinite(number);
  if (typeof value === 'number') {
    return fits(value) ? value : refuse(value, form.name, place, notes);
  }
  const number = typeof value === 'string' && form.text.test(value) ? Number(value) : Number.NaN;
  return fits(number)
    ? warned(value, number, place, notes)
    : refuse(value, form.name, place, notes);
}

function coerceDatetime(value: Json, place: string, notes: Notes): Json {
  if (typeof value !== 'string') return refuse(value, 'datetime', place, notes);
  const utc = utcOf(value);
  if (utc === undefined) {
    const isMoment =
      toDateTime(value) !== undefined &&
      momentOf(`${value.trim()}Z`.replace(' ', 'T')) !== undefined;
    if (!isMoment) return refuse(value, 'datetime', place, notes);
    notes.problems.push(`${place}: datetime needs an offset, got ${quoted(value)}`);
    return value;
  }
  return utc === value ? value : warned(value, utc, place, notes);
}

function warned(from: Json, to: Json, place: string, notes: Notes): Json {
  notes.warnings.push(`${place}: ${quoted(from)} was read as ${quoted(to)}`);
  return to;
}

function refuse(value: Json, type: string, place: string, notes: Notes): Json {
  notes.problems.push(`${place}: cannot coerce ${described(value)} to ${type}`);
  return value;
}

function described(value: Json): string {
  return value === null ? 'null' : `${jsonType(value)} ${quoted(value)}`;
}

function quoted(value: Json): string {
  return clip(JSON.stringify(value), MAX_QUOTED);
}
