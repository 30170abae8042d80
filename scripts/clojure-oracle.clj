;; Evaluates programs with real Clojure and prints their answers in the canonical form.
;;
;; Input: one program a line on standard input, as a string literal. Output: one line for each,
;; either `value "…"`, `ratio ""`, `unprintable "java.lang.ClassName"` or `error "java.lang.ClassName"`,
;; again as string literals.
;;
;; The canonical form is what the language itself prints: sequences of any kind as vectors, characters
;; as strings, sets and maps in the fixed order of the language and without commas, floats in the
;; fewest digits. Ratios and decimals have no counterpart; an answer that holds one is `ratio`.

(ns oracle
  (:require [clojure.set] [clojure.string :as str] [clojure.walk]))

(defn code-points [s] (vec (.toArray (.codePoints ^String s))))

(defn rank [x]
  (cond
    (number? x) 0
    (nil? x) 1
    (false? x) 2
    (true? x) 3
    (keyword? x) 4
    (symbol? x) 5
    (map? x) 9
    (set? x) 10
    (sequential? x) 11
    (or (string? x) (char? x)) 12
    :else 7))

(declare fixed-compare)

(defn compare-all [xs ys]
  (or (first (remove zero? (map fixed-compare xs ys))) 0))

(defn compare-texts [x y]
  (let [by-text (compare-all (code-points x) (code-points y))]
    (if (zero? by-text) (compare (count x) (count y)) by-text)))

(defn sorted-items [coll] (sort fixed-compare (seq coll)))

(defn compare-numbers [x y]
  (let [nan? #(and (double? %) (Double/isNaN %))]
    (cond
      (and (nan? x) (nan? y)) 0
      (nan? x) 1
      (nan? y) -1
      (== x y) (compare (if (integer? x) 0 1) (if (integer? y) 0 1))
      (< x y) -1
      :else 1)))

(defn fixed-compare [x y]
  (let [by-rank (compare (rank x) (rank y))]
    (if-not (zero? by-rank)
      by-rank
      (case (int (rank x))
        0 (compare-numbers x y)
        (4 5) (compare-texts (name x) (name y))
        (9 10) (let [by-size (compare (count x) (count y))]
                 (if (zero? by-size) (compare-all (sorted-items x) (sorted-items y)) by-size))
        11 (let [by-size (compare (count x) (count y))]
             (if (zero? by-size) (compare-all x y) by-size))
        12 (compare-texts (str x) (str y))
        0))))

;; The fewest digits that read back the same: Double/toString of Java before 19 may give more.
(defn shortest-digits [^double x]
  (let [texts (map #(String/format java.util.Locale/ROOT (str "%." % "e") (to-array [x])) (range 17))]
    (BigDecimal. ^String (first (filter #(== x (Double/parseDouble %)) texts)))))

(defn print-double [^double x]
  (cond
    (Double/isNaN x) "##NaN"
    (Double/isInfinite x) (if (pos? x) "##Inf" "##-Inf")
    (zero? x) (if (neg? (/ 1.0 x)) "-0.0" "0.0")
    :else
    (let [digits (.stripTrailingZeros ^BigDecimal (shortest-digits x))
          size (Math/abs x)]
      (if (and (<= 1e-3 size) (< size 1e16))
        (let [text (.toPlainString digits)]
          (if (str/includes? text ".") text (str text ".0")))
        (let [unscaled (str (.abs (.unscaledValue digits)))
              exponent (- (dec (count unscaled)) (.scale digits))]
          (str (when (neg? x) "-") (subs unscaled 0 1) "."
               (if (= 1 (count unscaled)) "0" (subs unscaled 1)) "E" exponent))))))

(defn print-string [s]
  (str \"
       (str/join
        (map (fn [c]
               (case c
                 \" "\\\""
                 \\ "\\\\"
                 \newline "\\n"
                 \return "\\r"
                 \tab "\\t"
                 (if (< (int c) 32) (format "\\u%04X" (int c)) (str c))))
             s))
       \"))

(defn print-canonical [x]
  (cond
    (nil? x) "nil"
    (boolean? x) (str x)
    (or (ratio? x) (decimal? x)) (throw (ex-info "ratio" {::ratio true}))
    (integer? x) (str (biginteger x))
    (number? x) (print-double (double x))
    (or (string? x) (char? x)) (print-string (str x))
    (keyword? x) (str x)
    (symbol? x) (str \' x)
    (map? x) (str "{" (str/join " " (mapcat #(map print-canonical %) (sorted-items x))) "}")
    (set? x) (str "#{" (str/join " " (map print-canonical (sorted-items x))) "}")
    (sequential? x) (str "[" (str/join " " (map print-canonical x)) "]")
    :else (throw (ex-info "unprintable" {::unprintable (.getName (class x))}))))

(defn class-of [^Throwable e]
  (let [cause (loop [e e] (if-let [inner (.getCause e)] (recur inner) e))]
    ;; Overflow and division by zero share a class, and only one of them has a counterpart.
    (if (instance? ArithmeticException cause)
      (str (.getName (class cause)) ": " (.getMessage cause))
      (.getName (class cause)))))

;; What the language also has without `str/`, and core does not have.
(def bare-text-names
  '[blank? capitalize ends-with? includes? index-of join last-index-of lower-case replace-first split
    split-lines starts-with? trim trim-newline triml trimr upper-case])

;; Every form of a program; a closer too many is an error.
(defn read-forms [source]
  (let [reader (java.io.PushbackReader. (java.io.StringReader. source))]
    (loop [forms []]
      (let [form (read {:eof ::end} reader)]
        (if (= form ::end) forms (recur (conj forms form)))))))

(defn evaluate [source]
  (let [space (create-ns (gensym "program"))]
    (try
      (binding [*ns* space *out* (java.io.StringWriter.)]
        (refer-clojure)
        (refer 'clojure.string :only bare-text-names)
        (refer 'clojure.walk)
        (import '(java.time Duration Instant LocalDate))
        (alias 'str 'clojure.string)
        (alias 'set 'clojure.set)
        (alias 'walk 'clojure.walk)
        (let [answer (eval (cons 'do (read-forms source)))]
          (str "value " (pr-str (print-canonical answer)))))
      (catch Throwable e
        (cond
          (::ratio (ex-data e)) "ratio \"\""
          (::unprintable (ex-data e)) (str "unprintable " (pr-str (::unprintable (ex-data e))))
          :else (str "error " (pr-str (class-of e)))))
      (finally (remove-ns (ns-name space))))))

(doseq [line (line-seq (java.io.BufferedReader. *in*))]
  (println (evaluate (read-string line))))

;; `pmap` leaves threads behind that keep the process alive for a minute.
(shutdown-agents)
