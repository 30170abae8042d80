/**
 * Making, reading and changing collections: names, arguments, meaning, examples.
 */
import type { DocRow } from './doc-row.ts';

/** Making, reading and changing collections. */
export const COLLECTION_DOCS: readonly DocRow[] = Object.freeze<DocRow[]>([
  {
    theme: 'Making collections',
    names: 'vector list',
    args: '0+',
    meaning: 'the same function',
    examples: [
      ['(vector 1 2)', '[1 2]'],
      ['(list)', '[]'],
    ],
  },
  {
    theme: 'Making collections',
    names: 'vec',
    args: '1',
    meaning: 'vector of a seqable; `nil` → `[]`',
    examples: [
      ['(vec #{3 1})', '[1 3]'],
      ['(vec nil)', '[]'],
    ],
  },
  {
    theme: 'Making collections',
    names: 'set hash-set sorted-set',
    args: '1, 0+, 0+',
    meaning: '',
    examples: [
      ['(set [1 1])', '#{1}'],
      ['(hash-set 1 2)', '#{1 2}'],
      ['(sorted-set 2 1)', '#{1 2}'],
    ],
  },
  {
    theme: 'Making collections',
    names: 'hash-map array-map sorted-map',
    args: '0+',
    meaning: 'last wins',
    examples: [
      ['(hash-map :a 1)', '{:a 1}'],
      ['(array-map)', '{}'],
      ['(sorted-map :b 2 :a 1)', '{:a 1 :b 2}'],
    ],
  },
  {
    theme: 'Making collections',
    names: 'zipmap',
    args: '2',
    meaning: 'shortest wins',
    examples: [['(zipmap [:a :b] [1 2 3])', '{:a 1 :b 2}']],
  },
  {
    theme: 'Making collections',
    names: 'range',
    args: '1–3',
    meaning: 'numbers; step 0 raises ; float steps add up',
    examples: [
      ['(range 3)', '[0 1 2]'],
      ['(range 5 0 -2)', '[5 3 1]'],
      ['(range 3.5)', '[0 1 2 3]'],
    ],
  },
  {
    theme: 'Making collections',
    names: 'repeat repeatedly',
    args: '2',
    meaning: 'count first; `repeatedly` calls `f` n times',
    examples: [
      ['(repeat 2 :x)', '[:x :x]'],
      ['(repeatedly 2 (constantly 1))', '[1 1]'],
    ],
  },
  {
    theme: 'Making collections',
    names: 'combinations',
    args: '2',
    meaning: '`(coll n)`: all n-element selections in order',
    examples: [
      ['(combinations [1 2 3] 2)', '[[1 2] [1 3] [2 3]]'],
      ['(combinations [1] 0)', '[[]]'],
    ],
  },
  {
    theme: 'Reading collections',
    names: 'get',
    args: '2–3',
    meaning: 'map (), vector, text by index, set by member; else default',
    examples: [
      ['(get {:a 1} :b 0)', '0'],
      ['(get "abc" 1)', '"b"'],
      ['(get #{1} 1)', '1'],
    ],
  },
  {
    theme: 'Reading collections',
    names: 'get-in',
    args: '2–3',
    meaning: 'a present `nil` is not missing; path `nil`: the whole',
    examples: [
      ['(get-in {:a [{:b 7}]} [:a 0 :b])', '7'],
      ['(get-in nil [:a] 0)', '0'],
    ],
  },
  {
    theme: 'Reading collections',
    names: 'nth',
    args: '2–3',
    meaning: 'vector, string, nil; out of range → `nil` or the default',
    examples: [
      ['(nth [1 2] 5)', 'nil'],
      ['(nth [1 2] -1 :d)', ':d'],
    ],
  },
  {
    theme: 'Reading collections',
    names: 'first second last',
    args: '1',
    meaning: 'positional',
    examples: [
      ['(first "ab")', '"a"'],
      ['(second [1])', 'nil'],
      ['(last [1 2])', '2'],
    ],
  },
  {
    theme: 'Reading collections',
    names: 'rest next butlast',
    args: '1',
    meaning: '`rest` gives `[]`, the others `nil` when nothing is left',
    examples: [
      ['(rest [])', '[]'],
      ['(next [1])', 'nil'],
      ['(butlast [1 2])', '[1]'],
    ],
  },
  {
    theme: 'Reading collections',
    names: 'ffirst nfirst fnext nnext',
    args: '1',
    meaning: '',
    examples: [
      ['(ffirst [[1 2]])', '1'],
      ['(nfirst [[1 2]])', '[2]'],
      ['(fnext [1 2])', '2'],
      ['(nnext [1 2 3])', '[3]'],
    ],
  },
  {
    theme: 'Reading collections',
    names: 'peek pop',
    args: '1',
    meaning: 'end of a vector; empty → `nil`; other types raise',
    examples: [
      ['(peek [1 2])', '2'],
      ['(pop [1 2])', '[1]'],
      ['(pop [])', 'nil'],
    ],
  },
  {
    theme: 'Reading collections',
    names: 'find',
    args: '2',
    meaning: 'entry of a map, or of a vector by index; sets and text raise',
    examples: [
      ['(find {:a nil} :a)', '[:a nil]'],
      ['(find [10 20] 1)', '[1 20]'],
    ],
  },
  {
    theme: 'Reading collections',
    names: 'key val',
    args: '1',
    meaning: 'any two-element vector',
    examples: [
      ['(key [:a 1])', ':a'],
      ['(val [:a 1])', '1'],
    ],
  },
  {
    theme: 'Reading collections',
    names: 'keys vals entries',
    args: '1',
    meaning: 'empty: nil, nil, []',
    examples: [
      ['(keys {:b 1 :a 2})', '[:a :b]'],
      ['(vals {:b 1 :a 2})', '[2 1]'],
      ['(entries {:a 1})', '[[:a 1]]'],
    ],
  },
  {
    theme: 'Reading collections',
    names: 'contains?',
    args: '2',
    meaning: 'map key · set member · **vector member** · text index; nil: `false`',
    examples: [
      ['(contains? [10 20] 20)', 'true'],
      ['(contains? {"a" 1} :a)', 'true'],
    ],
  },
  {
    theme: 'Reading collections',
    names: 'count empty?',
    args: '1',
    meaning: 'seqables; others raise',
    examples: [
      ['(count "héllo")', '5'],
      ['(empty? nil)', 'true'],
    ],
  },
  {
    theme: 'Reading collections',
    names: 'not-empty seq',
    args: '1',
    meaning: '`nil` when empty; `seq` gives a vector',
    examples: [
      ['(not-empty "")', 'nil'],
      ['(seq {:a 1})', '[[:a 1]]'],
      ['(seq [])', 'nil'],
    ],
  },
  {
    theme: 'Reading collections',
    names: 'subvec',
    args: '2–3',
    meaning: 'vectors; bounds are pulled into range; end before start → `[]`',
    examples: [
      ['(subvec [1 2 3] 1)', '[2 3]'],
      ['(subvec [1 2 3] 0 9)', '[1 2 3]'],
    ],
  },
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
    examples: [['(assoc-in {} [:a :b] 1)', '{:a {:b 1}}']],
  },
  {
    theme: 'Changing collections',
    names: 'update update-in',
    args: '3+',
    meaning: 'more arguments go to `f`',
    examples: [
      ['(update {:a 1} :a + 10)', '{:a 11}'],
      ['(update-in {} [:a :b] (fnil inc 0))', '{:a {:b 1}}'],
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
    examples: [['(merge-with + {:a 1} {:a 2 :b 3})', '{:a 3 :b 3}']],
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
    examples: [['(concat [1] nil "a")', '[1 "a"]']],
  },
  {
    theme: 'Changing collections',
    names: 'replace',
    args: '2, 3',
    meaning: '2: elements looked up in a map or vector; 3: text',
    examples: [['(replace {1 :one} [1 2])', '[:one 2]']],
  },
]);
