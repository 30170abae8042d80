/** Slices: a program that is stopped after every slice of fuel is the program that is not. */
import { describe, expect, test } from 'vitest';
import {
  advanceSlice,
  cancelMachine,
  EMPTY_MEMORY,
  fuelUsed,
  overrunMachine,
  readProgram,
  restore,
  snapshot,
  startMachine,
  type EffectRequest,
  type Machine,
  type MachineSnapshot,
} from '../../src/lisp.ts';
import { SLICE } from '../../src/lisp/value/context.ts';
import { extentOf } from '../support/extent.ts';
import { observe, runProgram, standardAnswer, TOOLS, type Observed } from './support/host.ts';

const LIMITS = { fuel: 2_000_000, loopIterations: 1_000_000, depth: 900 };

interface Run extends Observed {
  /** Fuel of each slice. */
  readonly slices: readonly number[];
}

function start(source: string): Machine {
  const read = readProgram(source);
  if (!read.ok) throw new Error(read.problem.message);
  return startMachine(read.program, {
    data: {},
    memory: EMPTY_MEMORY,
    limits: LIMITS,
    tools: TOOLS,
  });
}

function runSliced(source: string, snapshots: boolean): Run {
  let machine = start(source);
  const requests = new Map<string, EffectRequest>();
  const slices: number[] = [];
  let waiting: EffectRequest[] = [];
  for (let round = 0; round < 1_000; round++) {
    const before = fuelUsed(machine);
    const results = waiting.map(standardAnswer);
    waiting = [];
    const step = advanceSlice(machine, { now: 1_000, budget: {}, results });
    machine = step.machine;
    slices.push(fuelUsed(machine) - before);
    if (step.kind === 'finished') {
      return { ...observe(machine, step.outcome, requests.values()), slices };
    }
    for (const request of step.requests) requests.set(request.id, request);
    waiting = [...step.requests];
    if (snapshots)
      machine = restore(JSON.parse(JSON.stringify(snapshot(machine))) as MachineSnapshot);
  }
  throw new Error(`No end of ${source}`);
}

/** Programs of more than one slice. */
const LONG: readonly (readonly [name: string, source: string])[] = [
  ['a loop', '(loop [i 0 a 0] (if (< i 90000) (recur (inc i) (+ a i)) a))'],
  [
    'a loop in a function',
    '(defn f [n] (loop [i 0] (if (< i n) (recur (inc i)) i))) [(f 60000) (f 50000) (f 3)]',
  ],
  ['callbacks', '(defn slow [x] (reduce + (range (mod x 300)))) (count (map slow (range 3000)))'],
  ['nested callbacks', '(reduce + (map (fn [i] (count (filter odd? (range i)))) (range 700)))'],
  ['loops of for', '(count (for [x (range 400) y (range 400) :when (= x y)] [x y]))'],
  ['recursion', '(defn fib [n] (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (fib 21)'],
  [
    'deep recursion',
    '(defn f [n] (if (= n 0) (reduce + (range 90000)) (inc (f (dec n))))) (+ (f 800) (f 800) (f 800))',
  ],
  [
    'mutual tail calls',
    '(defn a [n] (if (= n 0) :done (b (dec n)))) (defn b [n] (if (= n 0) :done (a (dec n)))) (a 80000)',
  ],
  [
    'a recur of a function',
    '(defn f [n acc] (if (= n 0) acc (recur (dec n) (+ acc n)))) (f 90000 0)',
  ],
  ['sorting by a function', '(first (sort (fn [a b] (> (mod a 977) (mod b 977))) (range 9000)))'],
  ['one large builtin', '(count (sort (range 60000 0 -1)))'],
  [
    'combinators',
    '(count (map (comp inc (partial + 1) (juxt inc dec)) [])) (count (map (juxt inc dec) (range 40000)))',
  ],
  [
    'notes and records',
    '(doseq [i (range 60)] (println i) (reduce + (range 9000))) (step-done 1 "x") (loop [i 0] (when (< i 60000) (recur (inc i))))',
  ],
  [
    'notes in a function',
    '(defn f [i] (println "n" i) (task-reset i) (step-done i "done") (reduce + (map inc (range 4000)))) (mapv f (range 60))',
  ],
  [
    'effects among it',
    '(defn f [n] (loop [i 0] (if (< i n) (recur (inc i)) i))) [(f 60000) (tool/get {:id 1}) (mapv (fn [i] (tool/get {:id i}) (f 30000)) [1 2 3])]',
  ],
  [
    'branches',
    '(pmap (fn [n] (let [a (loop [i 0] (if (< i 40000) (recur (inc i)) i))] (tool/get {:id n}) (+ a n))) (range 4))',
  ],
  ['a return inside', '(run! (fn [i] (when (= i 70000) (return i))) (range 90000))'],
  ['a fault inside', '(defn f [i] (if (= i 70000) (/ 1 0) i)) (count (map f (range 90000)))'],
  [
    'an attempt',
    '(attempt (do (tool/fail {}) 1)) (attempt (loop [i 0] (if (< i 90000) (recur (inc i)) (tool/fail {}))))',
  ],
  ['no fuel left', '(loop [i 0] (recur (inc i)))'],
  ['too deep', '(defn f [n] (inc (f n))) (reduce + (range 90000)) (reduce + (range 90000)) (f 1)'],
  [
    'condp, case and patterns',
    '(defn g [[a & more]] (case (mod a 3) 0 :x 1 :y (condp = a 2 :two (count more)))) (frequencies (map (fn [i] (g [i 1 2])) (range 20000)))',
  ],
];

describe('slices', () => {
  test.each(extentOf(LONG, 3))('%s', { timeout: 60_000 }, (name, source) => {
    const whole = runProgram(source, { limits: LIMITS, data: {} });
    const { slices, ...sliced } = runSliced(source, false);
    const { slices: saved, ...restored } = runSliced(source, true);

    expect(sliced).toEqual(whole);
    expect(restored).toEqual(whole);
    expect(saved).toEqual(slices);
    expect(slices.length).toBeGreaterThan(1);
    // Only a single call of a builtin cannot be stopped.
    if (name !== 'one large builtin') expect(Math.max(...slices)).toBeLessThanOrEqual(2 * SLICE);
  });

  test('a program within its slice is not stopped', () => {
    expect(runSliced('(reduce + (range 40000))', false).slices).toHaveLength(1);
  });

  test.each([
    ['canceled', cancelMachine],
    ['time_exceeded', overrunMachine],
  ] as const)('a program can be ended as %s between slices', (reason, endMachine) => {
    const source = '(task "a" 1) (def x 1) (loop [] (recur))';
    const step = advanceSlice(start(source), { now: 0, budget: {}, results: [] });
    expect(step.kind).toBe('sliced');
    const end = endMachine(step.machine);

    expect(end).toMatchObject({ kind: 'finished', outcome: { kind: 'error', error: { reason } } });
    const memory = end.kind === 'finished' ? end.outcome.memory : EMPTY_MEMORY;
    expect(memory.bindings).toEqual({});
    expect(JSON.stringify(memory.journal)).toContain('a');
  });
});
