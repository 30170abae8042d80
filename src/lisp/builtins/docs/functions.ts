/**
 * Functions of functions, and trees: names, arguments, meaning, examples.
 */
import type { DocRow } from './doc-row.ts';

/** Functions of functions, and trees. */
export const FUNCTION_DOCS: readonly DocRow[] = Object.freeze<DocRow[]>([
  {
    theme: 'Functions and trees',
    names: 'apply',
    args: '2+',
    meaning: 'last argument is seqable or nil',
    examples: [
      ['(apply + 1 [2 3])', '6'],
      ['(apply str nil)', '""'],
    ],
  },
  {
    theme: 'Functions and trees',
    names: 'comp',
    args: '0+',
    meaning: 'right to left; none is `identity`',
    examples: [
      ['((comp inc abs) -5)', '6'],
      ['((comp) 5)', '5'],
    ],
  },
  {
    theme: 'Functions and trees',
    names: 'partial complement constantly',
    args: '1+, 1, 1',
    meaning:
      '`f` with its first arguments fixed · the opposite answer · a function that always gives `x`',
    examples: [
      ['((partial + 1) 2)', '3'],
      ['((complement nil?) 1)', 'true'],
      ['((constantly 5) 1 2)', '5'],
      ['(map (partial * 2) [1 2])', '[2 4]'],
      ['(filter (complement odd?) [1 2])', '[2]'],
      ['(map (constantly 0) [1 2])', '[0 0]'],
    ],
  },
  {
    theme: 'Functions and trees',
    names: 'every-pred some-fn',
    args: '1+',
    meaning: 'a boolean · the first truthy value',
    examples: [
      ['((every-pred pos? even?) 4)', 'true'],
      ['((some-fn :a :b) {:b 2})', '2'],
      ['((every-pred odd?) 1 2)', 'false'],
      ['((some-fn nil? neg?) 1)', 'false'],
    ],
  },
  {
    theme: 'Functions and trees',
    names: 'juxt fnil',
    args: '1+, 2–4',
    meaning: '`fnil` replaces up to three nil arguments',
    examples: [
      ['((juxt inc dec) 5)', '[6 4]'],
      ['((fnil + 1 2) nil nil)', '3'],
      ['(map (juxt :a count) [{:a 1}])', '[[1 1]]'],
      ['((fnil inc 0) nil)', '1'],
    ],
  },
  {
    theme: 'Functions and trees',
    names: 'walk',
    args: '3',
    meaning: '`inner` on children, `outer` on the result; vectors, maps, sets',
    examples: [
      ['(walk inc (fn [v] (apply + v)) [1 2])', '5'],
      ['(walk (fn [[k v]] [v k]) identity {:a 1})', '{1 :a}'],
    ],
  },
  {
    theme: 'Functions and trees',
    names: 'prewalk postwalk',
    args: '2',
    meaning: 'top down · bottom up',
    examples: [
      ['(prewalk identity [1])', '[1]'],
      ['(postwalk #(if (number? %) (inc %) %) {:a [1]})', '{:a [2]}'],
      ['(prewalk #(if (number? %) (inc %) %) [1 {:a 2}])', '[2 {:a 3}]'],
      ['(postwalk #(if (vector? %) (count %) %) [[1 2] [3]])', '2'],
    ],
  },
  {
    theme: 'Functions and trees',
    names: 'prewalk-replace postwalk-replace',
    args: '2',
    meaning: 'by a map',
    examples: [
      ['(prewalk-replace {:a :b} [:a])', '[:b]'],
      ['(postwalk-replace {1 :one} [1 [1]])', '[:one [:one]]'],
      ['(prewalk-replace {:a [:b] :b :c} [:a])', '[[:c]]'],
      ['(postwalk-replace {:a :b} {:a :a})', '{:b :b}'],
    ],
  },
  {
    theme: 'Functions and trees',
    names: 'keywordize-keys stringify-keys',
    args: '1',
    meaning: 'all levels; a key that `keyword` refuses stays text',
    examples: [
      ['(keywordize-keys {"a" {"b" 1}})', '{:a {:b 1}}'],
      ['(stringify-keys {:a 1})', '{"a" 1}'],
      ['(keywordize-keys [{"a b" 1}])', '[{"a b" 1}]'],
      ['(stringify-keys [{:a {:b 2}}])', '[{"a" {"b" 2}}]'],
    ],
  },
  {
    theme: 'Functions and trees',
    names: 'tree-seq',
    args: '3',
    meaning: 'branch?, children, root; depth first',
    examples: [
      ['(map :n (tree-seq :kids :kids {:n 1 :kids [{:n 2}]}))', '[1 2]'],
      ['(tree-seq vector? seq [1 [2]])', '[[1 [2]] 1 [2] 2]'],
    ],
  },
  {
    theme: 'Functions and trees',
    names: 'type',
    args: '1',
    meaning: 'the kind of a value, as a keyword',
    examples: [
      ['(type [1])', ':vector'],
      ['(type nil)', 'nil'],
    ],
  },
  {
    theme: 'Functions and trees',
    names: 'describe',
    args: '1–2',
    meaning:
      "bounded summary of a value's shape; options: levels `:depth` 1–5, examples `:sample` 1–3, `:paths` true",
    examples: [
      ['(:item_types (describe [1 "x"]))', '{"integer" 1 "string" 1}'],
      ['(:paths (describe {:a [1]} {:depth 2 :paths true}))', '[[:a] [:a "*"]]'],
    ],
  },
  {
    theme: 'Functions and trees',
    names: 'doc apropos',
    args: '1',
    meaning: 'prints the documentation of a name · names that contain the text',
    examples: [
      ['(apropos "postwalk")', '["postwalk" "postwalk-replace"]'],
      ['(doc "inc")', 'nil'],
      ['(doc inc)', 'nil'],
      ['(apropos "no such name")', '[]'],
    ],
  },
]);
