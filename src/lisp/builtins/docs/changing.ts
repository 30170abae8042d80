/**
 * Changing collections: names, arguments, meaning, examples.
 */
import type { DocRow } from './doc-row.ts';

/** Changing collections. */
export const CHANGING_DOCS: readonly DocRow[] = Object.freeze<DocRow[]>([
  {
    theme: 'Changing collections',
    names: 'assoc',
    args: '3+',
    meaning: 'map, nil, vector at an index ≤ count; further raises `runtime_error`',
    examples: [
      ['(assoc {:a 1} :b 2)', '{:a 1 :b 2}'],
      ['(assoc [1 2] 2 3)', '[1 2 3]'],
    ],
  },
  {
    theme: 'Changing collections',
    names: 'assoc-in',
    args: '3',
    meaning: 'missing levels become maps; an empty path writes key `nil`',
    examples: [
      ['(assoc-in {} [:a :b] 1)', '{:a {:b 1}}'],
      ['(assoc-in [{:a 1}] [0 :a] 2)', '[{:a 2}]'],
    ],
  },
  {
    theme: 'Changing collections',
    names: 'update update-in',
    args: '3+',
    meaning: 'more arguments go to `f`',
    examples: [
      ['(update {:a 1} :a + 10)', '{:a 11}'],
      ['(update-in {} [:a :b] (fnil inc 0))', '{:a {:b 1}}'],
      ['(update {} :n (fnil inc 0))', '{:n 1}'],
      ['(update-in {:a {:b 1}} [:a :b] + 10)', '{:a {:b 11}}'],
    ],
  },
  {
    theme: 'Changing collections',
    names: 'dissoc disj',
    args: '1+',
    meaning: 'exact keys; nil → `nil`; wrong type raises',
    examples: [
      ['(dissoc {:a 1 :b 2} :a)', '{:b 2}'],
      ['(disj #{1 2} 1)', '#{2}'],
      ['(dissoc {:a 1} :b)', '{:a 1}'],
      ['(disj #{1} 1)', '#{}'],
    ],
  },
  {
    theme: 'Changing collections',
    names: 'merge',
    args: '0+',
    meaning: 'later wins; `nil` skipped; entries as for `conj`; nothing → `{}`',
    examples: [
      ['(merge {:a 1} nil {:a 2})', '{:a 2}'],
      ['(merge nil)', '{}'],
    ],
  },
  {
    theme: 'Changing collections',
    names: 'merge-with',
    args: '1+',
    meaning: '`(f old new)` on a repeated key; nothing → `{}`',
    examples: [
      ['(merge-with + {:a 1} {:a 2 :b 3})', '{:a 3 :b 3}'],
      ['(merge-with into {:a [1]} {:a [2]})', '{:a [1 2]}'],
    ],
  },
  {
    theme: 'Changing collections',
    names: 'select-keys',
    args: '2',
    meaning: 'keys as asked; vectors by index',
    examples: [
      ['(select-keys {:a 1 :b 2} [:a :z])', '{:a 1}'],
      ['(select-keys [10 20] [1])', '{1 20}'],
    ],
  },
  {
    theme: 'Changing collections',
    names: 'update-vals update-keys',
    args: '2',
    meaning: 'nil: `{}`; last wins; of a vector: its new elements · index keys',
    examples: [
      ['(update-vals {:a 1} inc)', '{:a 2}'],
      ['(update-keys {:a 1} name)', '{"a" 1}'],
      ['(update-vals [1 2] inc)', '[2 3]'],
      ['(update-keys [7] inc)', '{1 7}'],
    ],
  },
  {
    theme: 'Changing collections',
    names: 'conj',
    args: '0+',
    meaning: 'vector end; set; map takes `[k v]`, a map, nil',
    examples: [
      ['(conj [1] 2)', '[1 2]'],
      ['(conj {:a 1} {:b 2})', '{:a 1 :b 2}'],
      ['(conj nil 1)', '[1]'],
    ],
  },
  {
    theme: 'Changing collections',
    names: 'cons',
    args: '2',
    meaning: 'in front, as a vector',
    examples: [
      ['(cons 0 [1])', '[0 1]'],
      ['(cons 1 nil)', '[1]'],
    ],
  },
  {
    theme: 'Changing collections',
    names: 'into',
    args: '0–2',
    meaning: '`conj` of each element; nil target → vector',
    examples: [
      ['(into {} [[:a 1]])', '{:a 1}'],
      ['(into #{} "aa")', '#{"a"}'],
      ['(into [1] #{2})', '[1 2]'],
    ],
  },
  {
    theme: 'Changing collections',
    names: 'empty',
    args: '1',
    meaning: 'empty of the same type; not a collection → `nil`',
    examples: [
      ['(empty {:a 1})', '{}'],
      ['(empty "a")', 'nil'],
    ],
  },
  {
    theme: 'Changing collections',
    names: 'concat',
    args: '0+',
    meaning: 'seqables',
    examples: [
      ['(concat [1] nil "a")', '[1 "a"]'],
      ['(concat)', '[]'],
    ],
  },
  {
    theme: 'Changing collections',
    names: 'replace',
    args: '2, 3',
    meaning: '2: elements looked up in a map or vector; 3: text',
    examples: [
      ['(replace {1 :one} [1 2])', '[:one 2]'],
      ['(replace [:zero :one] [1 0 7])', '[:one :zero 7]'],
    ],
  },
]);
