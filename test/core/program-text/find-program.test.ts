import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findProgram,
  hasProgramBlock,
  programBlock,
  programIn,
  cleanProgram,
} from '../../../src/core/program-text/find-program.ts';
import { cpuMsOf } from '../../support/cpu-time.ts';

const fence = (tag: string, content: string): string => `\`\`\`${tag}\n${content}\n\`\`\``;

/** What a reply comes to: a source, `none`, or how many programs. */
function outcome(reply: string): string | number {
  const found = findProgram(reply);
  if (found.kind === 'program') return found.source;
  return found.kind === 'none' ? 'none' : found.count;
}

describe('Finding the program of a reply [sub 11]', () => {
  test.each<readonly [name: string, reply: string, expected: string | number]>([
    ['a tagged block', fence('clojure', '(+ 1 2)'), '(+ 1 2)'],
    ['tagged lisp', fence('lisp', '(+ 1 2)'), '(+ 1 2)'],
    ['a tag in capitals', fence('Clojure', '(+ 1 2)'), '(+ 1 2)'],
    ['a blank before the tag', fence(' clojure', '(a)'), '(a)'],
    ['words behind the tag', fence('clojure title=x', '(a)'), '(a)'],
    ['longer fences', '````clojure\n(a)\n````', '(a)'],
    ['fences with margins', '  ```clojure\n  (a)\n  ```', '(a)'],
    ['several forms', fence('clojure', '(def a 1)\n(return a)'), '(def a 1)\n(return a)'],
    ['a form that is no list', fence('clojure', 'data/x'), 'data/x'],
    ['a comment first', fence('clojure', '; look\n(a)'), '; look\n(a)'],
    ['prose around', `I look first.\n${fence('clojure', '(a)')}\nThen I answer.`, '(a)'],
    ['an unclosed fence', '```clojure\n(a)\n(b)', '(a)\n(b)'],
    ['an XML closer of a fence', '```clojure\n(a)\n</clojure>\nDone.', '(a)'],
    ['the other XML closer', '```lisp\n(a)\n</lisp>', '(a)'],
    ['a blank tagged block alone', fence('clojure', '  '), 'none'],
    ['a blank one before one', `${fence('clojure', '')}\n${fence('clojure', '(a)')}`, '(a)'],
    ['two tagged blocks', `${fence('clojure', '(a)')}\n${fence('clojure', '(b)')}`, 2],
    ['two with both tags', `${fence('clojure', '(a)')}\n${fence('lisp', '(b)')}`, 2],
    ['three', [1, 2, 3].map((n) => fence('lisp', `(f ${n})`)).join('\n'), 3],
    ['a tagged one beside JSON', `${fence('json', '{"a": 1}')}\n${fence('clojure', '(a)')}`, '(a)'],
    [
      'a tagged one beside an untagged list',
      `${fence('', '(x)')}\n${fence('clojure', '(a)')}`,
      '(a)',
    ],
    ['an untagged block', fence('', '(a)'), '(a)'],
    ['a block of another tag', fence('scheme', '(a)'), '(a)'],
    ['an untagged block beside output', `${fence('', '(a)')}\n${fence('', '42')}`, '(a)'],
    ['two untagged lists', `${fence('', '(a)')}\n${fence('clj', '(b)')}`, 2],
    ['an untagged block of prose', fence('', 'hello'), 'none'],
    ['a block of JSON', fence('json', '{"a": 1}'), 'none'],
    ['tags', '<clojure>(a)</clojure>', '(a)'],
    ['tags of lisp over lines', 'So:\n<lisp>\n(a)\n</lisp>', '(a)'],
    ['two pairs of tags', '<lisp>(a)</lisp> <clojure>(b)</clojure>', 2],
    ['a tag that never closes', '<clojure>(a)', 'none'],
    ['a tag that another closes', '<clojure>(a)</lisp>', 'none'],
    ['a block before tags', `<lisp>(x)</lisp>\n${fence('clojure', '(a)')}`, '(a)'],
    ['the whole reply', '(return 1)', '(return 1)'],
    ['the whole reply behind blanks', '\n  (def a 1)\n(return a)\n', '(def a 1)\n(return a)'],
    ['prose only', 'I think that the answer is 42.', 'none'],
    ['prose with a list in it', 'Call (a) for that.', 'none'],
    ['an empty reply', '', 'none'],
    ['back-ticks in a line', 'Use ```(a)``` for that.', 'none'],
    ['back-ticks in a string', fence('clojure', '(str "```" 1)'), '(str "```" 1)'],
    ['back-ticks behind text in a line', fence('clojure', '(a) ; ``` here'), '(a) ; ``` here'],
    ['a byte order mark', '\uFEFF(a)', '(a)'],
    ['CR LF', '```clojure\r\n(a)\r\n(b)\r\n```\r\n', '(a)\n(b)'],
    ['curly quotes', fence('clojure', '(str “a” ‘b)'), '(str "a" \'b)'],
  ])('%s', (_name, reply, expected) => {
    expect(outcome(reply)).toBe(expected);
  });

  test('tells what stands around it, and whether it is whole', () => {
    expect(findProgram(`I look.\n\n${fence('clojure', '(a)')}\nThen more.`)).toEqual({
      kind: 'program',
      source: '(a)',
      around: 'I look.\n\nThen more.',
      isClosed: true,
    });
    expect(findProgram('Well:\n```clojure\n(a')).toEqual({
      kind: 'program',
      source: '(a',
      around: 'Well:',
      isClosed: false,
    });
  });

  test('is total, and finds again what a transcript keeps', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const found = findProgram(text);
        expect(['program', 'none', 'several']).toContain(found.kind);
      }),
    );
    fc.assert(
      fc.property(fc.stringMatching(/^\([a-z "0-9]*\)$/), (source) => {
        const found = findProgram(programBlock(cleanProgram(source)));
        expect(found).toMatchObject({ kind: 'program', source: cleanProgram(source) });
      }),
    );
  });

  test('takes time in the length alone', () => {
    const ms = cpuMsOf(() => {
      for (const piece of ['```\n', '<lisp>', '“', '"\\', '(', '```clojure\n(a)\n```\n']) {
        findProgram(piece.repeat(50_000));
      }
    });

    expect(ms).toBeLessThan(2_000);
  });
});

describe('A program by itself', () => {
  test.each<readonly [text: string, expected: unknown]>([
    ['data/x', { kind: 'program', source: 'data/x', around: '', isClosed: false }],
    [fence('clojure', '(a)'), { kind: 'program', source: '(a)', around: '', isClosed: true }],
    ['  ', { kind: 'none' }],
    [`${fence('lisp', '(a)')}\n${fence('lisp', '(b)')}`, { kind: 'several', count: 2 }],
  ])('%j', (text, expected) => {
    expect(programIn(text)).toEqual(expected);
  });

  test('a tagged block is seen in an answer', () => {
    expect(hasProgramBlock(`So:\n${fence('clojure', '(a)')}`)).toBe(true);
    expect(hasProgramBlock(fence('json', '{}'))).toBe(false);
    expect(hasProgramBlock('(a)')).toBe(false);
  });
});

describe('Cleaning a program [sub 11]', () => {
  test.each<readonly [source: string, expected: string]>([
    ['(a\u200B b\u00ADc\uFEFF)', '(a bc)'],
    ['(a\u00A0b\u202Fc)', '(a b c)'],
    ['(quote ’a)', "(quote 'a)"],
    ['(str “one” ”two“)', '(str "one" "two")'],
    ['(str “one" 2)', '(str "one" 2)'],
    ['(str “it’s \\"so\\"”)', '(str "it’s \\"so\\"")'],
    ['(str "“as it is” \u00A0\u200B’")', '(str "“as it is” \u00A0\u200B’")'],
    ['(str \\“ 1)', '(str \\“ 1)'],
    ['(str \\" “a”)', '(str \\" "a")'],
    ['; don’t “quote\n(a ’b)', "; don’t “quote\n(a 'b)"],
    ['(str “never closed)', '(str "never closed)'],
    ['(str "open ’', '(str "open ’'],
    ['a\r\nb\rc', 'a\nb\nc'],
  ])('%j', (source, expected) => {
    expect(cleanProgram(source)).toBe(expected);
  });
});
