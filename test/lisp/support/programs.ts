/**
 * Generated programs: pure arithmetic and data, mixed with effects in every place where they can
 * stand: arguments, callbacks, loops, patterns, branches, attempts.
 */
import fc from 'fast-check';

/** An expression with a number as its value, over the locals `x` and `y`. */
const number: fc.Memo<string> = fc.memo((depth) =>
  depth <= 1
    ? fc.oneof(
        fc.integer({ min: -9, max: 20 }).map(String),
        fc.constantFrom('x', 'y', '1.5', '(count data/rows)'),
      )
    : fc.oneof(
        { weight: 2, arbitrary: number(depth - 1) },
        fc
          .tuple(fc.constantFrom('+', '-', '*', 'max'), number(depth - 1), number(depth - 1))
          .map(([op, a, b]) => `(${op} ${a} ${b})`),
        fc
          .tuple(number(depth - 1), number(depth - 1), number(depth - 1))
          .map(([a, b, c]) => `(if (< ${a} ${b}) ${c} x)`),
        { weight: 2, arbitrary: number(depth - 1).map((a) => `(:got (tool/get {:id ${a}}))`) },
        number(depth - 1).map((a) => `(do (sleep 5) (println "n" ${a}) ${a})`),
        fc
          .tuple(number(depth - 1), number(depth - 1))
          .map(([a, b]) => `(let [x ${a} y ${b}] (+ x y))`),
        list(depth - 1).map((a) => `(reduce (fn [x y] (+ x y)) 0 ${a})`),
        fc
          .tuple(number(depth - 1), number(depth - 1))
          .map(([a, b]) => `(loop [x 0 y ${a}] (if (< x 3) (recur (inc x) (+ y ${b})) y))`),
        number(depth - 1).map((a) => `(or (:ok (attempt (tool/fail {:id ${a}}))) ${a})`),
        number(depth - 1).map((a) => `(twice (fn [x] ${a}) 2)`),
        number(depth - 1).map((a) => `((comp inc (fn [x] (+ x ${a}))) 1)`),
        number(depth - 1).map((a) => `(case ${a} 1 10 (2 3) 20 30)`),
        number(depth - 1).map((a) => `(task [:t ${a}] ${a})`),
        number(depth - 1).map((a) => `(:n (update {:n 1} :n (fn [y] (+ y ${a}))))`),
      ),
);

/** An expression with a vector of numbers as its value. */
const list: fc.Memo<string> = fc.memo((depth) =>
  depth <= 1
    ? fc.constantFrom('[1 2 3]', '[]', '(map :n data/rows)', '(range 4)', '[x y]')
    : fc.oneof(
        fc
          .tuple(list(depth - 1), number(depth - 1))
          .map(([a, b]) => `(map (fn [x] (+ x ${b})) ${a})`),
        fc
          .tuple(list(depth - 1), number(depth - 1))
          .map(([a, b]) => `(filter (fn [x] (< x ${b})) ${a})`),
        fc
          .tuple(list(depth - 1), number(depth - 1))
          .map(([a, b]) => `(pmap (fn [x] (+ x ${b})) ${a})`),
        fc
          .tuple(list(depth - 1), number(depth - 1))
          .map(([a, b]) => `(for [x ${a} :when (odd? (int x)) y [1 2]] (+ y ${b}))`),
        fc
          .tuple(list(depth - 1), number(depth - 1))
          .map(([a, b]) => `(sort-by (fn [x] (- ${b} x)) ${a})`),
        list(depth - 1).map((a) => `(sort (fn [x y] (do (sleep 1) (> x y))) ${a})`),
        fc.tuple(number(depth - 1), number(depth - 1)).map(([a, b]) => `[${a} ${b}]`),
        fc
          .tuple(number(depth - 1), number(depth - 1))
          .map(([a, b]) => `(pcalls (fn [] ${a}) (fn [] ${b}))`),
        list(depth - 1)
          .map((a) => `(vec (vals (group-by (fn [x] (do (sleep 2) (int x))) ${a})))`)
          .map((a) => `(map first ${a})`),
        list(depth - 1).map((a) => `(postwalk (fn [x] (if (number? x) (inc x) x)) ${a})`),
      ),
);

const HEAD = '(def x 3) (def y 4) (defn twice [f n] (f (f n)))';

/** A program with effects; some end in an error, none is without end. */
export const program: fc.Arbitrary<string> = fc
  .tuple(fc.array(fc.oneof(number(4), list(4)), { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([forms, define]) => {
    const body = define ? forms.map((form, index) => `(def v${index} ${form})`).join(' ') : '';
    const last = define ? 'v0' : forms.join(' ');
    return `${HEAD} ${body} ${last}`;
  });
