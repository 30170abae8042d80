/**
 * Hints for names of Clojure and other languages that this language does not have.
 *
 * I1  No builtin has one of these names.
 */

const HINTS: readonly (readonly [names: string, hint: string])[] = Object.freeze([
  [
    'try catch finally throw',
    'There are no exceptions. Test data first; wrap a tool call in `(attempt …)`; give up with `(fail …)`.',
  ],
  [
    'atom ref agent volatile! swap! reset! deref set! binding',
    'There is no mutable state. Use `loop`/`recur`, `reduce`, or `def` between steps.',
  ],
  [
    'ns require use import refer in-ns',
    'Namespaces are built in. Write `str/join`, `set/union` directly.',
  ],
  [
    'defmacro macroexpand eval read-string load-string resolve',
    'Programs cannot build or evaluate code.',
  ],
  [
    'defmulti defmethod defprotocol defrecord deftype reify extend',
    'Use `case`, `cond` or a map of functions.',
  ],
  [
    'lazy-seq iterate cycle',
    'Sequences are finite. Use `(range n)`, `(repeat n x)`, `reductions` or `loop`.',
  ],
  [
    'transduce eduction sequence completing',
    'There are no transducers. Give the collection as well.',
  ],
  ['while', 'Use `loop`/`recur`.'],
  ['letfn', 'Use `defn`, or name the `fn`.'],
  ['doto', 'Use `let` or `->`.'],
  [
    'rand rand-int rand-nth shuffle random-uuid gensym',
    'Programs are deterministic. Use a tool or data for random values.',
  ],
  [
    'slurp spit read-line print pr',
    'There is no input or output. Use tools, and `println` for notes.',
  ],
  ['list?', '`list` makes a vector: use `vector?`.'],
  ['ratio decimal bigdec bigint', 'Integers have any size; other numbers are floats.'],
  ['len length size', 'Use `count`.'],
  ['append push', 'Use `conj`.'],
  ['forEach', 'Use `doseq`.'],
  ['strip', 'Use `trim`.'],
  ['substring', 'Use `subs`.'],
  ['lambda', 'Use `fn`.'],
  ['null None', 'Use `nil`.'],
]);

/** The hint for a name that the language leaves out on purpose, or undefined. */
export function absentHint(name: string): string | undefined {
  for (const [names, hint] of HINTS) if (names.split(' ').includes(name)) return hint;
  return undefined;
}

/** The hint for a call that would make an endless sequence or a transducer. */
export function endlessHint(name: string, count: number): string | undefined {
  const endless = 'Sequences are finite. Use `(range n)`, `(repeat n x)`, `reductions` or `loop`.';
  if (name === 'range' && count === 0) return endless;
  if ((name === 'repeat' || name === 'repeatedly') && count === 1) return endless;
  const transducers =
    'map mapv filter filterv remove keep mapcat map-indexed keep-indexed take drop take-while drop-while take-nth partition-all partition-by interpose replace dedupe distinct';
  if (
    count === 1 &&
    name !== 'distinct' &&
    name !== 'dedupe' &&
    transducers.split(' ').includes(name)
  ) {
    return 'There are no transducers. Give the collection as well.';
  }
  return undefined;
}
