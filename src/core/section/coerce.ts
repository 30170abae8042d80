/**
 * Coercion of what models and people write in another form than the schema has, where the schema
 * leaves one reading:
 *
 * - moments and durations get their standard form;
 * - text where no text is allowed is read as the JSON that it holds: `"3"`, `"true"`, `"[1, 2]"`;
 * - null for an optional property that cannot be null is no property.
 *
 * All else stays as it is, so that the schema check reports it: where text is allowed, `"5"` is text.
 */
import { isJsonObject, type Json, jsonType } from '../base/json.ts';
import { dayOfDate } from '../text/civil-date.ts';
import { readJson } from './json-reader.ts';
import { allows, schemaPlace, type SchemaPlace } from './schema-types.ts';

/** Milliseconds of each unit of a duration. */
const unitMs: Readonly<Record<string, number>> = {
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
};

/** Texts that are read as the JSON that they hold, one inside the other. */
const MAX_TEXTS = 2;

/** `value` in the form that `schema` has for it. Never throws. */
export function coerce(value: Json, schema: Json): Json {
  return coerceAt(value, schemaPlace(schema));
}

function coerceAt(given: Json, place: SchemaPlace): Json {
  const value = typeof given === 'string' ? jsonInText(given, place, MAX_TEXTS) : given;
  if (Array.isArray(value)) {
    return value.map((item: Json, index) => coerceAt(item, place.item(index)));
  }
  if (isJsonObject(value)) {
    const entries = Object.entries(value).filter(
      ([key, item]) => item !== null || !isAbsent(key, place),
    );
    return Object.fromEntries(
      entries.map(([key, item]) => [key, coerceAt(item, place.property(key))]),
    );
  }
  switch (place.coercion) {
    case 'date-time':
      return typeof value === 'string' ? (toDateTime(value) ?? value) : value;
    case 'duration':
      return toDuration(value) ?? value;
    case 'duration-ms':
      return typeof value === 'string' ? (durationMs(value) ?? value) : value;
    case undefined:
      return value;
  }
}

/** Whether null under `key` can only mean that there is no such property. */
export function isAbsent(key: string, place: SchemaPlace): boolean {
  return place.presence(key) === 'optional' && !place.takesNull(key);
}

/** The value that a text stands for where no text is allowed; the text if there is none. */
function jsonInText(text: string, { types, coercion }: SchemaPlace, left: number): Json {
  if (types === undefined || coercion !== undefined || allows(types, 'string')) return text;
  const reading = readJson(SPELLINGS[text.trim()] ?? text);
  if (reading.kind === 'problem') return text;
  const { value } = reading;
  if (typeof value === 'string' && left > 1) {
    const inner = jsonInText(value, { types, coercion } as SchemaPlace, left - 1);
    return inner === value ? text : inner;
  }
  const type = Number.isInteger(value) ? 'integer' : jsonType(value);
  return allows(types, type) ? value : text;
}

/** Values as Python and people spell them. */
const SPELLINGS: Readonly<Record<string, string>> = {
  True: 'true',
  TRUE: 'true',
  False: 'false',
  FALSE: 'false',
  None: 'null',
};

/**
 * A moment as RFC 3339 with its offset, UTC if it has none: `2026-03-10 09:05` becomes
 * `2026-03-10T09:05:00Z`. Undefined for another form, or a date that does not exist.
 */
export function toDateTime(text: string): string | undefined {
  const match =
    /^(\d{4}-\d{2}-\d{2})[Tt ]((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d)(\.\d+)?)?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?$/.exec(
      text.trim(),
    );
  if (match === null) return undefined;
  const [, date = '', minutes = '', seconds = '00', fraction = '', zone = 'Z'] = match;
  if (dayOfDate(date) === undefined) return undefined;
  return `${date}T${minutes}:${seconds}${fraction}${zone.toUpperCase()}`;
}

/** A duration as ISO 8601 in days and smaller: `1h30m`, `PT90M`, 5,400,000 become `PT1H30M`. */
function toDuration(value: Json): string | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? isoDuration(value) : undefined;
  if (typeof value !== 'string') return undefined;
  const ms = durationMs(value);
  return ms === undefined ? undefined : isoDuration(ms);
}

/** Integer milliseconds of `1h30m`, `90s`, `500ms`, `1.5h`, `2d`, `-5m`, `PT1H30M`, `P2DT3H`. */
export function durationMs(text: string): number | undefined {
  const trimmed = text.trim();
  const sign = trimmed.startsWith('-') ? -1 : 1;
  const body = sign < 0 ? trimmed.slice(1) : trimmed;
  const ms = body.startsWith('P') ? isoMs(body) : shortMs(body);
  if (ms === undefined) return undefined;
  const rounded = Math.round(ms);
  return Number.isSafeInteger(rounded) ? sign * rounded + 0 : undefined;
}

/**
 * Whether `text` is a duration as {@link toDuration} writes it, or ISO 8601 with years, months and
 * weeks. The `duration` of schema validators is RFC 3339: no sign and no fraction.
 */
export function isIsoDuration(text: string): boolean {
  return /^-?P(?!$)(?:(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?|\d+W)$/.test(
    text,
  );
}

/** Whether `text` is a time of ISO 8601: `09:05`, `09:05:06.7`, with or without a zone. */
export function isIsoTime(text: string): boolean {
  return /^(?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:\.\d+)?)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?$/.test(
    text,
  );
}

/** `1h30m`: units in falling order, each at most once. */
function shortMs(body: string): number | undefined {
  const match =
    /^(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/.exec(
      body,
    );
  return match === null || body === '' ? undefined : sumOf(match.slice(1));
}

/** Weeks, days and smaller; months and years have no fixed length. */
function isoMs(body: string): number | undefined {
  const weeks = /^P(\d+(?:\.\d+)?)W$/.exec(body);
  if (weeks !== null) return Number(weeks[1]) * 7 * (unitMs['d'] ?? 0);
  const match =
    /^P(?:(\d+(?:\.\d+)?)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(
      body,
    );
  if (match === null || body === 'P' || body.endsWith('T')) return undefined;
  return sumOf([...match.slice(1), undefined]);
}

function sumOf(amounts: readonly (string | undefined)[]): number {
  const units = Object.values(unitMs);
  return amounts.reduce((sum, text, i) => sum + Number(text ?? 0) * (units[i] ?? 0), 0);
}

function isoDuration(ms: number): string {
  const total = Math.abs(ms);
  const days = Math.floor(total / 86_400_000);
  const hours = Math.floor((total % 86_400_000) / 3_600_000);
  const minutes = Math.floor((total % 3_600_000) / 60_000);
  const seconds = (total % 60_000) / 1000;
  const time = [
    hours === 0 ? '' : `${hours}H`,
    minutes === 0 ? '' : `${minutes}M`,
    seconds === 0 && total !== 0 ? '' : `${seconds}S`,
  ].join('');
  return `${ms < 0 ? '-' : ''}P${days === 0 ? '' : `${days}D`}${time === '' ? '' : `T${time}`}`;
}
