import { describe, expect, test } from 'vitest';
import { readProgram, restore, type MachineSnapshot } from '../../src/lisp.ts';
import { evaluate } from './support/evaluate.ts';
import { runProgram } from './support/host.ts';

/** Inputs that must end in a normal value or error: the source, and how it ends. */
const HOSTILE: readonly (readonly [source: string, end: string])[] = [
  ['(loop [] (recur))', 'loop_limit_exceeded'],
  ['((fn f [] (inc (f))))', 'depth_exceeded'],
  ['((fn f [] (f)))', 'fuel_exceeded'],
  ['(defn a [x] (b x)) (defn b [x] (a x)) (a 1)', 'fuel_exceeded'],
  [
    '(let [d (reduce (fn [a _] [a a]) [] (range 64)) e (reduce (fn [a _] [a a]) [] (range 64))] (= d e))',
    'fuel_exceeded',
  ],
  ['(str (reduce (fn [a _] [a a]) [] (range 64)))', 'size_exceeded'],
  ['(str (reduce (fn [a _] [a]) nil (range 9000)))', 'depth_exceeded'],
  [
    '(= (reduce (fn [a _] [a]) nil (range 9000)) (reduce (fn [a _] [a]) nil (range 9000)))',
    'depth_exceeded',
  ],
  ['(count (flatten (reduce (fn [a _] [a]) 1 (range 9000))))', '1'],
  ['(postwalk identity (reduce (fn [a _] [a]) 1 (range 9000)))', 'depth_exceeded'],
  ['(reduce (fn [s _] (str s s)) "x" (range 60))', 'size_exceeded'],
  ['(reduce (fn [n _] (* n n)) 3 (range 40))', 'size_exceeded'],
  ['(combinations (range 60) 30)', 'size_exceeded'],
  ['(range 1e12)', 'size_exceeded'],
  ['(range 0 1e300 1e-300)', 'size_exceeded'],
  ['(repeat 1e9 :x)', 'size_exceeded'],
  ['(repeat ##Inf :x)', 'size_exceeded'],
  ['(count (re-find #"(a+)+$" (str (apply str (repeat 5000 "a")) "b")))', '0'],
  ['(format "%999999999d" 1)', 'runtime_error'],
  ['(count (replace (apply str (repeat 1000 "ab")) "" "-"))', '4001'],
  ['(json/parse-string (apply str (repeat 90000 "[")))', 'depth_exceeded'],
  ['{"__proto__" {"x" 1}}', '{"__proto__" {"x" 1}}'],
  ['(get {} "constructor")', 'nil'],
  ['(:toString {})', 'nil'],
  ['(do (def constructor 1) (inc constructor))', '2'],
  ['(do (def __proto__ 1) (inc __proto__))', '2'],
  ['(bit-shift-left 1 1e9)', 'type_error'],
  ['(bit-shift-left 1 1000000000)', 'size_exceeded'],
  ['(pow 10 400)', '##Inf'],
  ['(sort (fn [a b] true) [3 1 2])', '[2 1 3]'],
  ['(tree-seq string? seq "ab")', 'size_exceeded'],
  ['(attempt (loop [] (recur)))', 'loop_limit_exceeded'],
  ['(attempt ((fn f [] (inc (f)))))', 'depth_exceeded'],
  ['(attempt (/ 1 0))', 'arithmetic_error'],
  ['(loop [f identity i 0] (if (< i 9000) (recur (comp inc f) (inc i)) (f 1)))', 'depth_exceeded'],
  ['(loop [f identity i 0] (if (< i 9000) (recur (partial f) (inc i)) (f 1)))', '1'],
  ['(loop [m {} i 0] (if (< i 9000) (recur {:a m} (inc i)) (count (pr-str m))))', 'depth_exceeded'],
  [
    '(distinct (list (reduce (fn [a _] [a a]) [] (range 64)) (reduce (fn [a _] [a a]) [] (range 64))))',
    'fuel_exceeded',
  ],
];

describe('hostile programs', () => {
  test.each(HOSTILE)('%s ends in %s', (source, end) => {
    for (const forced of [false, true]) {
      const result = evaluate(source, { forced });
      const got = result.kind === 'value' ? result.printed : result.reason;

      expect(got).toBe(end);
    }
  });

  test.each(HOSTILE)('%s ends the same inside a branch', (source, end) => {
    if (source.includes('(def')) return;
    const result = evaluate(`(first (pmap (fn [_] ${source}) [1]))`);
    const got = result.kind === 'value' ? result.printed : result.reason;

    expect([end, 'pmap_error']).toContain(got);
  });

  test('10,000 open parentheses are a parse error', () => {
    expect(evaluate('('.repeat(10_000))).toMatchObject({ reason: 'parse_error' });
    expect(evaluate("'".repeat(100_000))).toMatchObject({ reason: 'parse_error' });
    expect(evaluate('#_'.repeat(100_000))).toMatchObject({ reason: 'parse_error' });
    expect(evaluate('^'.repeat(100_000))).toMatchObject({ reason: 'parse_error' });
  });

  test('long threading chains are refused instead of nesting without bound', () => {
    expect(evaluate(`(-> 1 ${'inc '.repeat(20_000)})`)).toMatchObject({ reason: 'invalid_form' });
    expect(evaluate(`(-> 1 ${'inc '.repeat(300)})`)).toMatchObject({ printed: '301' });
  });

  test('a cond of a thousand clauses runs', () => {
    const clauses = Array.from({ length: 300 }, (_, index) => `(= x ${index}) ${index}`).join(' ');

    expect(evaluate(`(let [x 299] (cond ${clauses}))`)).toMatchObject({ printed: '299' });
  });

  test('a symbol of 256 KB and lone surrogates are read or refused', () => {
    expect(readProgram('a'.repeat(262_144)).ok).toBe(true);
    expect(readProgram('"\ud800"').ok).toBe(false);
    expect(readProgram('\ud800').ok).toBe(false);
  });

  test('a tool that answers with __proto__ gives ordinary data', () => {
    const result = runProgram('(get (tool/get {:id 1}) "__proto__")', {
      answer: ({ id }) => ({ id, ok: true, value: JSON.parse('{"__proto__":{"x":1}}') }),
    });

    expect(result.outcome).toBe('value {"x" 1}');
  });

  test('a hundred branches of a hundred sleepers end', () => {
    const result = runProgram(
      '(count (pmap (fn [_] (count (pmap (fn [_] (sleep 1)) (range 100)))) (range 100)))',
      {},
    );

    expect(result.outcome).toBe('value 100');
  }, 60_000);

  test('a damaged snapshot ends the program instead of throwing', () => {
    for (const damaged of [
      {},
      { v: 2 },
      { v: 1, sources: {} },
      { v: 1, sources: { 'l1:x': '1' } },
    ]) {
      const machine = restore(damaged as unknown as MachineSnapshot);

      expect(machine.faults[0]?.fault.reason).toBe('snapshot_version');
    }
  });
});

/** Attempts to reach JavaScript: each must be an ordinary value or a problem of the language. */
const ESCAPES: readonly (readonly [source: string, end: string])[] = [
  ['(.constructor "a")', 'invalid_form'],
  ['(.-constructor "a")', 'invalid_form'],
  ['(js/eval "1")', 'invalid_form'],
  ['js/globalThis', 'invalid_form'],
  ['globalThis', 'unbound_var'],
  ['process', 'unbound_var'],
  ['(eval "1")', 'unbound_var'],
  ['(Function "return 1")', 'unbound_var'],
  ['constructor', 'unbound_var'],
  ['__proto__', 'unbound_var'],
  ['toString', 'unbound_var'],
  ['hasOwnProperty', 'unbound_var'],
  ['(str/constructor "a")', 'invalid_form'],
  ['(str/__proto__ "a")', 'invalid_form'],
  ['(Math/constructor 1)', 'invalid_form'],
  ['(Math/random)', 'invalid_form'],
  ['(System/exit 0)', 'invalid_form'],
  ['(System/getenv "A")', 'invalid_form'],
  ['data/__proto__', 'nil'],
  ['data/constructor', 'nil'],
  ['(get "a" "length")', 'nil'],
  ['(get [1] "length")', 'nil'],
  ['(get [1] :constructor)', 'nil'],
  ['(get inc :name)', 'nil'],
  ['(:kind inc)', 'nil'],
  ['(:code (fn [x] x))', 'nil'],
  ['(get #"a" :source)', 'nil'],
  ['(:constructor {})', 'nil'],
  ['({} "__proto__")', 'nil'],
  ['(get-in {:a {}} [:a "constructor" "prototype"])', 'nil'],
  ['(let [{:keys [constructor]} {}] constructor)', 'nil'],
  ['(let [{:strs [__proto__]} {}] __proto__)', 'nil'],
  ['(keys {"__proto__" 1 "constructor" 2})', '["__proto__" "constructor"]'],
  ['(assoc {} "__proto__" {:polluted 1})', '{"__proto__" {:polluted 1}}'],
  ['(:polluted {})', 'nil'],
  [
    '(group-by identity ["__proto__" "constructor"])',
    '{"__proto__" ["__proto__"] "constructor" ["constructor"]}',
  ],
  ['(frequencies ["__proto__" "__proto__"])', '{"__proto__" 2}'],
  ['(keyword "__proto__")', 'runtime_error'],
  ['(keywordize-keys {"constructor" 1})', '{:constructor 1}'],
  ['(json/parse-string "{\\"__proto__\\": {\\"a\\": 1}}")', '{"__proto__" {"a" 1}}'],
  ['(json/generate-string {"__proto__" 1})', '"{\\"__proto__\\":1}"'],
  ['(re-find #"(?<constructor>a)" "a")', '["a" "a"]'],
  ['(replace "a" #"(?<x>a)" "${constructor}")', 'runtime_error'],
  ['(re-find (re-pattern "(?=a)") "a")', 'runtime_error'],
  ['(sort (fn [a b] {}) [2 1])', 'type_error'],
  ['(sort-by :__proto__ [{} {}])', '[{} {}]'],
  ['(apply "constructor" [])', 'not_callable'],
  ['(doc "constructor")', 'nil'],
  ['(apropos "__proto__")', '[]'],
  ['(type (fn [x] x))', ':function'],
  ['(str (fn [x] x))', '"#fn"'],
  ['(format "%s" inc)', '"#fn[inc]"'],
  ['(describe {"__proto__" 1})', null as unknown as string],
  ['(no-clause~ 1)', 'parse_error'],
  ['(tool/constructor {})', 'unknown_tool'],
  ['(tool/__proto__ {})', 'unknown_tool'],
  ['(map :constructor [{} [] "a" nil 1])', '[nil nil nil nil nil]'],
  ['(get-in data/x ["constructor"])', 'nil'],
];

describe('escapes', () => {
  test.each(ESCAPES)('%s reaches nothing', (source, end) => {
    const result = evaluate(source);
    const got = result.kind === 'value' ? result.printed : result.reason;

    if (end === null) expect(result.kind).toBe('value');
    else expect(got).toBe(end);
    expect(JSON.stringify(result)).not.toMatch(/native code|node:|at .*\.ts/);
  });
});
