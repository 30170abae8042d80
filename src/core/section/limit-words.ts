/** What a schema asks of a value beyond its type, in words that models read. */
import type { Json, JsonObject } from '../base/json.ts';
import { clip } from '../text/cut.ts';

/** Characters of a pattern that is quoted. */
const MAX_PATTERN = 200;

/** The keywords that {@link limitWords} tells. */
export const LIMITS: readonly string[] = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
];

/** `1..5` · `multiple of 5` · `format email` · `at most 80 characters`, in this order. */
export function limitWords(schema: JsonObject): readonly string[] {
  const { multipleOf, format, pattern, uniqueItems } = schema;
  return [
    ...rangeOf(schema),
    ...(typeof multipleOf === 'number' ? [`multiple of ${multipleOf}`] : []),
    ...(typeof format === 'string' ? [`format ${format}`] : []),
    ...(typeof pattern === 'string' ? [`matching ${clip(pattern, MAX_PATTERN)}`] : []),
    ...countOf(schema['minLength'], schema['maxLength'], 'character'),
    ...countOf(schema['minItems'], schema['maxItems'], 'item'),
    ...(uniqueItems === true ? ['no two items equal'] : []),
    ...countOf(schema['minProperties'], schema['maxProperties'], 'field'),
  ];
}

function rangeOf(schema: JsonObject): readonly string[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (typeof minimum === 'number' && typeof maximum === 'number') return [`${minimum}..${maximum}`];
  const ends: readonly (readonly [string, Json | undefined])[] = [
    ['>=', minimum],
    ['>', exclusiveMinimum],
    ['<=', maximum],
    ['<', exclusiveMaximum],
  ];
  return ends.flatMap(([sign, end]) => (typeof end === 'number' ? [`${sign} ${end}`] : []));
}

function countOf(least: Json | undefined, most: Json | undefined, unit: string): readonly string[] {
  const from = typeof least === 'number' && least > 0 ? least : undefined;
  const to = typeof most === 'number' ? most : undefined;
  const units = (to ?? from) === 1 ? unit : `${unit}s`;
  if (from === undefined) return to === undefined ? [] : [`at most ${to} ${units}`];
  if (to === undefined) return [`at least ${from} ${units}`];
  return [from === to ? `${from} ${units}` : `${from}..${to} ${units}`];
}

/** A type and its limits: `integer 1..5`, `string, format email, at most 80 characters`. */
export function withLimits(word: string, limits: readonly string[] = []): string {
  return limits.reduce(
    (text, limit) => (/^[-\d<>]/.test(limit) ? `${text} ${limit}` : `${text}, ${limit}`),
    word,
  );
}
