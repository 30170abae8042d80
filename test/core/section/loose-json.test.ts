import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readJson } from '../../../src/core/section/json-reader.ts';
import { readLoosely } from '../../../src/core/section/loose-json.ts';

describe('JSON as models write it', () => {
  test.each([
    { name: 'a comma before a bracket', text: '{"a": [1, 2, ], }', value: { a: [1, 2] } },
    { name: 'a line break in a string', text: '{"a": "b\nc\r\n\td"}', value: { a: 'b\nc\r\n\td' } },
    { name: 'both', text: '["a,\n]",]', value: ['a,\n]'] },
  ])('is read with $name', ({ text, value }) => {
    expect(readLoosely(text)).toEqual({ kind: 'value', value });
  });

  test('that is strict is read as it is', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom('', ' ', '\n'), (text, blank) => {
        expect(readLoosely(`${blank}${text}${blank}`)).toEqual(readJson(text));
      }),
    );
  });

  test('is read whatever strings hold', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('\n', '\t', '\r', ',', ']', '"', '\\', 'a') })),
        (texts) => {
          const raw = JSON.stringify(texts).replaceAll(
            /\\([nrt])/g,
            (escape, letter: string) => ({ n: '\n', r: '\r', t: '\t' })[letter] ?? escape,
          );
          const isChanged = JSON.stringify(texts).includes('\\\\');
          if (!isChanged) expect(readLoosely(raw)).toEqual({ kind: 'value', value: texts });
        },
      ),
    );
  });

  test.each(["{'a': 1}", '{a: 1}', '{"a": 1', '{"a" 1}', '"a\u0000b"', '[1,,2]'])(
    'that has several readings has the problem of strict JSON: %j',
    (text) => {
      expect(readLoosely(text)).toEqual(readJson(text));
      expect(readLoosely(text).kind).toBe('problem');
    },
  );
});
