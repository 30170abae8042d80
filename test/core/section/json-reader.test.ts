import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readJson } from '../../../src/core/section/json-reader.ts';

function problem(code: string, line: number, column: number, said: string): object {
  const message = `line ${line}, column ${column}: ${said}`;
  return { kind: 'problem', problem: { code, message, line, column } };
}

describe('The JSON reader [row 13]', () => {
  test.each([
    {
      text: '',
      code: 'json_syntax',
      line: 1,
      column: 1,
      said: 'expected a value, got end of text',
    },
    { text: 'x', code: 'json_syntax', line: 1, column: 1, said: 'expected a value, got `x`' },
    { text: 'tru', code: 'json_syntax', line: 1, column: 1, said: 'expected a value, got `tru`' },
    {
      text: '{"a": 1,\n "b": tru, "long": "text that goes on"}',
      code: 'json_syntax',
      line: 2,
      column: 7,
      said: 'expected a value, got `tru, "long": "text t`',
    },
    {
      text: '{a: 1}',
      code: 'json_syntax',
      line: 1,
      column: 2,
      said: 'expected a key in double quotes, got `a: 1}`',
    },
    {
      text: "{'a': 1}",
      code: 'json_syntax',
      line: 1,
      column: 2,
      said: "expected a key in double quotes, got `'a': 1}`",
    },
    {
      text: '{"a": 1,}',
      code: 'json_syntax',
      line: 1,
      column: 9,
      said: 'expected a key in double quotes, got `}`',
    },
    { text: '{"a" 1}', code: 'json_syntax', line: 1, column: 6, said: 'expected ":", got `1}`' },
    {
      text: '{"a": 1 "b"',
      code: 'json_syntax',
      line: 1,
      column: 9,
      said: 'expected "," or "}", got `"b"`',
    },
    {
      text: '[1 2]',
      code: 'json_syntax',
      line: 1,
      column: 4,
      said: 'expected "," or "]", got `2]`',
    },
    { text: '[1,]', code: 'json_syntax', line: 1, column: 4, said: 'expected a value, got `]`' },
    {
      text: '[1',
      code: 'json_syntax',
      line: 1,
      column: 3,
      said: 'expected "," or "]", got end of text',
    },
    {
      text: '-',
      code: 'json_syntax',
      line: 1,
      column: 2,
      said: 'expected a digit, got end of text',
    },
    { text: '+1', code: 'json_syntax', line: 1, column: 1, said: 'expected a value, got `+1`' },
    {
      text: '"ab',
      code: 'json_syntax',
      line: 1,
      column: 4,
      said: 'expected a closing quote, got end of text',
    },
    {
      text: '"a\nb"',
      code: 'json_syntax',
      line: 1,
      column: 3,
      said: 'expected a control character escaped, got `\\nb"`',
    },
    {
      text: '"\\x"',
      code: 'json_syntax',
      line: 1,
      column: 2,
      said: 'expected an escape such as \\n or \\u00e9, got `\\x"`',
    },
    {
      text: '"\\u12g4"',
      code: 'json_syntax',
      line: 1,
      column: 2,
      said: 'expected an escape such as \\n or \\u00e9, got `\\u12g4"`',
    },
    {
      text: '{"a": 1}\n{"b": 2}',
      code: 'json_trailing',
      line: 2,
      column: 1,
      said: 'one value was read, but more text follows: `{"b": 2}`. Write nothing after it.',
    },
    {
      text: '01',
      code: 'json_trailing',
      line: 1,
      column: 2,
      said: 'one value was read, but more text follows: `1`. Write nothing after it.',
    },
    {
      text: '[9007199254740992]',
      code: 'json_number',
      line: 1,
      column: 2,
      said: '9007199254740992 is too large to be exact. Write it as a string.',
    },
    {
      text: '-9007199254740993',
      code: 'json_number',
      line: 1,
      column: 1,
      said: '-9007199254740993 is too large to be exact. Write it as a string.',
    },
    {
      text: '1e400',
      code: 'json_number',
      line: 1,
      column: 1,
      said: '1e400 is too large to be exact. Write it as a string.',
    },
  ])('$code in $text', ({ text, code, line, column, said }) => {
    expect(readJson(text)).toEqual(problem(code, line, column, said));
  });

  test.each([
    { title: '100 levels', text: '['.repeat(100) + ']'.repeat(100), isRead: true },
    { title: '101 levels', text: '['.repeat(101) + ']'.repeat(101), isRead: false },
    { title: '100,000 levels', text: '{"a":'.repeat(50_000) + '[', isRead: false },
  ])('reads at most 100 levels: $title', ({ text, isRead }) => {
    const reading = readJson(text);

    if (isRead) expect(reading.kind).toBe('value');
    else {
      expect(reading).toMatchObject({
        kind: 'problem',
        problem: {
          code: 'json_depth',
          message: expect.stringMatching(/: deeper than 100 levels$/),
        },
      });
    }
  });

  test('reads at most 256 KB', () => {
    const longest = JSON.stringify('é'.repeat(131_071));

    expect(readJson(longest).kind).toBe('value');
    expect(readJson(`${longest} `)).toEqual({
      kind: 'problem',
      problem: { code: 'json_size', message: 'longer than 256 KB' },
    });
  });

  test('lets no key reach a prototype, and the last of repeated keys win', () => {
    const reading = readJson('{"__proto__": {"x": 1}, "a": 1, "a": 2, "constructor": 3}');

    if (reading.kind !== 'value') throw new Error('unread');
    expect(Object.entries(reading.value as object)).toEqual([
      ['__proto__', { x: 1 }],
      ['a', 2],
      ['constructor', 3],
    ]);
    expect(Object.getPrototypeOf(reading.value)).toBe(Object.prototype);
  });

  test('reads what JSON.stringify writes, as JSON.parse does', () => {
    fc.assert(
      fc.property(
        fc.json({ stringUnit: 'binary' }),
        fc.constantFrom('', ' ', '\n\t\r'),
        (text, blank) => {
          const reading = readJson(blank + text + blank);
          // Integers that JSON.parse would change are refused on purpose.
          if (reading.kind === 'problem') expect(reading.problem.code).toBe('json_number');
          else expect(reading.value).toEqual(JSON.parse(text));
        },
      ),
    );
  });

  test('refuses what JSON.parse refuses, and never throws', () => {
    const pieces = fc.array(
      fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        'a',
        '1',
        '-',
        '.',
        'e',
        '\\',
        'u',
        '0',
        ' ',
        '\n',
        'true',
        'null',
      ),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(pieces, (parts) => {
        const text = parts.join('');
        let parsed: unknown;
        let isValid = true;
        try {
          parsed = JSON.parse(text);
        } catch {
          isValid = false;
        }
        const reading = readJson(text);
        if (reading.kind === 'value') expect(reading.value).toEqual(parsed);
        else expect(isValid && reading.problem.code !== 'json_number').toBe(false);
      }),
      { numRuns: 2000 },
    );
  });
});
