/**
 * The twelve programs of the comparison with SCI. Each is valid in both languages and has the same
 * value in both; sizes are such that SCI takes 5 to 500 ms.
 */

/** One program of the suite. */
export interface BenchProgram {
  readonly name: string;
  readonly source: string;
}

/** The suite. */
export const PROGRAMS: readonly BenchProgram[] = [
  {
    name: 'fib',
    source: '(defn fib [n] (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (fib 19)',
  },
  {
    name: 'loop',
    source: '(loop [i 0 s 0] (if (< i 100000) (recur (inc i) (+ s (mod i 7))) s))',
  },
  {
    name: 'map-filter-reduce',
    source: '(reduce + (map (fn [x] (* x x)) (filter odd? (range 30000))))',
  },
  {
    name: 'group-by',
    source: '(count (group-by (fn [x] (mod x 97)) (range 20000)))',
  },
  {
    name: 'assoc',
    source: '(count (loop [i 0 m {}] (if (< i 10000) (recur (inc i) (assoc m i (* i i))) m)))',
  },
  {
    name: 'strings',
    source: '(count (reduce (fn [s i] (str s i ",")) "" (range 2000)))',
  },
  {
    name: 'sort-by',
    source: '(first (sort-by (fn [x] (mod (* x 7919) 10007)) (range 10000)))',
  },
  {
    name: 'destructuring',
    source:
      '(loop [i 0 s 0] (if (< i 10000) (let [{:keys [a b] [c d] :c} {:a i :b 2 :c [3 4]}] (recur (inc i) (+ s a b c d))) s))',
  },
  {
    name: 'closures',
    source:
      '(defn adder [n] (fn [x] (+ x n))) (defn compose [f g] (fn [x] (f (g x)))) (reduce (fn [a i] ((compose (adder i) (adder 1)) a)) 0 (range 10000))',
  },
  {
    name: 'reduce-map',
    source: '(count (reduce (fn [m x] (update m (mod x 100) (fnil inc 0))) {} (range 15000)))',
  },
  {
    name: 'sets',
    source:
      '(let [a (set (range 0 6000 2)) b (set (range 0 6000 3))] (+ (count (set/union a b)) (count (set/intersection a b)) (count (set/difference a b))))',
  },
  {
    name: 'clojure.string',
    source:
      '(count (str/join "," (map (fn [i] (str/upper-case (str/trim (str " item-" i " ")))) (range 5000))))',
  },
];
