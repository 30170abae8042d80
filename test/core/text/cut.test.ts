import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { utf8Length } from '../../../src/core/base/json.ts';
import { clip, cut, cutWithSizes, firstBytes } from '../../../src/core/text/cut.ts';

describe('Cutting by bytes [row 21]', () => {
  test.each([
    { text: '', max: 0, result: '' },
    { text: 'abc', max: 3, result: 'abc' },
    { text: 'abcd', max: 3, result: 'abc\n[cut: 3 of 4 bytes shown]' },
    { text: 'aé', max: 2, result: 'a\n[cut: 1 of 3 bytes shown]' },
    { text: '€€', max: 5, result: '€\n[cut: 3 of 6 bytes shown]' },
    { text: '😀😀', max: 7, result: '😀\n[cut: 4 of 8 bytes shown]' },
    { text: '😀', max: 3, result: '\n[cut: 0 of 4 bytes shown]' },
    { text: '\ud800a', max: 3, result: '\ud800\n[cut: 3 of 4 bytes shown]' },
  ])('$text to $max', ({ text, max, result }) => {
    expect(cut(text, max)).toBe(result);
  });

  test('shows as many whole code points as fit', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, max) => {
        const head = firstBytes(text, max);
        const rest = text.slice(head.length);
        const next = String.fromCodePoint(rest.codePointAt(0) ?? 0);

        expect(text.startsWith(head)).toBe(true);
        expect(utf8Length(head)).toBeLessThanOrEqual(max);
        if (rest !== '') expect(utf8Length(head) + utf8Length(next)).toBeGreaterThan(max);
        expect(cutWithSizes(text, max).cut).toEqual(
          rest === '' ? undefined : { shown: utf8Length(head), total: utf8Length(text) },
        );
      }),
    );
  });

  test('clipping to characters splits no pair', () => {
    expect([clip('abc', 3), clip('abcd', 3), clip('ab😀', 3), clip('a😀b', 3)]).toEqual([
      'abc',
      'abc',
      'ab',
      'a😀',
    ]);
  });
});
