import { describe, expect, test } from 'vitest';
import { describeContext } from '../../../src/core/modes/context-text.ts';

describe('The context as text [row 32]', () => {
  test('is empty without keys', () => {
    expect(describeContext({})).toBe('');
  });

  test('text as it is, the rest as JSON', () => {
    expect(describeContext({ a: 'x\ny', b: [1, null] })).toBe(
      '# Context\n<data name="a">x\ny</data>\n<data name="b">[1,null]</data>',
    );
  });

  test('2,000 characters of a value', () => {
    expect(describeContext({ a: 'x'.repeat(12_345) })).toBe(
      `# Context\n<data name="a">${'x'.repeat(2000)}… (12,345 chars)</data>`,
    );
  });

  test('16,000 characters of all values', () => {
    const context = Object.fromEntries(
      Array.from({ length: 9 }, (_, i) => [`k${i}`, 'x'.repeat(1900)]),
    );

    const text = describeContext(context);

    expect(text.split('\n').slice(-1)).toEqual([
      `<data name="k8">${'x'.repeat(800)}… (1,900 chars)</data>`,
    ]);
  });
});
