/**
 * Comparing and predicates: names, arguments, meaning, examples.
 */
import type { DocRow } from './doc-row.ts';

/** Comparing and predicates. */
export const PREDICATE_DOCS: readonly DocRow[] = Object.freeze<DocRow[]>([
  {
    theme: 'Comparing and logic',
    names: '= == not=',
    args: '1+',
    meaning: 'structural; numbers by value',
    examples: [
      ['(= 1 1.0)', 'true'],
      ['(not= 1 2)', 'true'],
      ['(== 2 2)', 'true'],
    ],
  },
  {
    theme: 'Comparing and logic',
    names: '< <= > >=',
    args: '1+',
    meaning: 'numbers only',
    examples: [
      ['(< 1 2 3)', 'true'],
      ['(<= 1 1)', 'true'],
      ['(> 1 2)', 'false'],
      ['(>= 3 3 1)', 'true'],
    ],
  },
  {
    theme: 'Comparing and logic',
    names: 'compare',
    args: '2',
    meaning: '−1, 0, 1 by the natural order',
    examples: [
      ['(compare 1 2)', '-1'],
      ['(compare nil nil)', '0'],
    ],
  },
  {
    theme: 'Comparing and logic',
    names: 'max-key min-key',
    args: '2+',
    meaning: '`(f x)` must be a number; among equals the last',
    examples: [
      ['(max-key count "a" "bb" "cc")', '"cc"'],
      ['(min-key abs -1 2)', '-1'],
    ],
  },
  {
    theme: 'Comparing and logic',
    names: 'not boolean',
    args: '1',
    meaning: '',
    examples: [
      ['(not nil)', 'true'],
      ['(boolean 0)', 'true'],
    ],
  },
  {
    theme: 'Comparing and logic',
    names: 'identity any?',
    args: '1',
    meaning: '`any?` is always true',
    examples: [
      ['(identity 5)', '5'],
      ['(any? nil)', 'true'],
    ],
  },
  {
    theme: 'Predicates',
    names: 'nil? some? boolean?',
    args: '1',
    meaning: 'nil · not nil · booleans',
    examples: [
      ['(nil? nil)', 'true'],
      ['(some? false)', 'true'],
      ['(boolean? nil)', 'false'],
    ],
  },
  {
    theme: 'Predicates',
    names: 'true? false?',
    args: '1',
    meaning: 'exactly that',
    examples: [
      ['(true? 1)', 'false'],
      ['(false? false)', 'true'],
    ],
  },
  {
    theme: 'Predicates',
    names: 'number? int? integer? rational?',
    args: '1',
    meaning: 'numbers · integers (three names)',
    examples: [
      ['(number? ##NaN)', 'true'],
      ['(int? 1.0)', 'false'],
      ['(rational? 5)', 'true'],
    ],
  },
  {
    theme: 'Predicates',
    names: 'float? double? infinite? NaN?',
    args: '1',
    meaning: 'floats (two names) · ±Inf · NaN',
    examples: [
      ['(float? 1.5)', 'true'],
      ['(infinite? ##-Inf)', 'true'],
      ['(NaN? ##NaN)', 'true'],
    ],
  },
  {
    theme: 'Predicates',
    names: 'nat-int? pos-int? neg-int?',
    args: '1',
    meaning: 'integers ≥ 0 · > 0 · < 0',
    examples: [
      ['(nat-int? 0)', 'true'],
      ['(pos-int? 0)', 'false'],
      ['(neg-int? -1)', 'true'],
    ],
  },
  {
    theme: 'Predicates',
    names: 'zero? pos? neg?',
    args: '1',
    meaning: 'numbers; anything else is `false`',
    examples: [
      ['(zero? 0.0)', 'true'],
      ['(pos? "x")', 'false'],
      ['(neg? -1)', 'true'],
    ],
  },
  {
    theme: 'Predicates',
    names: 'even? odd?',
    args: '1',
    meaning: 'whole numbers, also as floats; else `false`',
    examples: [
      ['(even? 4.0)', 'true'],
      ['(odd? -3)', 'true'],
      ['(even? nil)', 'false'],
    ],
  },
  {
    theme: 'Predicates',
    names: 'ratio? decimal? symbol? map-entry? sorted?',
    args: '1',
    meaning: 'nothing: always `false`',
    examples: [
      ['(ratio? 1)', 'false'],
      ["(symbol? 'a)", 'false'],
    ],
  },
  {
    theme: 'Predicates',
    names: 'string? char? keyword? regex?',
    args: '1',
    meaning: 'text · one character · …',
    examples: [
      ['(string? \\a)', 'true'],
      ['(char? "ab")', 'false'],
      ['(regex? #"a")', 'true'],
    ],
  },
  {
    theme: 'Predicates',
    names: 'vector? map? set? coll?',
    args: '1',
    meaning: '· · · any of them',
    examples: [
      ['(vector? (list 1))', 'true'],
      ['(map? {})', 'true'],
      ['(set? [])', 'false'],
      ['(coll? "a")', 'false'],
    ],
  },
  {
    theme: 'Predicates',
    names: 'sequential? seq?',
    args: '1',
    meaning: 'vectors',
    examples: [
      ['(seq? [1])', 'true'],
      ['(sequential? {})', 'false'],
    ],
  },
  {
    theme: 'Predicates',
    names: 'associative?',
    args: '1',
    meaning: 'vectors, maps',
    examples: [
      ['(associative? [1])', 'true'],
      ['(associative? #{})', 'false'],
    ],
  },
  {
    theme: 'Predicates',
    names: 'counted?',
    args: '1',
    meaning: 'vectors, maps, sets, strings',
    examples: [
      ['(counted? "ab")', 'true'],
      ['(counted? nil)', 'false'],
    ],
  },
  {
    theme: 'Predicates',
    names: 'indexed? reversible?',
    args: '1',
    meaning: 'vectors, strings',
    examples: [
      ['(indexed? "ab")', 'true'],
      ['(reversible? {})', 'false'],
    ],
  },
  {
    theme: 'Predicates',
    names: 'seqable?',
    args: '1',
    meaning: 'nil, vectors, maps, sets, strings',
    examples: [
      ['(seqable? nil)', 'true'],
      ['(seqable? 5)', 'false'],
    ],
  },
  {
    theme: 'Predicates',
    names: 'fn?',
    args: '1',
    meaning: 'closures, builtins, combinators, tools',
    examples: [
      ['(fn? inc)', 'true'],
      ['(fn? :a)', 'false'],
    ],
  },
  {
    theme: 'Predicates',
    names: 'ifn?',
    args: '1',
    meaning: 'everything callable',
    examples: [
      ['(ifn? [1])', 'true'],
      ['(ifn? "a")', 'false'],
    ],
  },
]);
