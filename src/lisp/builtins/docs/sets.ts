/**
 * Sets, JSON and notes: names, arguments, meaning, examples.
 */
import type { DocRow } from './doc-row.ts';

/** Sets, JSON and notes. */
export const SET_DOCS: readonly DocRow[] = Object.freeze<DocRow[]>([
  {
    theme: 'Sets',
    names: 'set/union',
    args: '0+',
    meaning: 'arguments: sets or nil; another seqable counts as its set',
    examples: [
      ['(set/union #{1} #{2})', '#{1 2}'],
      ['(set/union)', '#{}'],
    ],
  },
  {
    theme: 'Sets',
    names: 'set/intersection set/difference',
    args: '1+',
    meaning: '`nil` first → `nil`; `nil` after a non-empty set: `set/intersection` gives `nil`',
    examples: [
      ['(set/intersection #{1 2} #{2})', '#{2}'],
      ['(set/difference #{1 2} #{2})', '#{1}'],
      ['(set/intersection #{1} nil)', 'nil'],
      ['(set/difference #{1} nil)', '#{1}'],
    ],
  },
  {
    theme: 'Sets',
    names: 'set/subset? set/superset?',
    args: '2',
    meaning: 'whether the second set holds all of the first · the first all of the second',
    examples: [
      ['(set/subset? #{1} #{1 2})', 'true'],
      ['(set/superset? #{1} #{2})', 'false'],
      ['(set/subset? #{3} #{1 2})', 'false'],
      ['(set/superset? #{1} #{})', 'true'],
    ],
  },
  {
    theme: 'Sets',
    names: 'set/select set/map-invert',
    args: '2, 1',
    meaning: 'the members for which the function is true · values to keys',
    examples: [
      ['(set/select odd? #{1 2})', '#{1}'],
      ['(set/map-invert {:a 1})', '{1 :a}'],
      ['(set/select :a #{{:a 1} {:b 2}})', '#{{:a 1}}'],
      ['(set/map-invert {:a 1 :b 1})', '{1 :b}'],
    ],
  },
  {
    theme: 'Sets',
    names: 'set/rename-keys set/rename',
    args: '2',
    meaning: 'one map · a set of maps',
    examples: [
      ['(set/rename-keys {:a 1} {:a :z})', '{:z 1}'],
      ['(set/rename #{{:a 1}} {:a :z})', '#{{:z 1}}'],
      ['(set/rename-keys {:a 1 :b 2} {:a :b})', '{:b 1}'],
      ['(set/rename #{{:a 1 :b 2}} {:b :c})', '#{{:a 1 :c 2}}'],
    ],
  },
  {
    theme: 'Sets',
    names: 'set/project set/index',
    args: '2',
    meaning: 'relations',
    examples: [
      ['(set/project #{{:a 1 :b 2}} [:a])', '#{{:a 1}}'],
      ['(set/index #{{:a 1}} [:a])', '{{:a 1} #{{:a 1}}}'],
      ['(set/project #{{:a 1 :b 2} {:a 1 :b 3}} [:a])', '#{{:a 1}}'],
      ['(set/index #{{:a 1 :b 2} {:a 1 :b 3}} [:a])', '{{:a 1} #{{:a 1 :b 2} {:a 1 :b 3}}}'],
    ],
  },
  {
    theme: 'Sets',
    names: 'set/join',
    args: '2–3',
    meaning: 'natural join, or by a map of keys',
    examples: [
      ['(set/join #{{:a 1 :b 2}} #{{:a 1 :c 3}})', '#{{:a 1 :b 2 :c 3}}'],
      ['(set/join #{{:a 1}} #{{:b 1 :c 2}} {:a :b})', '#{{:a 1 :b 1 :c 2}}'],
    ],
  },
  {
    theme: 'JSON',
    names: 'json/parse-string',
    args: '1',
    meaning: 'string keys; `1.0` is a float, big integers exact; bad: `nil`',
    examples: [
      ['(json/parse-string "{\\"a\\":[1,2.5]}")', '{"a" [1 2.5]}'],
      ['(json/parse-string "{\'a\':1}")', 'nil'],
    ],
  },
  {
    theme: 'JSON',
    names: 'json/parse-lines',
    args: '1',
    meaning: 'one value per non-blank line, `nil` for a bad one',
    examples: [
      ['(json/parse-lines "1\\n\\n[2]\\nx")', '[1 [2] nil]'],
      ['(json/parse-lines "")', '[]'],
    ],
  },
  {
    theme: 'JSON',
    names: 'json/generate-string',
    args: '1',
    meaning:
      'fixed key order; keyword keys by name, integer keys as text; keyword values, sets, functions, ±Inf, NaN, equal keys: `type_error` with path',
    examples: [
      ['(json/generate-string {:b [1.0 nil]})', '"{\\"b\\":[1.0,null]}"'],
      ['(json/generate-string {:k (name :v)})', '"{\\"k\\":\\"v\\"}"'],
    ],
  },
  {
    theme: 'Notes',
    names: 'println',
    args: '0+',
    meaning: 'one note, arguments joined by a space; top-level text raw, nested text quoted',
    examples: [
      ['(println "a" [1 "x"])', 'nil'],
      ['(println)', 'nil'],
    ],
  },
  {
    theme: 'Notes',
    names: 'prn',
    args: '0+',
    meaning: 'the same, all text quoted',
    examples: [
      ['(prn "a")', 'nil'],
      ['(prn :a nil "b")', 'nil'],
    ],
  },
]);
