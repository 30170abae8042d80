; Unknown names

totl ;=! unbound_var
(totl 1) ;=! unbound_var
(let [x y] x) ;=! unbound_var
[1 missing] ;=! unbound_var
{:a missing} ;=! unbound_var
(fn [] missing) ;=! unbound_var
(str/capitalise "a") ;=! invalid_form
(http/get "x") ;=! invalid_form
str/nope ;=! invalid_form
foo/bar ;=! invalid_form
Math/nope ;=! invalid_form

; Namespaces and their aliases

(clojure.core/inc 1) ;=> 2
(core/inc 1) ;=> 2
(clojure.string/upper-case "a") ;=> "A"
(string/upper-case "a") ;=> "A"
(str/upper-case "a") ;=> "A"
(clojure.set/union #{1} #{2}) ;=> #{1 2}
(set/union #{1} #{2}) ;=> #{1 2}
(clojure.walk/postwalk identity [1]) ;=> [1]
(walk/postwalk identity [1]) ;=> [1]
(regex/re-find #"a" "ba") ;=> "a"
(json/parse-string "1") ;=> 1
(map str/upper-case ["a"]) ;=> ["A"]
(java.time.LocalDate/parse "2024-01-02") ;=> #date[2024-01-02]

; A local hides a builtin, not a namespaced name

(let [str 5] str) ;=> 5
(let [str (fn [x] [x])] (str 1)) ;=> [1]
(let [str 5] (str/upper-case "a")) ;=> "A"
(let [count 3] (+ count 1)) ;=> 4
(let [map {:a 1}] (map :a)) ;=> 1
(do (def first last) (first [1 2])) ;=> 2

; Absent names

(try 1) ;=! unbound_var
(throw 1) ;=! unbound_var
(atom 1) ;=! unbound_var
(deref 1) ;=! unbound_var
(swap! x inc) ;=! unbound_var
(binding [x 1] x) ;=! unbound_var
(ns foo) ;=! unbound_var
(require '[x]) ;=! unbound_var
(defmacro m [] 1) ;=! unbound_var
(eval '(+ 1 2)) ;=! unbound_var
(read-string "1") ;=! unbound_var
(defmulti f :a) ;=! unbound_var
(defprotocol P) ;=! unbound_var
(defrecord R [a]) ;=! unbound_var
(lazy-seq [1]) ;=! unbound_var
(iterate inc 1) ;=! unbound_var
(cycle [1]) ;=! unbound_var
(transduce + [1]) ;=! unbound_var
(eduction [1]) ;=! unbound_var
(while true 1) ;=! unbound_var
(letfn [(f [] 1)] (f)) ;=! unbound_var
(doto {} (assoc :a 1)) ;=! unbound_var
(rand) ;=! unbound_var
(rand-int 5) ;=! unbound_var
(shuffle [1]) ;=! unbound_var
(random-uuid) ;=! unbound_var
(gensym) ;=! unbound_var
(slurp "f") ;=! unbound_var
(print 1) ;=! unbound_var
(list? [1]) ;=! unbound_var
(bigint 1) ;=! unbound_var
(len [1]) ;=! unbound_var
(length [1]) ;=! unbound_var
(append [1] 2) ;=! unbound_var
(forEach [1]) ;=! unbound_var
(strip "a") ;=! unbound_var
(substring "a" 1) ;=! unbound_var
(lambda [x] x) ;=! unbound_var
null ;=! unbound_var
None ;=! unbound_var
(do (defn len [x] (count x)) (len [1 2])) ;=> 2
(do (defn substring [s n] (subs s n)) (substring "abc" 1)) ;=> "bc"

; Ordinary names that are dangerous elsewhere

(let [constructor 1] constructor) ;=> 1
(def constructor 1) ;=> #'constructor
(do (def __proto__ 5) __proto__) ;=> 5
(do (def toString 6) toString) ;=> 6
(get {} "constructor") ;=> nil
(get {} "__proto__") ;=> nil
(:toString {}) ;=> nil
(:constructor {}) ;=> nil
{"__proto__" {"x" 1}} ;=> {"__proto__" {"x" 1}}
(get {"__proto__" 1} "__proto__") ;=> 1
(assoc {} "__proto__" 1) ;=> {"__proto__" 1}
(keys {:hasOwnProperty 1 :valueOf 2}) ;=> [:hasOwnProperty :valueOf]
(contains? {} "toString") ;=> false
(let [{:keys [constructor prototype]} {}] [constructor prototype]) ;=> [nil nil]
constructor ;=! unbound_var
__proto__ ;=! unbound_var
(.constructor "a") ;=! invalid_form
data/constructor ;=> nil
