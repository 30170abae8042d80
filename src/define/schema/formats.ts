/**
 * The formats of ajv-formats, whose expressions run in counted steps, and our own forms of
 * durations, times and moments.
 */
import type { Ajv2020 } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { isIsoDuration, isIsoTime } from '../../core/section/coerce.ts';
import { utcOf } from '../../core/signature/align-value.ts';
import { DATETIME_FORMAT } from '../../core/signature/json-schema.ts';
import { compilePattern, type PatternTest, type StepBudget } from '../pattern/pattern.ts';

/** Longest text of a date, time or duration, in UTF-16 units; fractions have any length. */
const MAX_MOMENT = 1_000;

/** Longest text of the format `regex`. */
const MAX_REGEX = 20_000;

/** Formats with a function that is not made for long texts, and the longest that it gets. */
const LONGEST: ReadonlyMap<string, number> = new Map([
  ['date', MAX_MOMENT],
  ['time', MAX_MOMENT],
  ['date-time', MAX_MOMENT],
  ['iso-time', MAX_MOMENT],
  ['iso-date-time', MAX_MOMENT],
  ['regex', MAX_REGEX],
]);

/** Compiled when a schema first names the format. */
const compiled = new Map<string, PatternTest>();

/** Adds all formats; those with an expression spend steps of `budget`. */
export function addFormats(ajv: Ajv2020, budget: StepBudget): void {
  for (const [name, format] of Object.entries(fullFormats)) {
    const validate = typeof format === 'object' && 'validate' in format ? format.validate : format;
    if (validate instanceof RegExp) {
      ajv.addFormat(name, (text: string) => testOf(name, validate)(text, budget));
    } else if (typeof validate === 'function' && LONGEST.has(name)) {
      const longest = LONGEST.get(name) ?? 0;
      const isFit = validate as (text: string) => boolean;
      ajv.addFormat(name, (text: string) => text.length <= longest && isFit(text));
    } else {
      ajv.addFormat(name, format);
    }
  }
  // The form that coercion writes, with a sign and fractions, which RFC 3339 does not allow.
  ajv.addFormat('duration', (text: string) => text.length <= MAX_MOMENT && isIsoDuration(text));
  // RFC 3339 requires a zone, which times of libraries and people often lack.
  ajv.addFormat('time', (text: string) => text.length <= MAX_MOMENT && isIsoTime(text));
  ajv.addFormat(
    DATETIME_FORMAT,
    (text: string) => text.length <= MAX_MOMENT && utcOf(text) !== undefined,
  );
}

function testOf(name: string, { source, ignoreCase }: RegExp): PatternTest {
  const test = compiled.get(name) ?? compilePattern(source, ignoreCase);
  compiled.set(name, test);
  return test;
}
