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
    examples: [
      ['(Math/abs -7)', '7'],
      ['(Math/abs -1.5)', '1.5'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: 'Math/max Math/min',
    args: '2',
    meaning: 'both integers or both floats, else `java_type_error`',
    examples: [
      ['(Math/max 1 2)', '2'],
      ['(Math/min 1.5 2.5)', '1.5'],
      ['(Math/max 1.5 2.5)', '2.5'],
      ['(Math/min 3 2)', '2'],
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
      ['(Math/ceil -0.5)', '-0.0'],
      ['(Math/floor 3)', '3.0'],
      ['(Math/sqrt -1.0)', '##NaN'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: 'Math/pow',
    args: '2',
    meaning: 'float',
    examples: [
      ['(Math/pow 2 3)', '8.0'],
      ['(Math/pow 4 0.5)', '2.0'],
    ],
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
      ['(Integer/parseInt "-101" 2)', '-5'],
      ['(Long/parseLong "-9000000000")', '-9000000000'],
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
      ['(Double/parseDouble "1e3")', '1000.0'],
      ['(Float/parseFloat " -0.5 ")', '-0.5'],
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
    meaning: 'constants: `##Inf`, `##-Inf`, `##NaN`',
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
      ['(.length "")', '0'],
      ['(.isEmpty " ")', 'false'],
      ['(.trim "\\ta b\\n")', '"a b"'],
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
      ['(.indexOf "abc" "z")', '-1'],
      ['(.lastIndexOf "hello" "l")', '3'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: '.contains .startsWith .endsWith',
    args: '2, 2–3, 2',
    meaning: 'whether text holds, begins with (from an index), or ends in another',
    examples: [
      ['(.contains "abc" "bc")', 'true'],
      ['(.startsWith "abc" "b" 1)', 'true'],
      ['(.endsWith "a" "")', 'true'],
      ['(.contains "abc" "")', 'true'],
      ['(.startsWith "abc" "bc")', 'false'],
      ['(.endsWith "abc" "bc")', 'true'],
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
      ['(.substring "hello" 2)', '"llo"'],
      ['(map #(.charAt "abc" %) [0 2])', '["a" "c"]'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: '.toUpperCase .toLowerCase .equalsIgnoreCase',
    args: '1, 1, 2',
    meaning: 'case of text, and equality without regard to it',
    examples: [
      ['(.toUpperCase "a")', '"A"'],
      ['(.toLowerCase "A")', '"a"'],
      ['(.toUpperCase "straße")', '"STRASSE"'],
      ['(.toLowerCase "ÀB")', '"àb"'],
      ['(.equalsIgnoreCase "Abc" "aBC")', 'true'],
      ['(.equalsIgnoreCase "a" "b")', 'false'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: 'LocalDate/parse',
    args: '1',
    meaning: 'ISO date; a date-time is cut to its date',
    examples: [
      ['(str (LocalDate/parse "2024-02-28T10:00:00"))', '"2024-02-28"'],
      ['(.toEpochDay (LocalDate/parse "1970-01-02"))', '1'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: 'LocalDate/of LocalDate/now',
    args: '3, 0',
    meaning: '`now` from the workflow clock, UTC',
    examples: [
      ['(str (LocalDate/of 2024 1 2))', '"2024-01-02"'],
      ['(= (LocalDate/of 2024 2 29) (LocalDate/parse "2024-02-29"))', 'true'],
      ['(.isAfter (LocalDate/now) (LocalDate/of 2020 1 1))', 'true'],
      ['(= (LocalDate/now) (LocalDate/now))', 'true'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: '.plusDays .minusDays .toEpochDay',
    args: '2, 2, 1',
    meaning: 'LocalDate',
    examples: [
      ['(str (.plusDays (LocalDate/parse "2024-02-28") 2))', '"2024-03-01"'],
      ['(str (.plusDays (LocalDate/of 2023 12 31) 1))', '"2024-01-01"'],
      ['(str (.minusDays (LocalDate/of 2024 3 1) 1))', '"2024-02-29"'],
      ['(str (.minusDays (LocalDate/of 2024 1 1) -31))', '"2024-02-01"'],
      ['(.toEpochDay (LocalDate/of 1969 12 31))', '-1'],
      ['(.toEpochDay (LocalDate/of 2000 3 1))', '11017'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: 'Instant/parse',
    args: '1',
    meaning: 'nanoseconds kept; no offset: UTC; a date: midnight',
    examples: [
      ['(str (Instant/parse "2024-01-01T00:00:00+02:00"))', '"2023-12-31T22:00:00Z"'],
      ['(str (Instant/parse "2024-01-01"))', '"2024-01-01T00:00:00Z"'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: 'Instant/ofEpochMilli Instant/now',
    args: '1, 0',
    meaning: 'an Instant from milliseconds · the workflow clock',
    examples: [
      ['(str (Instant/ofEpochMilli 1500))', '"1970-01-01T00:00:01.500Z"'],
      ['(Instant/ofEpochMilli 0)', '#instant[1970-01-01T00:00:00Z]'],
      ['(int? (.toEpochMilli (Instant/now)))', 'true'],
      ['(= (Instant/now) (Instant/now))', 'true'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: '.toEpochMilli',
    args: '1',
    meaning: 'Instant',
    examples: [
      ['(.toEpochMilli (Instant/parse "1970-01-01T00:00:01Z"))', '1000'],
      ['(.toEpochMilli (Instant/ofEpochMilli -1))', '-1'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: '.isBefore .isAfter',
    args: '2',
    meaning: 'same class of LocalDate or Instant',
    examples: [
      ['(.isBefore (LocalDate/parse "2024-01-01") (LocalDate/parse "2024-01-02"))', 'true'],
      ['(.isBefore (Instant/ofEpochMilli 2) (Instant/ofEpochMilli 1))', 'false'],
      ['(.isAfter (Instant/ofEpochMilli 2) (Instant/ofEpochMilli 1))', 'true'],
      ['(.isAfter (LocalDate/of 2024 1 1) (LocalDate/of 2024 1 1))', 'false'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: 'Duration/between Duration/ofMillis',
    args: '2, 1',
    meaning: 'between two Instants',
    examples: [
      ['(str (Duration/ofMillis 90001500))', '"PT25H1.5S"'],
      [
        '(str (Duration/between (Instant/ofEpochMilli 0) (Instant/ofEpochMilli 61000)))',
        '"PT1M1S"',
      ],
      [
        '(Duration/between (Instant/ofEpochMilli 1) (Instant/ofEpochMilli 0))',
        '#duration[PT-0.001S]',
      ],
      ['(.toMillis (Duration/ofMillis 1500))', '1500'],
    ],
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
      [
        '(.toMillis (Duration/between (Instant/ofEpochMilli 500) (Instant/ofEpochMilli 0)))',
        '-500',
      ],
      ['(.toMillis (Duration/ofMillis -5))', '-5'],
      ['(.toDays (Duration/ofMillis -90000000))', '-1'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: 'java.util.Date.',
    args: '0–1',
    meaning: 'now · milliseconds · text: ISO, or a spelled-out date such as `8 Jan 2024 10:00 GMT`',
    examples: [
      ['(str (java.util.Date. 1000))', '"1970-01-01T00:00:01Z"'],
      ['(.getTime (java.util.Date. "1 Feb 2024 10:00:00 UTC"))', '1706781600000'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: '.getTime .before .after',
    args: '1, 2, 2',
    meaning: 'Date',
    examples: [
      ['(.getTime (java.util.Date. 1000))', '1000'],
      ['(.before (java.util.Date. 1) (java.util.Date. 2))', 'true'],
      ['(.getTime (java.util.Date. "1970-01-01T00:00:01Z"))', '1000'],
      ['(.before (java.util.Date. 2) (java.util.Date. 1))', 'false'],
      ['(.after (java.util.Date. 2) (java.util.Date. 1))', 'true'],
      ['(.after (java.util.Date. 1) (java.util.Date. 1))', 'false'],
    ],
  },
  {
    theme: 'Java-shaped members',
    names: 'System/currentTimeMillis',
    args: '0',
    meaning: 'the workflow clock, as `(now)`',
    examples: [
      ['(= (System/currentTimeMillis) (now))', 'true'],
      ['(int? (System/currentTimeMillis))', 'true'],
    ],
  },
]);
