import { describe, expect, test } from 'vitest';
import {
  checkProgram,
  explainProblems,
  literalProblems,
  readProgram,
  type World,
} from '../../src/lisp.ts';
import { evaluate } from './support/evaluate.ts';

const SEARCH = {
  name: 'search',
  description: 'Searches.',
  schema: {
    type: 'object',
    properties: { query: { type: 'string' }, limit: { type: 'integer' } },
    required: ['query'],
    additionalProperties: false,
  },
};

const WORLD: World = { tools: [SEARCH], memory: [], asking: true };

/** The report of a program's problems. */
function report(source: string, world: World = WORLD): string {
  const read = readProgram(source);
  if (!read.ok) return `${read.problem.reason}: ${read.problem.message}`;
  return explainProblems(source, checkProgram(read.program, world).problems);
}

describe('the checks before a program runs', () => {
  test('report all problems at once, with carets, in source order', () => {
    const text = report(
      '(def xs [1 2])\n(def total 0)\n(reduce totl 0 xs)\n(tool/search {:limit 5})',
    );

    expect(text).toBe(
      [
        '2 problems were found before the program ran. Nothing was executed.',
        '',
        '1. unbound_var at line 3, column 9: `totl` is not defined. Did you mean `total`?',
        '   3 | (reduce totl 0 xs)',
        '     |         ^^^^',
        '2. invalid_tool_args at line 4, column 1: `search` needs `query`.',
        '   4 | (tool/search {:limit 5})',
        '     | ^^^^^^^^^^^^^^^^^^^^^^^^',
      ].join('\n'),
    );
  });

  test.each([
    ['(if 1 2 3 4)', '`if` takes (if test then else?), got 4 forms.'],
    ['(loop [] (inc (recur)))', '`recur` must be the last thing that its loop or function does.'],
    ['{:a 1 :a 2}', '`:a` appears twice in this map.'],
    ['(max)', '`max` takes at least 1 argument, got 0.'],
    ['(defn area [w h] (* w h)) (area 1)', '`area` takes 2 arguments (w h), got 1.'],
    ['(tool/serch {})', 'There is no tool `serch`. Did you mean `search`? Tools: search.'],
    ['(search {:query "a"})', '`search` is not defined. Did you mean `tool/search`?'],
    ['(serch {:query "a"})', '`serch` is not defined. Did you mean `tool/search`?'],
    ['(str/capitalise "a")', '`capitalise` is not in `str/`. Did you mean `str/capitalize`?'],
    [
      '(try 1)',
      'There are no exceptions. Test data first; wrap a tool call in `(attempt …)`; give up with `(fail …)`.',
    ],
    ['(http/get "x")', 'There is no namespace `http/`.'],
    ['(tool/search {:query "a" :size 1})', '`search` has no argument `size`.'],
    ['(data/rows)', '`data/rows` is data, not a function: write it without parentheses.'],
    ['(fn ([x] 1) ([x y] 2))', '`fn` takes one parameter vector'],
    ['#(map #(inc %) %)', '`#( )` cannot stand inside another'],
    ['(re-find #"(?=a)" "a")', 'This pattern does not compile'],
    ['(map inc)', 'There are no transducers. Give the collection as well.'],
    ['(range)', 'Sequences are finite.'],
  ])('%s: %s', (source, message) => {
    expect(report(source)).toContain(message);
  });

  test.each([
    ['[1 2', 'Unclosed `[` opened at line 1, column 1.'],
    ['\n)', 'Unexpected `)` at line 2, column 1: nothing is open here.'],
    ['{:a 1 :b}', 'Expected an even number of forms in the map at line 1, column 1, got 3.'],
    [':a/b', 'keywords have one plain name'],
    ['007', 'write `7`'],
    ['1/2', 'write `(/ 1 2)`'],
    ['0x1F', 'decimal'],
    ['1.', 'Write `1.0`'],
    ['.5', 'Write `0.5`'],
    ['1N', 'write `1`'],
    ['()', 'calls nothing'],
    ['@x', 'not part of the language'],
  ])('%s does not read: %s', (source, message) => {
    expect(report(source)).toContain(message);
  });

  test('list literal arguments, for the host to check against the schema', () => {
    const source = '(tool/search {:query "a" :limit "ten"})';
    const read = readProgram(source);
    if (!read.ok) throw new Error(read.problem.message);
    const checked = checkProgram(read.program, WORLD);
    const found = literalProblems(read.program, checked, [
      { literal: 1, path: [], message: 'to be an integer, got a string "ten".' },
    ]);

    expect(checked.literals.map(({ path, value }) => [path, value])).toEqual([
      [['query'], 'a'],
      [['limit'], 'ten'],
    ]);
    expect(explainProblems(source, found)).toContain(
      'invalid_tool_args at line 1, column 33: `search` expects `limit` to be an integer, got a string "ten".',
    );
  });

  test.each([
    '(ask "Who?")',
    '(map ask ["Who?"])',
    '(core/ask "Who?")',
    '(let [f ask] (f "Who?"))',
  ])('%s is refused where there is nobody to ask', (source) => {
    expect(report(source)).toBe(
      '0 problems were found before the program ran. Nothing was executed.\n',
    );
    expect(report(source, { ...WORLD, asking: false })).toContain(
      'There is nobody to ask: `ask` is not available here.',
    );
  });

  test('a bare name inside or may be unknown', () => {
    expect(evaluate('(or cache 5)')).toMatchObject({ printed: '5' });
    expect(report('(or (f) 5)')).toContain('`f` is not defined.');
  });

  test('functions may use names defined later; reading one before it has a value raises', () => {
    expect(evaluate('(defn a [] (b)) (defn b [] 1) (a)')).toMatchObject({ printed: '1' });
    expect(evaluate('(defn a [] (b)) (a) (defn b [] 1)')).toMatchObject({
      reason: 'unbound_var',
      message: expect.stringContaining(
        '`b` is defined in this program but has no value yet.',
      ) as string,
    });
  });

  test('warn of data that the context lacks, of hidden builtins and of lost definitions', () => {
    const read = readProgram('(def count 1) data/rowz (pmap (fn [x] (def y x)) [1])');
    if (!read.ok) throw new Error(read.problem.message);
    const { warnings } = checkProgram(read.program, { ...WORLD, dataKeys: ['rows'] });

    expect(warnings.map(({ message }) => message)).toEqual([
      'This definition hides the builtin `count`.',
      'The context has no `rowz`: `data/rowz` is nil. Did you mean `rows`?',
      '`y` is defined inside a parallel branch: the definition ends with the branch.',
    ]);
  });
});
