import { describe, expect, test } from 'vitest';
import { DOC_ROWS, findBuiltin } from '../../src/lisp/builtins/registry.ts';
import { allBuiltins } from './support/builtins.ts';
import { evaluate } from './support/evaluate.ts';
import { runProgram } from './support/host.ts';

/** In November 2023. */
const NOW_MS = 1_700_000_000_000;

/** Examples whose documented result also tells of the note that they write. */
const NOTED: ReadonlySet<string> = new Set(['println', 'prn']);

describe('the registry of builtins', () => {
  const names = DOC_ROWS.filter((row) => row.args !== '–').flatMap((row) => row.names.split(' '));

  test('has work for every documented name', () => {
    expect(names.filter((name) => findBuiltin(name) === undefined)).toEqual([]);
  });

  test('gives every builtin a meaning, an arity and two examples', () => {
    const wrong = allBuiltins().filter(
      ({ doc, examples, min, max }) => doc === '' || examples.length < 2 || min > max,
    );

    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  const examples = DOC_ROWS.flatMap((row) => row.examples);

  test('shows no example twice', () => {
    expect(new Set(examples.map(([source]) => source)).size).toBe(examples.length);
  });

  test.each(examples)('%s is %s', (source, value) => {
    const run = runProgram(source, { nowMs: NOW_MS });
    const forced = runProgram(source, { nowMs: NOW_MS, forced: true });

    expect(run.outcome.slice(run.outcome.indexOf(' ') + 1)).toBe(value);
    expect(forced).toEqual(run);
  });

  test('writes notes for println and prn', () => {
    expect(evaluate('(println "a" [1 "x"])')).toMatchObject({ notes: ['a [1 "x"]'] });
    expect(evaluate('(prn "a")')).toMatchObject({ notes: ['"a"'] });
    expect([...NOTED].every((name) => findBuiltin(name) !== undefined)).toBe(true);
  });
});
