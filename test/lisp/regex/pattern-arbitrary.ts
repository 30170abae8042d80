import fc from 'fast-check';

/**
 * Patterns and texts on which this engine, re2js and Java agree in syntax.
 *
 * Left out, because the syntaxes or meanings differ by design: `$` and `(?m)` on texts with line
 * breaks (RE2 has no final break), `(?i)` beyond ASCII, `\Z`, `x`, classes inside classes.
 */
const characters = fc.constantFrom('a', 'b', 'c', 'A', '1', ' ', '-', 'é', '😀', 'ß');

const atoms = fc.oneof(
  { weight: 6, arbitrary: characters },
  {
    weight: 4,
    arbitrary: fc.constantFrom('.', '\\d', '\\w', '\\s', '\\D', '\\W', '\\S', '\\p{L}', '\\P{Lu}'),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom('[ab]', '[^a]', '[a-c1]', '[^\\w]', '[é-ü]', '[\\d-]', '[^😀]'),
  },
  { weight: 1, arbitrary: fc.constantFrom('^', '$', '\\b', '\\B', '\\A', '\\z') },
  { weight: 1, arbitrary: fc.constantFrom('(?i:aB)', '(?s:.)', '\\x61', '\\x{1F600}', '\\Qa.\\E') },
);

const quantifiers = fc.constantFrom(
  '',
  '',
  '',
  '*',
  '+',
  '?',
  '*?',
  '+?',
  '??',
  '{2}',
  '{1,3}',
  '{2,}',
  '{0,2}?',
);

/** Well-formed patterns, nested up to three groups deep. */
export const patterns: fc.Arbitrary<string> = fc.letrec<{ pattern: string; item: string }>(
  (tie) => ({
    pattern: fc
      .array(fc.array(fc.tuple(tie('item'), quantifiers), { maxLength: 3 }), {
        minLength: 1,
        maxLength: 3,
      })
      .map((choices) =>
        choices.map((items) => items.map((pair) => pair.join('')).join('')).join('|'),
      ),
    item: fc.oneof(
      { maxDepth: 2, withCrossShrink: true },
      { weight: 4, arbitrary: atoms },
      { weight: 1, arbitrary: tie('pattern').map((inner) => `(${inner})`) },
      { weight: 1, arbitrary: tie('pattern').map((inner) => `(?:${inner})`) },
    ),
  }),
).pattern;

/** Short texts over the same characters, without line breaks. */
export const texts: fc.Arbitrary<string> = fc
  .array(characters, { maxLength: 14 })
  .map((parts) => parts.join(''));
