import { describe, expect, test } from 'vitest';
import { EMPTY_MEMORY, type ProgramMemory } from '../../src/lisp.ts';
import { runProgram } from './support/host.ts';

/** The memory after a program. */
function after(source: string, memory: ProgramMemory = EMPTY_MEMORY): ProgramMemory {
  return JSON.parse(JSON.stringify(runProgram(source, { memory }).memory)) as ProgramMemory;
}

describe('what outlives a program', () => {
  test('definitions stay, functions with their source', () => {
    const memory = after('(def n 2) (defn area [w h] (* w h n))');

    expect(runProgram('(area 3 4)', { memory }).outcome).toBe('value 24');
    expect(Object.keys(memory.bindings)).toEqual(['area', 'n']);
    expect(Object.values(memory.sources)).toEqual(['(def n 2) (defn area [w h] (* w h n))']);
  });

  test('a definition is looked up when it is called, so redefining is seen', () => {
    const memory = after('(defn f [] 1) (defn g [] (f))');

    expect(runProgram('(defn f [] 2) (g)', { memory }).outcome).toBe('value 2');
  });

  test('a closure keeps its locals, and programs that nothing refers to are dropped', () => {
    const first = after('(def add (let [n 5] (fn [x] (+ x n))))');
    const second = after('(def add nil)', first);

    expect(runProgram('(add 1)', { memory: first }).outcome).toBe('value 6');
    expect(second.sources).toEqual({});
  });

  test('the last three plain values are *1, *2 and *3', () => {
    const memory = after('30', after('20', after('10')));

    expect(runProgram('[*1 *2 *3]', { memory }).outcome).toBe('value [30 20 10]');
    expect(runProgram('[*1 *2]').outcome).toBe('value [nil nil]');
  });

  test('an error and a failure leave definitions and history as they were', () => {
    const memory = after('(def x 1) 7');

    for (const source of ['(def x 2) (/ 1 0)', '(def x 2) (fail "no")']) {
      const next = after(source, memory);
      expect(runProgram('[x *1]', { memory: next }).outcome).toBe('value [1 7]');
    }
  });

  test('the journal stays, also when the program fails later', () => {
    const memory = after('(task "a" (:got (tool/get {:id 4}))) (/ 1 0)');
    const again = runProgram('(task "a" (:got (tool/get {:id 9})))', { memory });

    expect(again.outcome).toBe('value 4');
    expect(again.requests).toEqual([]);
    expect(runProgram('(task-reset "a") (task "a" 5)', { memory }).outcome).toBe('value 5');
  });

  test('a program may define what is called like a builtin', () => {
    const memory = after('(defn inc [x] (+ x 10))');

    expect(runProgram('[(inc 1) (core/inc 1)]', { memory }).outcome).toBe('value [11 2]');
    expect(runProgram('(map inc [1])', { memory, snapshots: true, forced: true }).outcome).toBe(
      'value [11]',
    );
  });

  test('a function whose source was changed fails when it is called, other definitions stay', () => {
    const memory = after('(def n 2) (defn f [] n)');
    const [id = ''] = Object.keys(memory.sources);
    const damaged = { ...memory, sources: { [id]: '(defn f [] 3)' } };

    expect(runProgram('n', { memory: damaged }).outcome).toBe('value 2');
    expect(runProgram('(f)', { memory: damaged }).reason).toBe('snapshot_version');
  });
});
