/**
 * The answer of a person to what a tool or its server asks: a value or a flat object that fits the form
 * of the request, with the defaults of the form, or a refusal to answer. Patterns are not checked: a
 * stranger's regular expression could hold the run.
 */
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { CallQuestion, QuestionResponse } from '../contract/call-input.ts';
import { numberedOptions } from '../contract/pending.ts';
import { clip } from '../text/cut.ts';
import { foldedLabel } from '../text/folded-label.ts';
import { MAX_OPTIONS } from './ask-user.ts';

/** An answer with defaults, or what an answer has to be. */
export type InputAnswer =
  | { readonly kind: 'fits'; readonly value: Json }
  | { readonly kind: 'refused'; readonly message: string };

/** Characters of a refusal: a form may have many fields with many options. */
const MAX_MESSAGE = 1_000;

/** Checks the answer to a request. A text may hold the value as JSON. */
export function readInputAnswer(request: CallQuestion, value: Json): InputAnswer {
  const given = typeof value === 'string' ? parsed(value) : value;
  if (isDecline(request, given)) return { kind: 'fits', value: given };
  switch (request.kind) {
    case 'url': {
      const isDone = given === true || given === 'done';
      const message = 'answer with true once the page is done, or with { "decline": true }';
      return isDone ? { kind: 'fits', value: true } : { kind: 'refused', message };
    }
    case 'form':
      return isValueForm(request.form)
        ? readValue(request.form, value, given)
        : readFields(request.form, given);
  }
}

/** An object with the fields of `form`. */
function readFields(form: JsonObject, given: Json): InputAnswer {
  const fields = fieldsOf(form);
  const read = isJsonObject(given) ? withDefaults(fields, given) : undefined;
  const unfit = read === undefined ? fields : unfitFields(fields, requiredOf(form), read);
  if (read !== undefined && unfit.length === 0) return { kind: 'fits', value: read };
  const wanted = unfit.map(([name, field]) => `${name} ${wantedOf(field)}`).join('; ');
  const message = `answer with an object${wanted === '' ? '' : `: ${wanted}`}`;
  return { kind: 'refused', message: clip(message, MAX_MESSAGE) };
}

/** One value: as it is, as the JSON in a text, as the label of a choice or as its number from 1. */
function readValue(form: JsonObject, value: Json, given: Json): InputAnswer {
  const choices = shownChoices(form) ?? [];
  const label = foldedLabel(textOf(value));
  const byLabel = choices.find((choice) => foldedLabel(textOf(choice)) === label);
  const byNumber = /^\d+$/.test(label) ? choices[Number(label) - 1] : undefined;
  const fitting = [value, given, byLabel, byNumber].filter((one) => one !== undefined);
  const found = fitting.findIndex((one) => fits(form, one));
  if (found >= 0) return { kind: 'fits', value: fitting[found] ?? null };
  const message =
    choices.length > 0
      ? `answer one of: ${numberedOptions(choices.map(textOf))}`
      : `answer with ${wantedOf(form).replace(/^is /, '')}`;
  return { kind: 'refused', message: clip(message, MAX_MESSAGE) };
}

/** The response that an answer stands for. */
export function responseOf(request: CallQuestion, value: Json): QuestionResponse {
  if (isDecline(request, value)) return { action: 'decline' };
  return request.kind === 'url' ? { action: 'accept' } : { action: 'accept', content: value };
}

/** The labels of the choices that a request offers; undefined: it has none, or more than a person can see. */
export function optionsOf(request: CallQuestion): readonly string[] | undefined {
  if (request.kind !== 'form' || !isValueForm(request.form)) return undefined;
  const choices = shownChoices(request.form);
  return choices === undefined || choices.length > MAX_OPTIONS ? undefined : choices.map(textOf);
}

/** Why a person cannot fill in `form`, in the words of an error: what it has; undefined: nothing. */
export function formProblem(form: JsonObject): string | undefined {
  if (isValueForm(form)) return isField(form) ? undefined : describedField(form);
  const unfit = fieldsOf(form).find(([, field]) => !isField(field));
  return unfit && `${describedField(unfit[1])} in \`${unfit[0]}\``;
}

/** Whether `form` is of one value and not of an object. */
function isValueForm({ type, properties }: JsonObject): boolean {
  return type !== 'object' && properties === undefined;
}

const SCALARS: readonly Json[] = ['string', 'number', 'integer', 'boolean', 'null'];

/** Whether a field is a text, a number, true or false, a choice, or a list of texts or choices. */
function isField(field: JsonObject): boolean {
  if (choicesOf(field) !== undefined) return true;
  const { type = null, anyOf, items } = field;
  if (Array.isArray(anyOf)) return anyOf.every((one) => isJsonObject(one) && isField(one));
  if (type === 'array') return isJsonObject(items) && items['type'] === 'string';
  return [type].flat().every((one) => SCALARS.includes(one));
}

function describedField({ type }: JsonObject): string {
  if (type === 'array') return 'a list of other values';
  return type === 'object' ? 'an object' : 'a schema without a type';
}

/** The choices of a form of one value. */
function shownChoices(form: JsonObject): readonly Json[] | undefined {
  if (form['type'] === 'array') return undefined;
  return choicesOf(form) ?? (form['type'] === 'boolean' ? [true, false] : undefined);
}

/** `{ decline: true }`, unless the form has a field of that name. */
function isDecline(request: CallQuestion, value: Json): boolean {
  const isAsked =
    request.kind === 'form' && fieldsOf(request.form).some(([name]) => name === DECLINE);
  return !isAsked && isJsonObject(value) && value[DECLINE] === true;
}

const DECLINE = 'decline';

type Field = readonly [name: string, schema: JsonObject];

function fieldsOf({ properties }: JsonObject): readonly Field[] {
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties).map(([name, field]) => [
    name,
    isJsonObject(field) ? field : {},
  ]);
}

function requiredOf({ required }: JsonObject): readonly Json[] {
  return Array.isArray(required) ? required : [];
}

function withDefaults(fields: readonly Field[], given: JsonObject): JsonObject {
  const missing = fields.filter(
    ([name, field]) => !Object.hasOwn(given, name) && field['default'] !== undefined,
  );
  return {
    ...Object.fromEntries(missing.map(([name, field]) => [name, field['default'] ?? null])),
    ...given,
  };
}

/** The fields that lack a fitting value, and those that the form does not have. */
function unfitFields(
  fields: readonly Field[],
  required: readonly Json[],
  given: JsonObject,
): readonly Field[] {
  const unfit = fields.filter(([name, field]) =>
    Object.hasOwn(given, name) ? !fits(field, given[name]) : required.includes(name),
  );
  const known = new Set(fields.map(([name]) => name));
  const unknown = Object.keys(given).filter((name) => !known.has(name));
  return [...unfit, ...unknown.map((name): Field => [name, NO_FIELD])];
}

const NO_FIELD: JsonObject = { type: 'none' };

function fits(field: JsonObject, value: Json | undefined): boolean {
  const { type, minimum, maximum, minLength, maxLength, minItems, maxItems, format } = field;
  const choices = choicesOf(field);
  if (choices !== undefined && type !== 'array') return choices.some((one) => one === value);
  if (Array.isArray(field['anyOf'])) {
    return field['anyOf'].some((one) => isJsonObject(one) && fits(one, value));
  }
  switch (type) {
    case 'string':
      if (typeof value !== 'string') return false;
      return isWithin(Array.from(value).length, minLength, maxLength) && hasFormat(value, format);
    case 'number':
    case 'integer':
      if (typeof value !== 'number' || (type === 'integer' && !Number.isInteger(value)))
        return false;
      return isWithin(value, minimum, maximum) && isBetween(value, field);
    case 'null':
      return value === null;
    case 'boolean':
      return typeof value === 'boolean';
    case 'array':
      if (!Array.isArray(value) || !isWithin(value.length, minItems, maxItems)) return false;
      return value.every((item) =>
        choices === undefined ? typeof item === 'string' : choices.includes(item),
      );
    default:
      // A kind of field that no revision has yet: the server checks it.
      return type !== NO_FIELD['type'] && !isJsonObject(value) && !Array.isArray(value);
  }
}

/** The values that a field can have; undefined: any of its type. */
function choicesOf(field: JsonObject): readonly Json[] | undefined {
  const of = field['type'] === 'array' && isJsonObject(field['items']) ? field['items'] : field;
  const { enum: values, const: only, oneOf, anyOf } = of;
  if (Array.isArray(values)) return values;
  if (only !== undefined) return [only];
  const titled = oneOf ?? anyOf;
  if (!Array.isArray(titled)) return undefined;
  const choices = titled.flatMap((one) =>
    isJsonObject(one) && one['const'] !== undefined ? [one['const']] : [],
  );
  return choices.length === 0 ? undefined : choices;
}

function isWithin(value: number, least: Json | undefined, most: Json | undefined): boolean {
  return (
    (typeof least !== 'number' || value >= least) && (typeof most !== 'number' || value <= most)
  );
}

function isBetween(
  value: number,
  { exclusiveMinimum: least, exclusiveMaximum: most }: JsonObject,
): boolean {
  return (typeof least !== 'number' || value > least) && (typeof most !== 'number' || value < most);
}

function hasFormat(text: string, format: Json | undefined): boolean {
  switch (format) {
    case 'email':
      return /^[^\s@]+@[^\s@]+$/u.test(text);
    case 'uri':
      return /^[A-Za-z][A-Za-z0-9+.-]*:\S+$/.test(text);
    case 'date':
      return isDay(text);
    case 'date-time':
      return (
        /^\d{4}-\d\d-\d\d[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/.test(
          text,
        ) && isDay(text.slice(0, 10))
      );
    default:
      return true;
  }
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number);
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
  return day >= 1 && day <= days;
}

/** What a value of the field has to be, after its name: `is one of staging, production`. */
function wantedOf(field: JsonObject): string {
  const { type, format } = field;
  const choices = choicesOf(field);
  if (choices !== undefined) {
    return `${type === 'array' ? 'is a list of' : 'is one of'} ${choices.map(textOf).join(', ')}`;
  }
  switch (type) {
    case 'string':
      return `is a text${typeof format === 'string' ? ` of the format ${format}` : rangeOf(field, 'minLength', 'maxLength', ' characters')}`;
    case 'number':
      return `is a number${rangeOf(field, 'minimum', 'maximum')}`;
    case 'integer':
      return `is a whole number${rangeOf(field, 'minimum', 'maximum')}`;
    case 'boolean':
      return 'is true or false';
    case 'array':
      return `is a list of texts${rangeOf(field, 'minItems', 'maxItems', ' items')}`;
    case NO_FIELD['type']:
      return 'is no field of the form';
    default:
      return 'is a text, a number or true or false';
  }
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function rangeOf(field: JsonObject, least: string, most: string, unit = ''): string {
  const named: readonly (readonly [string, Json | undefined])[] = [
    ['at least', field[least]],
    ['more than', field['exclusiveMinimum']],
    ['at most', field[most]],
    ['less than', field['exclusiveMaximum']],
  ];
  const bounds = named.flatMap(([word, bound]) =>
    typeof bound === 'number' ? [`${word} ${bound}`] : [],
  );
  return bounds.length === 0 ? '' : ` of ${bounds.join(' and ')}${unit}`;
}

/** A text as the JSON that it holds, else as it is. */
function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
