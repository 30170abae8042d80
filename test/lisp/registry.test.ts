import { describe, expect, test } from 'vitest';
import { allBuiltins, DOC_ROWS, findBuiltin } from '../../src/lisp/builtins/registry.ts';
import { evaluate } from './support/evaluate.ts';

/** Examples whose documented result also tells of the note that they write. */
const NOTED: ReadonlySet<string> = new Set(['println', 'prn']);

describe('the registry of builtins', () => {
  const names = DOC_ROWS.filter((row) => row.args !== '–').flatMap((row) => row.names.split(' '));

  test('has work for every documented name', () => {
    expect(names.filter((name) => findBuiltin(name) === undefined)).toEqual([]);
  });

  test('gives every builtin a meaning or an example, and an arity', () => {
    const bare = allBuiltins().filter(
      ({ doc, examples, min, max }) => (doc === '' && examples.length === 0) || min > max,
    );

    expect(bare.map(({ name }) => name)).toEqual([]);
  });

  const examples = DOC_ROWS.flatMap((row) => row.examples);

  test.each(examples)('%s is %s', (source, value) => {
    const result = evaluate(source);
    const forced = evaluate(source, { forced: true });

    expect(result).toMatchObject({ kind: 'value', printed: value });
    expect(forced).toEqual(result);
  });

  test('writes notes for println and prn', () => {
    expect(evaluate('(println "a" [1 "x"])')).toMatchObject({ notes: ['a [1 "x"]'] });
    expect(evaluate('(prn "a")')).toMatchObject({ notes: ['"a"'] });
    expect([...NOTED].every((name) => findBuiltin(name) !== undefined)).toBe(true);
  });
});
