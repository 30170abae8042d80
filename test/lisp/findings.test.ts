/** One test for each flaw that was found in the language, named after its letter. */
import { describe, expect, test } from 'vitest';
import {
  advance,
  checkProgram,
  EMPTY_MEMORY,
  fuelUsed,
  programStatus,
  readProgram,
  restore,
  snapshot,
  startMachine,
  toJson,
  type EffectResult,
  type MachineSnapshot,
} from '../../src/lisp.ts';
import type { Value } from '../../src/lisp/value/value.ts';
import { sourceOf } from '../../bench/lisp/fuel-table.ts';
import FUEL from '../golden/fuel.json' with { type: 'json' };
import { evaluate } from './support/evaluate.ts';
import { runProgram, standardAnswer, startProgram } from './support/host.ts';

/** The printed value, or the reason why there is none, in both tiers, which agree. */
function resultOf(source: string): string {
  const results = [false, true].map((forced) => {
    const result = evaluate(source, { forced });
    return result.kind === 'value' ? `${result.printed} for ${result.fuel}` : result.reason;
  });
  expect(results[0]).toBe(results[1]);
  return (results[0] ?? '').replace(/ for \d+$/, '');
}

function fuelOf(source: string): number {
  const result = evaluate(source, { limits: { fuel: 2_000_000 } });
  if (result.kind !== 'value') throw new Error(`${result.reason}: ${source}`);
  return result.fuel;
}

/** How a program ends, and its fuel. */
function evaluateEnd(source: string): string {
  const read = readProgram(source);
  if (!read.ok) throw new Error(read.problem.message);
  const input = { data: {}, memory: EMPTY_MEMORY, limits: { fuel: 2_000_000 }, tools: [] };
  const end = advance(startMachine(read.program, input), { now: 0, budget: {}, results: [] });
  if (end.kind === 'blocked') return 'blocked';
  const { outcome } = end;
  const kind = outcome.kind === 'error' ? outcome.error.reason : outcome.kind;
  return `${kind} ${fuelUsed(end.machine)}`;
}

/** Processor seconds that the checks of a program take; the better of two tries. */
function checkSeconds(source: string): number {
  const read = readProgram(source);
  if (!read.ok) throw new Error(read.problem.message);
  const tries = [1, 2].map(() => {
    const start = process.cpuUsage();
    checkProgram(read.program, { tools: [], memory: [], asking: false });
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1_000_000;
  });
  return Math.min(...tries);
}

describe('fuel', () => {
  test('[L2] adding to a vector, and taking parts of it, cost what they make', () => {
    const chunks =
      '(loop [v (vec (range 9000)) n 0] (if (empty? v) n (recur (drop 9 v) (+ n (count (take 9 v))))))';

    expect(resultOf(chunks)).toBe('9000');
    expect(fuelOf('(count (reduce (fn [a x] (into a [x])) [] (range 40000)))')).toBeLessThan(
      800_000,
    );
    expect(
      fuelOf('(let [v (vec (range 20000))] (count (map (fn [i] (take 3 (drop i v))) v)))'),
    ).toBeLessThan(700_000);
  });

  test('[L4] what many grown vectors share is held once', () => {
    const grown =
      '(let [v (vec (range 9000))] (count (mapv (fn [i] (into v [1 2 3 4 5 6 7 8 i])) (range 500))))';

    expect(resultOf(grown)).toBe('500');
    expect(
      resultOf(
        '(let [v (vec (range 100)) w (into v (range 70))] [(count w) (nth w 99) (nth w 100) (last w) (last v)])',
      ),
    ).toBe('[170 99 0 69 99]');
    expect(resultOf('(into (subvec (vec (range 100)) 37) (range 40))')).toBe(
      `[${[...Array.from({ length: 63 }, (_, at) => at + 37), ...Array.from({ length: 40 }, (_, at) => at)].join(' ')}]`,
    );
  });

  test('a program is charged as before, to the unit', () => {
    const ended = Object.keys(FUEL).map((body) => [body, evaluateEnd(sourceOf(body, 40))]);

    expect(Object.fromEntries(ended)).toEqual(FUEL);
    expect(ended.length).toBeGreaterThan(300);
  });

  test('long names and patterns cost what it takes to read them', () => {
    expect(fuelOf(`(keyword "${'a'.repeat(640)}")`)).toBe(42);
    expect(fuelOf('(re-pattern "a")')).toBe(43);
  });

  test('positions without end leave fuel a number', () => {
    expect(fuelOf('(split-at ##Inf [1 2 3])')).toBeLessThan(20);
    expect(resultOf('(split-at ##Inf [1 2])')).toBe('[[1 2] []]');
  });
});

describe('checks', () => {
  test('[L5] long unknown names, and many, cost little', { timeout: 30_000 }, () => {
    const long = Array.from(
      { length: 20 },
      (_, at) => `(def ${'a'.repeat(1_000)}${at} 1) ${'a'.repeat(998)}b${at}`,
    );
    const near = Array.from(
      { length: 1_900 },
      (_, at) => `(def ${'a'.repeat(58)}${at + 1_000} 1) ${'a'.repeat(57)}b${at + 1_000}`,
    );
    const fresh = 'unknown '.repeat(30_000);
    const members = 'str/joim '.repeat(25_000);
    const labels = Array.from({ length: 19_000 }, (_, at) => `${at} 1`).join(' ');

    for (const source of [long.join(' '), near.join(' '), fresh, members, `(case 1 ${labels} 2)`]) {
      expect(checkSeconds(source)).toBeLessThan(1.5);
    }
  });

  test('[L5] at most twenty suggestions, for names up to 64 characters', () => {
    const messages = (source: string): readonly string[] => {
      const read = readProgram(source);
      if (!read.ok) throw new Error(read.problem.message);
      const { problems } = checkProgram(read.program, { tools: [], memory: [], asking: false });
      return problems.map(({ message }) => message);
    };
    const many = messages('(coumt 1) '.repeat(30));

    expect(many.filter((message) => message.includes('Did you mean'))).toHaveLength(20);
    expect(many).toHaveLength(30);
    expect(messages(`(def ${'a'.repeat(64)} 1) ${'a'.repeat(63)}b`)[0]).toContain('Did you mean');
    expect(messages(`(def ${'a'.repeat(65)} 1) ${'a'.repeat(64)}b`)[0]).not.toContain(
      'Did you mean',
    );
  });
});

describe('meanings', () => {
  test('[L7] a definition without a value is nil inside `or`', () => {
    const memo = '(defn f [] (def c (inc (or c 0)))) (f) (f) c';

    expect(resultOf(memo)).toBe('2');
    expect(resultOf('(if false (def x 1)) (or x 2)')).toBe('2');
    expect(resultOf('(if false (def x 1)) x')).toBe('unbound_var');
  });

  test.each([
    ['(.substring "hello" 1.9)', '"ello"'],
    ['(.substring "hello" 1.0 3.7)', '"el"'],
    ['(.indexOf "hello" "l" 3.2)', '3'],
    ['(.lastIndexOf "hello" "l" 2.9)', '2'],
    ['(.charAt "abc" 1.5)', '"b"'],
    ['(.startsWith "abc" "b" 1.5)', 'true'],
    ['(str (.plusDays (LocalDate/of 2024 1 1) 1.9))', '"2024-01-02"'],
    ['(str (.minusDays (LocalDate/of 2024 1 2) 1.9))', '"2024-01-01"'],
  ])('[L8] %s cuts its position: %s', (source, value) => {
    expect(resultOf(source)).toBe(value);
  });

  test('[L9] `(pcalls)` is the empty vector', () => {
    expect(runProgram('(pcalls)').outcome).toBe('value []');
    expect(runProgram('(apply pcalls [])').outcome).toBe('value []');
  });

  test('[L10] a snapshot keeps what effects that are over were', () => {
    const doneOf = (snapshots: boolean): unknown =>
      runProgram('(sleep 1) (ask "q") (tool/get {:a 1}) (tool/fail {})', { snapshots }).details;

    expect(doneOf(true)).toEqual(doneOf(false));
    expect(doneOf(true)).toMatchObject({ done: ['3'] });

    let machine = startProgram('(sleep 1) (ask "q") (tool/get {:a 1})');
    let results: readonly EffectResult[] = [];
    for (let step = advance(machine, { now: 0, budget: {}, results }); step.kind === 'blocked';) {
      results = step.requests.map(standardAnswer);
      machine = restore(JSON.parse(JSON.stringify(snapshot(step.machine))) as MachineSnapshot);
      step = advance(machine, { now: 0, budget: {}, results });
      machine = step.machine;
    }
    expect(programStatus(machine).effects.map(({ kind, name }) => [kind, name])).toEqual([
      ['sleep', 'sleep'],
      ['ask', 'ask'],
      ['tool', 'get'],
    ]);
  });

  test(
    '[L11] long `cond` and `condp` are refused, those of 1,000 clauses run',
    { timeout: 30_000 },
    () => {
      const cond = (count: number): string =>
        `(let [x ${count - 1}] (cond ${Array.from({ length: count }, (_, at) => `(= x ${at}) ${at}`).join(' ')}))`;
      const condp = (count: number): string =>
        `(condp = ${count - 1} ${Array.from({ length: count }, (_, at) => `${at} ${at}`).join(' ')})`;
      const chained = `(condp some [1] ${'#{2} :>> inc '.repeat(330)} :none)`;

      for (const source of [
        cond(12_000),
        condp(6_000),
        `(cond ${'false 1 '.repeat(600)} true (cond ${'false 1 '.repeat(600)}))`,
      ]) {
        expect(evaluate(source, { limits: { sourceBytes: 1_000_000 } })).toMatchObject({
          reason: 'invalid_form',
        });
      }
      expect(resultOf(cond(1_000))).toBe('999');
      expect(resultOf(condp(1_000))).toBe('999');
      expect(resultOf(chained)).toBe(':none');
    },
  );

  test('[L11] JSON of deep values, and nested `reduced`, end in outcomes', () => {
    const nest = (value: Value): Value => {
      const read = readProgram('(fn [x n] (loop [x x n n] (if (= n 0) x (recur [x] (dec n)))))');
      if (!read.ok) throw new Error(read.problem.message);
      return value;
    };
    const deep = (levels: number): Value => {
      let value: Value = nest(1);
      for (let at = 0; at < levels; at++) {
        const kept = value;
        value = { kind: 'set', count: 1, root: { keys: [kept], vals: [null], kids: null } };
      }
      return value;
    };

    for (const levels of [1_100, 1_990, 3_000, 20_000])
      expect(toJson(deep(levels))).toMatchObject({ ok: false });
    expect(toJson(deep(900))).toMatchObject({ ok: true });
    const reduced = '(loop [r 1 i 0] (if (< i 9000) (recur (reduced r) (inc i)) r))';
    expect(['value', 'problem']).toContain(evaluate(reduced).kind);
    expect(resultOf(`(str ${reduced})`)).toBe('depth_exceeded');
    expect(resultOf(`(= ${reduced} ${reduced})`)).toBe('depth_exceeded');
    expect(
      runProgram(`(def r ${reduced}) (sleep 1) (count [r])`, { snapshots: true }).outcome,
    ).toBe('value 1');
  });

  test('[L12] `format` leaves no half of a character', () => {
    expect(resultOf('(format "%.1s" "😀")')).toBe('"😀"');
    expect(resultOf('(format "%.1s|%.2s" "a😀" "a😀b")')).toBe('"a|a😀"');
    expect(resultOf('(format "%c" 55357)')).toBe('runtime_error');
    expect(resultOf('(format "%c" 128512)')).toBe('"😀"');
  });

  test('[L13] all of many elements, and all but one, can be chosen', () => {
    expect(resultOf('(count (first (combinations (range 1100) 1100)))')).toBe('1100');
    expect(resultOf('(count (combinations (range 150) 149))')).toBe('150');
  });

  test('[L14] a special form as the name of a local is refused; `merge-with` takes maps', () => {
    expect(resultOf('(let [if inc] 1)')).toBe('invalid_form');
    expect(resultOf('(merge-with + 1)')).toBe('type_error');
  });
});
