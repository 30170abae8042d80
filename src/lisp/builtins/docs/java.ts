/**
 * Members named after Java: names, arguments, meaning, examples.
 */
import type { DocRow } from './doc-row.ts';

/** Members named after Java. */
export const JAVA_DOCS: readonly DocRow[] = Object.freeze<DocRow[]>([
  {
    theme: 'Java-shaped members',
    names: 'Math/abs',
    args: '1',
    meaning: 'long or double; the smallest long stays',
    examples: [['(Math/abs -7)', '7']],
  },
  {
    theme: 'Java-shaped members',
    names: 'Math/max Math/min',
    args: '2',
    meaning: 'both integers or both floats, else `java_type_error`',
    examples: [
      ['(Math/max 1 2)', '2'],
      ['(Math/min 1.5 2.5)', '1.5'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: 'Math/ceil Math/floor Math/sqrt',
    args: '1',
    meaning: 'floats',
    examples: [
      ['(Math/ceil 1.2)', '2.0'],
      ['(Math/floor -1.2)', '-2.0'],
      ['(Math/sqrt 16)', '4.0'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: 'Math/pow',
    args: '2',
    meaning: 'float',
    examples: [['(Math/pow 2 3)', '8.0']],
  },
  {
    theme: 'Java-shaped members',
    names: 'Math/round',
    args: '1',
    meaning: 'float to 64-bit integer, ties up, NaN is 0; an integer raises: use `round`',
    examples: [
      ['(Math/round 2.5)', '3'],
      ['(Math/round -2.5)', '-2'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: 'Integer/parseInt Long/parseLong',
    args: '1–2',
    meaning: 'radix; bad text: `java_domain_error`',
    examples: [
      ['(Integer/parseInt "42")', '42'],
      ['(Long/parseLong "ff" 16)', '255'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: 'Double/parseDouble Float/parseFloat',
    args: '1',
    meaning: 'Java text forms, both to a double',
    examples: [
      ['(Double/parseDouble "1.5")', '1.5'],
      ['(Float/parseFloat "2")', '2.0'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: 'Boolean/parseBoolean',
    args: '1',
    meaning: '"true" in any case, else `false`',
    examples: [
      ['(Boolean/parseBoolean "TRUE")', 'true'],
      ['(Boolean/parseBoolean nil)', 'false'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: 'Double/POSITIVE_INFINITY Double/NEGATIVE_INFINITY Double/NaN',
    args: '–',
    meaning: '',
    examples: [
      ['(max 1 Double/POSITIVE_INFINITY)', '##Inf'],
      ['(NaN? Double/NaN)', 'true'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: '.length .isEmpty .trim',
    args: '1',
    meaning: 'text',
    examples: [
      ['(.length "😀a")', '3'],
      ['(.isEmpty "")', 'true'],
      ['(.trim " a ")', '"a"'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: '.indexOf .lastIndexOf',
    args: '2–3',
    meaning: 'text or code point; −1 when absent',
    examples: [
      ['(.indexOf "hello" "l" 3)', '3'],
      ['(.lastIndexOf "abc" "z")', '-1'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: '.contains .startsWith .endsWith',
    args: '2, 2–3, 2',
    meaning: '',
    examples: [
      ['(.contains "abc" "bc")', 'true'],
      ['(.startsWith "abc" "b" 1)', 'true'],
      ['(.endsWith "a" "")', 'true'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: '.substring .charAt',
    args: '2–3, 2',
    meaning: 'else `java_domain_error`, `invalid_java_string`',
    examples: [
      ['(.substring "hello" 1 3)', '"el"'],
      ['(.charAt "abc" 1)', '"b"'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: '.toUpperCase .toLowerCase .equalsIgnoreCase',
    args: '1, 1, 2',
    meaning: '',
    examples: [
      ['(.toUpperCase "a")', '"A"'],
      ['(.toLowerCase "A")', '"a"'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: 'LocalDate/parse',
    args: '1',
    meaning: 'ISO date; a date-time is cut to its date',
    examples: [['(str (LocalDate/parse "2024-02-28T10:00:00"))', '"2024-02-28"']],
  },
  {
    theme: 'Java-shaped members',
    names: 'LocalDate/of LocalDate/now',
    args: '3, 0',
    meaning: '`now` from the workflow clock, UTC',
    examples: [['(str (LocalDate/of 2024 1 2))', '"2024-01-02"']],
  },
  {
    theme: 'Java-shaped members',
    names: '.plusDays .minusDays .toEpochDay',
    args: '2, 2, 1',
    meaning: 'LocalDate',
    examples: [['(str (.plusDays (LocalDate/parse "2024-02-28") 2))', '"2024-03-01"']],
  },
  {
    theme: 'Java-shaped members',
    names: 'Instant/parse',
    args: '1',
    meaning: 'nanoseconds kept; no offset: UTC; a date: midnight',
    examples: [['(str (Instant/parse "2024-01-01T00:00:00+02:00"))', '"2023-12-31T22:00:00Z"']],
  },
  {
    theme: 'Java-shaped members',
    names: 'Instant/ofEpochMilli Instant/now',
    args: '1, 0',
    meaning: '',
    examples: [['(str (Instant/ofEpochMilli 1500))', '"1970-01-01T00:00:01.500Z"']],
  },
  {
    theme: 'Java-shaped members',
    names: '.toEpochMilli',
    args: '1',
    meaning: 'Instant',
    examples: [['(.toEpochMilli (Instant/parse "1970-01-01T00:00:01Z"))', '1000']],
  },
  {
    theme: 'Java-shaped members',
    names: '.isBefore .isAfter',
    args: '2',
    meaning: 'same class of LocalDate or Instant',
    examples: [
      ['(.isBefore (LocalDate/parse "2024-01-01") (LocalDate/parse "2024-01-02"))', 'true'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: 'Duration/between Duration/ofMillis',
    args: '2, 1',
    meaning: 'between two Instants',
    examples: [['(str (Duration/ofMillis 90001500))', '"PT25H1.5S"']],
  },
  {
    theme: 'Java-shaped members',
    names: '.toMillis .toDays',
    args: '1',
    meaning: 'Duration; cut toward zero',
    examples: [
      [
        '(.toDays (Duration/between (Instant/parse "2024-01-01") (Instant/parse "2024-01-03")))',
        '2',
      ],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: 'java.util.Date.',
    args: '0–1',
    meaning: 'now · milliseconds · text: ISO, or a spelled-out date such as `8 Jan 2024 10:00 GMT`',
    examples: [['(str (java.util.Date. 1000))', '"1970-01-01T00:00:01Z"']],
  },
  {
    theme: 'Java-shaped members',
    names: '.getTime .before .after',
    args: '1, 2, 2',
    meaning: 'Date',
    examples: [
      ['(.getTime (java.util.Date. 1000))', '1000'],
      ['(.before (java.util.Date. 1) (java.util.Date. 2))', 'true'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: 'System/currentTimeMillis',
    args: '0',
    meaning: 'the workflow clock, as `(now)`',
    examples: [],
  },
]);
