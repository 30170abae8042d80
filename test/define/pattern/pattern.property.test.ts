/** The engine of schemas' patterns against V8's: random patterns, and those that libraries emit. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compilePattern, OutOfSteps } from '../../../src/define/pattern/pattern.ts';
import { extent } from '../../support/extent.ts';

const steps = (): { left: number } => ({ left: 2_000_000 });

/** Characters in which engines differ: pairs, halves of pairs, line ends, letters of two cases. */
const CHARACTERS = [
  'a',
  'b',
  'c',
  'A',
  '1',
  '-',
  '_',
  ' ',
  '\n',
  '\u2028',
  '\u0085',
  'é',
  'ſ',
  '😀',
  '\ud83d',
  '\ude00',
];

const texts = fc.array(fc.constantFrom(...CHARACTERS), { maxLength: 12 }).map((it) => it.join(''));

const atoms = fc.constantFrom(
  'a',
  'b',
  'c',
  '1',
  '-',
  '.',
  '\\d',
  '\\D',
  '\\w',
  '\\W',
  '\\s',
  '\\S',
  '\\b',
  '\\B',
  '^',
  '$',
  '[ab]',
  '[^ab]',
  '[a-c1]',
  '[^]',
  '[]',
  '[\\w-]',
  '[\\s\\S]',
  '[^\\d\\n]',
  '\\u{1f600}',
  '😀',
  '\\ud83d',
  '\\ude00',
  '[\\ud83d]',
  '[^😀]',
  '[a-\\u{10ffff}]',
  '\\p{L}',
  '\\P{L}',
  '\\p{Lu}',
  '[\\p{Nd}a]',
  '\\p{Script=Latin}',
  '\\x61',
  '\\cJ',
  '\\n',
  '\\0',
  '\\-',
  '[\\b]',
  '\\p{Emoji}',
  '\\ud83d\\ude00',
);

const quantifiers = fc.constantFrom(
  '',
  '',
  '',
  '*',
  '+',
  '?',
  '{2}',
  '{1,3}',
  '{0,2}',
  '{2,}',
  '*?',
  '+?',
  '{1,2}?',
);

/** `a` as a group without a number, with one, with a name; and what looks around. */
const groups = fc.constantFrom('(?:', '(?:', '(', '(?=', '(?!', '(?<=', '(?<!');

const { pattern: patterns } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
  pattern: fc
    .array(
      fc.array(tie('part'), { minLength: 0, maxLength: 4 }).map((it) => it.join('')),
      {
        minLength: 1,
        maxLength: 3,
      },
    )
    .map((it) => it.join('|')),
  part: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.tuple(atoms, quantifiers).map(([atom, quantifier]) => atom + quantifier),
    fc
      .tuple(groups, tie('pattern'), quantifiers, fc.constantFrom('', '', '', '\\1', '\\2'))
      .map(([open, inner, quantifier, back]) => {
        const isLook = open.length > 1 && open !== '(?:';
        return `${open}${inner})${isLook ? '' : quantifier}${back}`;
      }),
  ),
}));

function isValid(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}

function isInsidePair(text: string, place: number): boolean {
  return place > 0 && (text.codePointAt(place - 1) ?? 0) > 0xffff;
}

describe('patterns', () => {
  test('have the verdict of V8 on random texts', { timeout: 300_000 }, () => {
    let played = 0;
    fc.assert(
      fc.property(patterns, fc.array(texts, { minLength: 1, maxLength: 6 }), (pattern, all) => {
        fc.pre(isValid(pattern));
        const matches = compilePattern(pattern);
        const native = new RegExp(pattern, 'u');
        for (const text of all) {
          let verdict: boolean;
          try {
            verdict = matches(text, steps());
          } catch (error) {
            if (error instanceof OutOfSteps) continue;
            throw error;
          }
          played += 1;
          const place = native.exec(text)?.index;
          // V8 may begin inside a pair when it looks around, which the specification does not allow.
          if (verdict === (place !== undefined) || isInsidePair(text, place ?? 0)) continue;
          throw new Error(`${pattern} on ${JSON.stringify(text)}: ${String(verdict)}.`);
        }
      }),
      { numRuns: extent(10_000, 1_000) },
    );
    expect(played).toBeGreaterThan(500);
  });
});
