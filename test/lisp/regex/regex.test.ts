import { describe, expect, test } from 'vitest';
import { compileRegex, matchRegex } from '../../../src/lisp/regex/regex.ts';
import type { Regex } from '../../../src/lisp/regex/program.ts';

function regexOf(pattern: string): Regex {
  const result = compileRegex(pattern);
  if (result.kind === 'bad_regex') throw new Error(`${pattern}: ${result.message}`);
  return result.regex;
}

/** The texts of the groups, the whole match first; `null` without a match. */
function find(pattern: string, text: string, from = 0): (string | null)[] | null {
  const { groups } = matchRegex(regexOf(pattern), text, from, 'find');
  return groups?.map((span) => span && text.slice(span.start, span.end)) ?? null;
}

/** Where all matches begin and end. */
function spans(pattern: string, text: string): [number, number][] {
  const regex = regexOf(pattern);
  const found: [number, number][] = [];
  for (let from = 0; from <= text.length;) {
    const whole = matchRegex(regex, text, from, 'find').groups?.[0];
    if (whole === undefined || whole === null) break;
    found.push([whole.start, whole.end]);
    from = whole.end > whole.start ? whole.end : whole.end + 1;
  }
  return found;
}

describe('matching', () => {
  test.for<readonly [pattern: string, text: string, expected: (string | null)[] | null]>([
    ['b.', 'abcd', ['bc']],
    ['a|ab', 'ab', ['a']],
    ['(a|ab)(c|bcd)', 'abcd', ['abcd', 'a', 'bcd']],
    ['(a)|b', 'b', ['b', null]],
    ['(a)(b)?', 'a', ['a', 'a', null]],
    ['(?:(a)|b)*', 'ab', ['ab', 'a']],
    ['a*?', 'aaa', ['']],
    ['a+?', 'aaa', ['a']],
    ['a??b', 'ab', ['ab']],
    ['<.+?>', '<a><b>', ['<a>']],
    ['<.+>', '<a><b>', ['<a><b>']],
    ['a{2,3}', 'aaaa', ['aaa']],
    ['a{2,3}?', 'aaaa', ['aa']],
    ['a{2}', 'a', null],
    ['(?<year>\\d{4})-(?<month>\\d\\d)', 'on 2024-05-06', ['2024-05', '2024', '05']],
    ['[^a-c]+', 'abcxyzabc', ['xyz']],
    ['[]a]+', 'x]a]', [']a]']],
    ['[^]a]+', ']xa', ['x']],
    ['[a-]+', 'x-a', ['-a']],
    ['[\\d-z]+', 'a5-z', ['5-z']],
    ['[a^]+', '^a', ['^a']],
    ['[\\Q^]-\\E]+', 'a-]^b', ['-]^']],
    ['\\Qa.b\\E+', 'a.bbb', ['a.bbb']],
    ['\\Qa.b', 'xa.b', ['a.b']],
    ['\\\\Q', 'a\\Q', ['\\Q']],
    ['a}b', 'a}b', ['a}b']],
    ['\\x41\\u0042\\x{43}', 'ABC', ['ABC']],
    ['\\uD83D\\uDE00', 'a😀', ['😀']],
    ['^.$', '😀', ['😀']],
    ['[😀-😂]', '😁', ['😁']],
    ['😀+', '😀😀', ['😀😀']],
    ['\\p{L}+', 'héllo wörld', ['héllo']],
    ['\\p{Lu}', 'aÄ', ['Ä']],
    ['\\P{L}+', 'ab12', ['12']],
    ['[\\p{Ll}\\d]+', 'Aé1B', ['é1']],
    ['\\p{Punct}+', 'a!?b', ['!?']],
    ['\\pL+', '1ab', ['ab']],
    ['\\w+', 'é_a1', ['_a1']],
    ['\\s+', 'a\u00a0 \u000b\tb', [' \u000b\t']],
    ['\\bfoo\\b', 'afoo foo', ['foo']],
    ['\\Boo\\b', 'foo', ['oo']],
    ['(?i)straSSE', 'STRASSE', ['STRASSE']],
    ['(?i)É', 'é', null],
    ['(?i)[^a]', 'A', null],
    ['(?i)[a-c]+', 'xAbC', ['AbC']],
    ['a(?i)b|c', 'C', ['C']],
    ['(a(?i)b)c', 'aBC', null],
    ['(?i:a)b', 'Ab', ['Ab']],
    ['(?i)a(?-i)b', 'Ab', ['Ab']],
    ['(?i)a(?-i)b', 'AB', null],
    ['(?x) a b # note\n c', 'abc', ['abc']],
    ['(?x)a\\ b [ c d ]+', 'a bcd', ['a bcd']],
    ['(?x)a +', 'aaa', ['aaa']],
    ['a.c', 'a\nc', null],
    ['a.c', 'a\u2028c', null],
    ['(?s)a.c', 'a\nc', ['a\nc']],
    ['(a*)*', 'b', ['', '']],
    ['(a*)+', 'b', ['', '']],
    ['(|a)*', 'aa', ['', '']],
    ['(|a)+', 'aa', ['', '']],
    ['(a|b)*?c', 'abc', ['abc', 'b']],
    ['', 'abc', ['']],
    ['()', 'abc', ['', '']],
    ['x{0}', 'x', ['']],
  ])('finds %s in %j', ([pattern, text, expected]) => {
    expect(find(pattern, text)).toEqual(expected);
  });

  test.for<readonly [pattern: string, text: string, expected: [number, number][]]>([
    [
      '',
      'ab',
      [
        [0, 0],
        [1, 1],
        [2, 2],
      ],
    ],
    [
      '',
      'a😀',
      [
        [0, 0],
        [1, 1],
        [3, 3],
      ],
    ],
    [
      'a*',
      'baa',
      [
        [0, 0],
        [1, 3],
        [3, 3],
      ],
    ],
    [
      '$',
      'a\n',
      [
        [1, 1],
        [2, 2],
      ],
    ],
    [
      '$',
      'a\r\n',
      [
        [1, 1],
        [3, 3],
      ],
    ],
    ['$', 'a\nb', [[3, 3]]],
    [
      '\\Z',
      'a\u2028',
      [
        [1, 1],
        [2, 2],
      ],
    ],
    ['\\z', 'a\n', [[2, 2]]],
    [
      '(?m)^',
      'a\nb\n',
      [
        [0, 0],
        [2, 2],
      ],
    ],
    [
      '(?m)^',
      'a\r\nb',
      [
        [0, 0],
        [3, 3],
      ],
    ],
    ['(?m)^', '', []],
    ['^', '', [[0, 0]]],
    [
      '(?m)$',
      'a\r\nb',
      [
        [1, 1],
        [4, 4],
      ],
    ],
    [
      '(?m)^a+$',
      'aa\nb\na',
      [
        [0, 2],
        [5, 6],
      ],
    ],
    ['\\A.', 'ab', [[0, 1]]],
    [
      '\\b',
      'ab c',
      [
        [0, 0],
        [2, 2],
        [3, 3],
        [4, 4],
      ],
    ],
    ['\\B', 'ab', [[1, 1]]],
    [
      'fox',
      'fox foxfox',
      [
        [0, 3],
        [4, 7],
        [7, 10],
      ],
    ],
    [
      '\\d+',
      'a12b345',
      [
        [1, 3],
        [4, 7],
      ],
    ],
  ])('takes the matches of %s in %j in turn', ([pattern, text, expected]) => {
    expect(spans(pattern, text)).toEqual(expected);
  });

  test('begins at the place that is asked for, with the text before it in sight', () => {
    expect(find('a', 'aba', 1)).toEqual(['a']);
    expect(find('^a', 'aa', 1)).toBeNull();
    expect(find('\\ba', 'aa', 1)).toBeNull();
    expect(find('a', 'a', 5)).toBeNull();
    expect(find('.', '😀', 1)).toBeNull();
  });

  test('demands the whole text in full mode', () => {
    const full = (pattern: string, text: string): boolean =>
      matchRegex(regexOf(pattern), text, 0, 'full').groups !== null;

    expect(full('a|ab', 'ab')).toBe(true);
    expect(full('a*?', 'aaa')).toBe(true);
    expect(full('\\d+', 'a1')).toBe(false);
    expect(full('a$', 'a\n')).toBe(false);
    expect(full('abc', 'abc')).toBe(true);
    expect(full('abc', 'abcd')).toBe(false);
  });

  test('names groups by number', () => {
    expect(regexOf('(a)(?<b>b)(?:c)(d)')).toMatchObject({
      groupCount: 3,
      groupNames: [null, null, 'b', null],
    });
  });
});

describe('hostile patterns', () => {
  const long = 'a'.repeat(200_000);

  test.for<readonly [pattern: string, text: string]>([
    ['(a+)+$', `${long}b`],
    ['(a|a)*b', long],
    ['(a*)*b', long],
    ['(.*)(.*)(.*)(.*)x', long],
    ['(a?){30}a{30}b', long.slice(0, 5000)],
    ['(?:a+b?)+c', long],
    ['(x+x+)+y', long.replaceAll('a', 'x')],
  ])('fails %s in linear time', ([pattern, text]) => {
    const regex = regexOf(pattern);

    const result = matchRegex(regex, text, 0, 'find');

    expect(result.groups).toBeNull();
    const size = regex.code.length / 4;
    expect(result.steps).toBeLessThan(4 * size * text.length);
  });

  test('gives up after the steps that it may take', () => {
    const result = matchRegex(regexOf('(.*){900}'), 'a'.repeat(1_000_000), 0, 'find', 2_000_000);

    expect(result).toMatchObject({ groups: null, exhausted: true });
    expect(result.steps).toBeLessThan(2_100_000);
  });
});
