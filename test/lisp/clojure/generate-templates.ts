/**
 * Programs of the shared subset made from templates: the builtins and forms that the typed generator
 * of `generate.ts` seldom reaches. A hole is `$` and a letter, filled at random from {@link HOLES}.
 */

import { createRandom, type Random } from './random.ts';

type Hole = (random: Random) => string;

const pickOf =
  (...choices: readonly string[]): Hole =>
  (random) =>
    random.pick(choices);

const int: Hole = (random) => String(random.below(random.oneIn(4) ? 2000 : 20) - 5);
const text = pickOf('""', '"a"', '"ab"', '"banana"', '"Hello World"', '" x y "', '"a-b-c"', '"12"');
const keyword = pickOf(':a', ':b', ':c', ':id', ':name');

const several =
  (item: Hole, open: string, close: string): Hole =>
  (random) =>
    `${open}${Array.from({ length: random.below(6) }, () => item(random)).join(' ')}${close}`;

/** Different items, for sets and the keys of maps. */
const different =
  (item: Hole, most: number): ((random: Random) => readonly string[]) =>
  (random) => [...new Set(Array.from({ length: random.below(most + 1) }, () => item(random)))];

const mapOf =
  (key: Hole, value: Hole): Hole =>
  (random) =>
    `{${different(key, 4)(random)
      .map((one) => `${one} ${value(random)}`)
      .join(' ')}}`;

const small: Hole = (random) => String(random.below(6));
const date: Hole = (random) =>
  `${1900 + random.below(300)} ${1 + random.below(12)} ${1 + random.below(28)}`;

/** What may stand for a hole, by its letter. */
const HOLES: Readonly<Record<string, Hole>> = {
  i: int,
  j: small,
  p: (random) => String(1 + random.below(9)),
  f: pickOf('0.5', '1.5', '-2.5', '2.0', '-0.0', '0.1', '100.25', '1e5', '1e-5', '3.7', '-3.2'),
  s: text,
  k: keyword,
  v: several(int, '[', ']'),
  w: several(text, '[', ']'),
  n: several(several(small, '[', ']'), '[', ']'),
  m: mapOf(keyword, int),
  o: mapOf(pickOf('"a"', '"b"', '"id"'), int),
  e: (random) => `#{${different(small, 5)(random).join(' ')}}`,
  l: date,
  b: pickOf('true', 'false', 'nil'),
  g: pickOf('inc', 'dec', '-', '#(* % %)', 'abs', '(partial + 2)', '(comp inc inc)', '(constantly 7)'),
  q: pickOf('even?', 'odd?', 'pos?', 'neg?', 'zero?', '#(> % 2)', '#{1 2 3}'),
  x: pickOf('nil', 'true', '1', '2.5', '"ab"', ':a', '[]', '[1]', '{}', '{:a 1}', '#{}', '#{1}'),
};

const TEMPLATES: readonly string[] = Object.freeze(
  `
(+' $i $i) | (*' $i $i $j) | (-' $i) | (-' $i $i) | (inc' $i) | (dec' $f)
(== $i $i) | (== $f $f) | (< $i $i $i) | (<= $i $f $i) | (> $f $i) | (>= $i $i) | (compare $v $v)
(bit-and $p $p $i) | (bit-or $p $i) | (bit-xor $i $i) | (bit-not $i) | (bit-test $p $j) | (bit-and-not $i $p)
(bit-set $p $j) | (bit-clear $p $j) | (bit-flip $p $j) | (bit-shift-left $i $j) | (bit-shift-right $i $j)
(max $i $f) | (min $f $f $i) | (max-key abs $i $i $i) | (min-key - $i $i) | (abs $f) | (quot $f $p) | (rem $f $p)
(mod $f $p) | (mod $i -$p) | (quot $i -$p) | (rem $i $p) | (int $f) | (long $f) | (double $i) | (float $j)
[(pos? $f) (neg? $f) (zero? $f)] | [(float? $f) (integer? $i) (int? $f) (double? $i)] | (number? $x)
[(nat-int? $i) (pos-int? $i) (neg-int? $i)] | [(infinite? $f) (NaN? $f)] | (str $f) | (pr-str $f $i)
[(Math/abs $i) (Math/abs $f)] | (Math/max $i $i) | (Math/min $f $f) | (Math/ceil $f) | (Math/floor $f) | (Math/round $f)
(Math/sqrt $p) | (Math/pow $p $j) | (Integer/parseInt "$i") | (Long/parseLong "$p$j" 16) | (Double/parseDouble "$f")
(Integer/parseInt $s) | (Double/parseDouble $s) | (Boolean/parseBoolean $s) | (parse-long $s) | (parse-long "$i")
(parse-double "$f") | (parse-double $s) | (parse-boolean "$b") | (parse-long "$f")
[(string? $x) (keyword? $x) (map? $x)] | [(nil? $x) (some? $x) (boolean? $x)] | [(true? $x) (false? $x) (any? $x)]
[(coll? $x) (set? $x) (fn? $x)] | [(ifn? $k) (ifn? $m) (ifn? $s) (ifn? $e) (ifn? inc)] | (empty $x) | (boolean $x)
[(sequential? $m) (sequential? $v) (associative? $x)] | (not $x) | (identity $x) | (seqable? $v) | (= $x $x) | (not= $x $x)
(array-map $k $i) | (hash-map :x $x $k $i) | (sorted-map :b $i :a $i) | (sorted-set $i $i $j) | (hash-set $j $j)
(zipmap [:a :b :c] $v) | (range $j) | (range $j $p) | (range $i $i $p) | (range $p $j -1) | (vec (repeat $j $x))
(repeatedly $j (constantly $k)) | (set $v) | (sort (vec $e)) | (into $e $v) | (into {} (map (fn [x] [x (* x x)]) $v))
(ffirst $n) | (nfirst $n) | (fnext $v) | (nnext $v) | (second $v) | (last $v) | (butlast $v) | (peek $v) | (nth $v 0 :none)
(key (first (seq {$k $i}))) | (val (find {:a $i} :a)) | (find $m $k) | (find $v $j) | (get $v $j :none) | (get $s $j)
(get-in {:a {:b $v}} [:a :b $j]) | (get-in $m [$k :x] $i) | (contains? $m $k) | (contains? $e $j) | (not-empty $v)
(subvec [1 2 3 4 5 6 7 8 9 10] $j) | (subvec [1 2 3 4 5 6 7 8 9] $j 6) | (count $m) | (count $e) | (empty? $w)
(assoc-in $m [:x $k] $i) | (update $m $k (fnil inc 10)) | (update-in {:n $m} [:n :z] (fnil + 0) $i) | (assoc $v 0 $x)
(dissoc $m $k :a) | (disj $e $j $j) | (merge $m $m) | (merge-with + $m $m $m) | (merge-with vector $m $m)
(select-keys $m [:a $k]) | (update-vals $m $g) | (update-keys $m name) | (conj $m [$k $i]) | (conj $m $m) | (conj $e $j)
(cons $x $v) | (cons $i (rest $v)) | (concat $v $w $n) | (replace {1 :one 2 :two 3 nil} $v) | (replace [:z :y :x] [$j $j])
(map-indexed vector $w) | (keep-indexed (fn [i x] (when ($q i) x)) $v) | (mapcat reverse $n) | (mapcat #(range %) [$j $j])
(keep #(when ($q %) (* 10 %)) $v) | (map + $v $v) | (mapv vector $v $w) | (map $g $v) | (filterv $q $v) | (remove $q $v)
(reductions + $v) | (reductions conj [] $v) | (reductions max $i $v) | (reduce (fn [a x] (if (> x 9) (reduced a) (+ a x))) 0 $v)
(reduced? (reduced $x)) | (unreduced (reduced $x)) | (unreduced $x) | (reduce-kv (fn [a i x] (+ a (* i x))) 0 $v)
(take-nth $p $v) | (take-last $j $v) | (drop-last $j $v) | (drop-last $v) | (nthrest $v $j) | (nthnext $v $j)
(split-at $j $v) | (split-with $q $v) | (take-while $q $v) | (drop-while $q $v) | (partition $p $v) | (partition $p $p $v)
(partition $p $p [:x] $v) | (partition-all $p $v) | (partition-all $p $p $v) | (partition-by $q $v) | (dedupe [$j $j $j $j])
(sort > $v) | (sort-by - $v) | (sort-by count > $w) | (sort-by (juxt count identity) $w) | (group-by $q $v) | (group-by count $w)
(frequencies [$j $j $j $k]) | (distinct [$j $j $x $j]) | (flatten [$n [$v]]) | (interpose $k $v) | (interleave $v $w) | (reverse $n)
(some $q $v) | (every? $q $v) | (not-every? $q $v) | (not-any? $q $v) | (distinct? $i $i $j) | (run! inc $v) | (doall $v) | (dorun $v)
(apply + $i $v) | (apply max 0 $v) | (apply str $w) | (apply hash-map $w) | ((comp $g $g) $i) | ((partial map $g) $v)
((complement $q) $j) | ((every-pred $q $q) $j $j) | (boolean ((some-fn $q $q) $j)) | ((juxt $g $q) $j) | ((fnil $g 0) nil)
(walk/walk $g vec $v) | (walk/walk (fn [[k v]] [k (inc v)]) identity $m) | (walk/prewalk #(if (number? %) ($g %) %) {:a $v})
(walk/postwalk #(if (vector? %) (count %) %) $n) | (walk/prewalk-replace {1 :one :a :z} [$j {$k $j}])
(walk/postwalk-replace {1 [2] 2 :two} [$j [$j]]) | (walk/keywordize-keys [$o {:x $o}]) | (walk/stringify-keys {:q $m})
(tree-seq vector? seq $n) | (filter number? (tree-seq coll? seq [$v {:a $j}]))
(str/join $s $v) | (str/join $w) | (str/split $s #"$k") | (str/split $s #"-") | (str/split-lines "a\\nb\\r\\n$s") | (str/trim $s)
(str/replace $s "a" $s) | (str/replace $s #"[aeiou]" str/upper-case) | (str/replace-first $s #"(\\w)" "<$1>") | (str/reverse $s)
(str/escape $s {\\a "4" \\- "_"}) | (str/capitalize $s) | (str/includes? $s $s) | (str/starts-with? $s "a") | (str/index-of $s "a")
(str/index-of $s "a" $j) | (str/last-index-of $s "a") | (str/last-index-of $s "a" $j) | (str/blank? $s) | (str/trim-newline "x\\n\\r\\n")
(subs $s 0) | (str $s $x $k $i) | (pr-str $w $x) | (name $k) | (keyword "k$p") | (format "%5d|%-5d|%05d" $i $i $p) | (format "%s-%s" $s $k)
(format "%.2f %8.3f %e" $f $f $f) | (format "%x %o %X" $p $p $p) | (format "%,d %+d" (* 1000 $i) $i) | (format "%b %c" $x \\z) | (format "%10s|%-6s|" $s $s)
(re-find (re-pattern "a.") $s) | (re-seq #"[a-z]+" $s) | (re-matches #"(\\d)(\\d)?" $s) | (re-find #"(\\w)(-)?" $s)
(.length $s) | (.isEmpty $s) | (.trim $s) | (.indexOf $s "a") | (.lastIndexOf $s "a") | (.contains $s "an") | (.startsWith $s "a")
(.endsWith $s "a") | (.substring "hello world" $j) | (.substring $s $j) | (.charAt $s $j) | (.toUpperCase $s) | (.toLowerCase $s) | (.equalsIgnoreCase $s "AB")
(str (.plusDays (LocalDate/of $l) $i)) | (str (.minusDays (LocalDate/of $l) $i)) | (.toEpochDay (LocalDate/of $l)) | (.isBefore (LocalDate/of $l) (LocalDate/of $l))
(.isAfter (LocalDate/of $l) (LocalDate/of $l)) | (str (Instant/ofEpochMilli $i$p$p$p)) | (.toEpochMilli (Instant/parse "2024-0$p-0$pT1$j:0$p:0$pZ"))
(str (Duration/between (Instant/ofEpochMilli $i) (Instant/ofEpochMilli $p$p$p$p$p))) | (.toMillis (Duration/ofMillis $i)) | (.toDays (Duration/ofMillis $i$p$p$p$p$p$p))
(.getTime (java.util.Date. $p)) | (.before (java.util.Date. $p) (java.util.Date. $p)) | (.after (java.util.Date. $p) (java.util.Date. $p))
(pmap $g $v) | (pmap + $v $v) | (pcalls (fn [] $i) (fn [] $k)) | (let [[a [b & c] :as d] [$i $v]] [a b c d])
(let [{:keys [a b] :or {b $i} :as m} $m] [a b m]) | (let [{x :a {y :z} :b} {:a $i :b {:z $k}}] [x y]) | (let [{:strs [a id]} $o] [a id])
(let [[a b & {:keys [c] :or {c $i}}] [1 2 :c $j]] [a b c]) | (let [{[a b] :v} {:v $v}] [b a]) | (let [{b 1 :or {b $k}} $v] b)
((fn [a & r] [a r]) $i $k $x) | ((fn [& {:keys [a b]}] [a b]) :a $i) | ((fn f [n] (if (< n 2) 1 (* n (f (dec n))))) $p) | (#(+ %1 (* 2 %2)) $i $i) | (#(count %&) $i $x)
(when-not $b $i) | (when-some [x $b] [x]) | (if-some [x $b] [x] :none) | (when-let [x $b] [x]) | (if-let [[a] (seq $v)] a :empty) | (when-first [x $v] [x])
(do (defonce d $i) (defonce d $k) d) | (do (declare d) (def d $x) d) | (do (def n 0) (doseq [x $v :when ($q x)] (def n (+ n x))) n) | (do (def n 0) (dotimes [i $j] (def n (+ n i))) n)
(comment $x) | (quote $x) | '[a $i {:b c}] | '$k | (case '$k :a 1 :b 2 3) | (case $s "a" 1 ("ab" "12") 2 :other) | (case $j 0 :zero (1 2) :few) | (cond ($q $j) 1 ($q $j) 2)
(condp = $j 1 :one 2 :two) | (condp some [$j $j] #{1 2} :>> inc :none) | (cond-> $i $b inc true (* 2)) | (cond->> $v $b (map inc) ($q 1) (filter $q)) | (some-> $m :a inc) | (some->> $v first (+ 1))
(for [x $v :let [y ($g x)] :when ($q y)] y) | (for [x [1 2 3] y $v :while (> y x)] [x y]) | (for [[k v] (sort $m)] [v k]) | (loop [i $j acc []] (if (zero? i) acc (recur (dec i) (conj acc i))))
(-> $m (assoc :z $i) (dissoc $k) count) | (->> $v (map $g) (filter $q) (reduce +)) | (as-> $v x (map inc x) (count x)) | (and $b $x $b) | (or $b $b $x) | (do $x $i)
(set/map-invert $m) | (set/rename-keys $m {:a :aa :b :bb}) | (set/subset? $e $e) | (set/superset? $e $e) | (set/select $q $e) | (set/union $e $e $e) | (set/difference $e $e) | (set/intersection $e $e)
(set/project #{{:a $j :b $j} {:a $j :c $j}} [:a]) | (set/index #{{:a $j :b 1} {:a $j :b 2}} [:a]) | (set/join #{{:a $j :b 1}} #{{:a $j :c 2}})
`
    .trim()
    .split(/\n| \| /),
);

function fill(template: string, random: Random): string {
  return template.replace(/\$([a-z])/g, (_, letter: string) => {
    const hole = HOLES[letter];
    if (hole === undefined) throw new Error(`${template} has an unknown hole ${letter}`);
    return hole(random);
  });
}

/** The programs of `seed`: `each` fillings of every template, as far as they differ. */
export function generateTemplatePrograms(seed: number, each: number): string[] {
  const random = createRandom(seed);
  return [
    ...new Set(
      TEMPLATES.flatMap((template) => Array.from({ length: each }, () => fill(template, random))),
    ),
  ];
}
