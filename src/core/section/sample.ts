/** A value that fits the limits of a schema without parts, for examples. */
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';

/** Texts of the formats of JSON Schema that have one. */
const TEXTS: Readonly<Record<string, string>> = {
  'date-time': '2026-05-03T09:14:00Z',
  date: '2026-05-03',
  time: '09:14:00Z',
  duration: 'PT1H30M',
  email: 'ann@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/page',
  url: 'https://example.com/page',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
};

/** Characters of the longest text that is made for a lower bound. */
const MAX_TEXT = 200;

/** A value of `schema`, whose type is `word`; undefined: its limits are not understood. */
export function sampleOf(
  schema: JsonObject,
  word: 'string' | 'int' | 'float' | 'bool' | 'nil' | 'map' | 'any',
): Json | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (word === 'string') return textOf(schema);
  return word === 'int' || word === 'float' ? numberOf(schema, word === 'int') : undefined;
}

function textOf({ format, pattern, minLength, maxLength }: JsonObject): string | undefined {
  if (pattern !== undefined) return undefined;
  const known = typeof format === 'string' && Object.hasOwn(TEXTS, format) ? TEXTS[format] : 'text';
  if (format !== undefined && known === 'text') return undefined;
  const least = typeof minLength === 'number' ? minLength : 0;
  const most = typeof maxLength === 'number' ? maxLength : MAX_TEXT;
  const text = known ?? 'text';
  if (text.length >= least && text.length <= most) return text;
  if (known !== 'text' || least > MAX_TEXT) return undefined;
  return text.length > most ? text.slice(0, most) : 'text '.repeat(least).slice(0, least - 1) + 't';
}

function numberOf(schema: JsonObject, isWhole: boolean): number | undefined {
  const bound = (keyword: string): number | undefined => {
    const value = schema[keyword];
    return typeof value === 'number' ? value : undefined;
  };
  const step = bound('multipleOf');
  const unit = step ?? (isWhole ? 1 : 0.5);
  const low = bound('minimum') ?? bound('exclusiveMinimum');
  const high = bound('maximum') ?? bound('exclusiveMaximum');
  const [over, under] = [bound('exclusiveMinimum'), bound('exclusiveMaximum')];
  const fits = (value: number): boolean =>
    (low === undefined || value >= low) &&
    (high === undefined || value <= high) &&
    (over === undefined || value > over) &&
    (under === undefined || value < under) &&
    (step === undefined || Number.isInteger(value / step)) &&
    (!isWhole || Number.isInteger(value));
  const start = low === undefined ? (high ?? 0) - unit : low;
  const near = Math.ceil(start / unit) * unit;
  const middle = low !== undefined && high !== undefined ? [(low + high) / 2] : [];
  return [isWhole ? 1 : 1.5, near, near + unit, near - unit, ...middle].find(fits);
}
