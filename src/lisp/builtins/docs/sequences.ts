/**
 * Sequence functions: names, arguments, meaning, examples.
 */
import type { DocRow } from './doc-row.ts';

/** Sequence functions. */
export const SEQUENCE_DOCS: readonly DocRow[] = Object.freeze<DocRow[]>([
  {
    theme: 'Sequence functions',
    names: 'map mapv',
    args: '2+',
    meaning: 'several collections: shortest wins',
    examples: [
      ['(map + [1 2] [10 20 30])', '[11 22]'],
      ['(map :a [{:a 1}])', '[1]'],
      ['(mapv inc #{1})', '[2]'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'map-indexed',
    args: '2',
    meaning: '`(f i x)`',
    examples: [['(map-indexed vector [:a])', '[[0 :a]]']],
  },
  {
    theme: 'Sequence functions',
    names: 'keep-indexed',
    args: '2',
    meaning: 'the results that are not `nil`',
    examples: [['(keep-indexed (fn [i x] (when (pos? i) x)) [:a :b])', '[:b]']],
  },
  {
    theme: 'Sequence functions',
    names: 'mapcat',
    args: '2+',
    meaning: 'joins seqable results; `nil` is empty',
    examples: [['(mapcat (fn [x] [x x]) [1 2])', '[1 1 2 2]']],
  },
  {
    theme: 'Sequence functions',
    names: 'filter filterv remove',
    args: '2',
    meaning: '',
    examples: [
      ['(filter odd? [1 2 3])', '[1 3]'],
      ['(remove nil? [1 nil])', '[1]'],
      ['(filterv :a [{:a 1} {}])', '[{:a 1}]'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'keep',
    args: '2',
    meaning: 'results that are not `nil`; `false` stays',
    examples: [['(keep {:a 1 :b false} [:a :b :c])', '[1 false]']],
  },
  {
    theme: 'Sequence functions',
    names: 'reduce',
    args: '2–3',
    meaning: 'no init: first element; empty and no init: `(f)`; stops at `reduced`',
    examples: [
      ['(reduce + 10 [1 2])', '13'],
      ['(reduce + [])', '0'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'reductions',
    args: '2–3',
    meaning: 'every intermediate value',
    examples: [
      ['(reductions + [1 2 3])', '[1 3 6]'],
      ['(reductions + 10 [1])', '[10 11]'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'reduced',
    args: '1',
    meaning: 'stops `reduce`, `reduce-kv`, `reductions` early',
    examples: [['(reduce (fn [a x] (if (> x 2) (reduced a) (+ a x))) 0 [1 2 3])', '3']],
  },
  {
    theme: 'Sequence functions',
    names: 'reduced? unreduced',
    args: '1',
    meaning: '',
    examples: [
      ['(reduced? (reduced 1))', 'true'],
      ['(unreduced (reduced 5))', '5'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'reduce-kv',
    args: '3',
    meaning: 'map, or vector with indexes; nil → init',
    examples: [['(reduce-kv (fn [a k v] (+ a v)) 0 {:a 1 :b 2})', '3']],
  },
  {
    theme: 'Sequence functions',
    names: 'take drop',
    args: '2',
    meaning: '',
    examples: [
      ['(take 2 "hello")', '["h" "e"]'],
      ['(drop 1 [1 2])', '[2]'],
      ['(take -1 [1])', '[]'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'take-last drop-last',
    args: '2, 1–2',
    meaning: '',
    examples: [
      ['(take-last 2 [1 2 3])', '[2 3]'],
      ['(drop-last [1 2])', '[1]'],
      ['(take-last 1 [])', 'nil'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'take-while drop-while',
    args: '2',
    meaning: '',
    examples: [
      ['(take-while pos? [1 -1 2])', '[1]'],
      ['(drop-while pos? [1 -1])', '[-1]'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'take-nth',
    args: '2',
    meaning: 'n ≤ 0 raises',
    examples: [['(take-nth 2 [1 2 3])', '[1 3]']],
  },
  {
    theme: 'Sequence functions',
    names: 'nthrest nthnext',
    args: '2',
    meaning: 'as `drop`; `nthnext` gives `nil` when empty',
    examples: [
      ['(nthrest [1 2] 1)', '[2]'],
      ['(nthnext [1] 1)', 'nil'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'split-at split-with',
    args: '2',
    meaning: 'pair of vectors',
    examples: [
      ['(split-at 1 [1 2 3])', '[[1] [2 3]]'],
      ['(split-with odd? [1 2 3])', '[[1] [2 3]]'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'partition',
    args: '2–4',
    meaning: '`n step? pad? coll`; n < 0: `[]`; n = 0 or step ≤ 0 raises',
    examples: [['(partition 2 2 [0] [1 2 3])', '[[1 2] [3 0]]']],
  },
  {
    theme: 'Sequence functions',
    names: 'partition-all partition-by',
    args: '2–3, 2',
    meaning: '≤ 0 raises',
    examples: [
      ['(partition-all 2 [1 2 3])', '[[1 2] [3]]'],
      ['(partition-by odd? [1 3 2])', '[[1 3] [2]]'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'sort',
    args: '1–2',
    meaning: 'stable; comparator first: `(f a b)` → number or boolean,; or `:asc`, `:desc`, `nil`',
    examples: [
      ['(sort [3 nil 1])', '[nil 1 3]'],
      ['(sort > [1 2])', '[2 1]'],
      ['(sort :desc [1 2])', '[2 1]'],
      ['(sort (fn [a b] (- b a)) [1 2])', '[2 1]'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'sort-by',
    args: '2–3',
    meaning: 'key function, then comparator',
    examples: [
      ['(sort-by count ["bb" "a"])', '["a" "bb"]'],
      ['(sort-by :n :desc [{:n 1} {:n 2}])', '[{:n 2} {:n 1}]'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'group-by frequencies',
    args: '2, 1',
    meaning: 'keys exact (structural; numbers by value)',
    examples: [
      ['(group-by odd? [1 2 3])', '{false [2] true [1 3]}'],
      ['(frequencies "aab")', '{"a" 2 "b" 1}'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'distinct dedupe',
    args: '1',
    meaning: 'first of equal keys (structural; numbers by value) · runs of them collapsed',
    examples: [
      ['(distinct [3 1 3])', '[3 1]'],
      ['(dedupe [1 1 2 1])', '[1 2 1]'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'distinct-by',
    args: '2',
    meaning: 'first item per key',
    examples: [['(distinct-by :k [{:k 1 :v 1} {:k 1 :v 2}])', '[{:k 1 :v 1}]']],
  },
  {
    theme: 'Sequence functions',
    names: 'reverse flatten',
    args: '1',
    meaning: '`flatten` opens vectors only; not sequential → `[]`',
    examples: [
      ['(reverse [1 2])', '[2 1]'],
      ['(flatten [1 [2 [3]]])', '[1 2 3]'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'interpose interleave',
    args: '2, 0+',
    meaning: '',
    examples: [
      ['(interpose 0 [1 2])', '[1 0 2]'],
      ['(interleave [1 2] [:a :b])', '[1 :a 2 :b]'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'zip',
    args: '2+',
    meaning: 'vectors of corresponding elements',
    examples: [['(zip [1 2] [:a :b :c])', '[[1 :a] [2 :b]]']],
  },
  {
    theme: 'Sequence functions',
    names: 'some',
    args: '2',
    meaning: 'first truthy result, else `nil`',
    examples: [
      ['(some #{2} [1 2])', '2'],
      ['(some even? [1])', 'nil'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'every? not-every? not-any?',
    args: '2',
    meaning: '',
    examples: [
      ['(every? odd? [])', 'true'],
      ['(not-every? odd? [2])', 'true'],
      ['(not-any? odd? [2])', 'true'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'distinct?',
    args: '1+',
    meaning: 'no two are the same key (structural; numbers by value)',
    examples: [
      ['(distinct? 1 2 1)', 'false'],
      ['(distinct? 1 1.0)', 'true'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'run! doall dorun',
    args: '2, 1, 1',
    meaning: 'for effects: nil · the collection · nil',
    examples: [
      ['(run! inc [1])', 'nil'],
      ['(doall [1])', '[1]'],
      ['(dorun [1])', 'nil'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'sum avg',
    args: '1',
    meaning: '`nil` skipped; empty: 0, `nil`; text raises; `avg` is a float',
    examples: [
      ['(sum [1 nil 2])', '3'],
      ['(avg [1 2])', '1.5'],
      ['(avg [])', 'nil'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'sum-by avg-by',
    args: '2',
    meaning: 'of key values; missing skipped',
    examples: [
      ['(sum-by :n [{:n 1} {}])', '1'],
      ['(avg-by :n [{:n 1} {:n 2}])', '1.5'],
    ],
  },
  {
    theme: 'Sequence functions',
    names: 'min-by max-by',
    args: '2+',
    meaning: '`(k coll)`, `(k x y …)`; nil keys skipped; ties: first',
    examples: [
      ['(min-by :p [{:p 3} {:p 1}])', '{:p 1}'],
      ['(max-by identity 1 3 2)', '3'],
    ],
  },
]);
