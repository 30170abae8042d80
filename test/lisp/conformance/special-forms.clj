; def, defonce, defn, declare

(do (def x 5) (inc x)) ;=> 6
(do (def x "a number" 5) x) ;=> 5
(do (def x 1) (def x 2) x) ;=> 2
(def x nil) ;=> #'x
(def x) ;=! arity_error
(def) ;=! invalid_form
(def 5 1) ;=! invalid_form
(def "x" 1) ;=! invalid_form
(def x 1 2) ;=! invalid_form
(do (defonce y 1) (defonce y 2) y) ;=> 1
(do (def y 1) (defonce y (undefined)) y) ;=! unbound_var
(do (def y 1) (defonce y (quot 1 0)) y) ;=> 1
(defonce y 1) ;=> #'y
(defonce y) ;=! arity_error
(do (defn sq [x] (* x x)) (sq 4)) ;=> 16
(do (defn sq "squares" [x] (* x x)) (sq 4)) ;=> 16
(do (defn f [] 1) (f)) ;=> 1
(do (defn f []) (f)) ;=> nil
(do (defn f [x] 1 2 x) (f 3)) ;=> 3
(do (defn fact [n] (if (< n 2) 1 (* n (fact (dec n))))) (fact 20)) ;=> 2432902008176640000
(do (defn- g [x] (inc x)) (g 1)) ;=> 2
(do (defn f [x & more] [x more]) (f 1)) ;=> [1 nil]
(do (defn f [x & more] [x more]) (f 1 2 3)) ;=> [1 [2 3]]
(do (defn f [{:keys [a]}] a) (f {:a 1})) ;=> 1
(do (defn f [[a b]] (+ a b)) (f [1 2])) ;=> 3
(do (defn f [x] {:pre [(pos? x)]} x) (f -1)) ;=> -1
(do (defn f [x] (inc x)) (f)) ;=! arity_error
(do (defn f [x] (inc x)) (f 1 2)) ;=! arity_error
(defn f ([x] x) ([x y] y)) ;=! invalid_form
(defn f) ;=! invalid_form
(defn f x) ;=! invalid_form
(defn [x] x) ;=! invalid_form
(do (defn even2? [n] (if (= n 0) true (odd2? (dec n)))) (defn odd2? [n] (if (= n 0) false (even2? (dec n)))) (even2? 10)) ;=> true
(do (declare z) (def z 3) z) ;=> 3
(do (declare a b) nil) ;=> nil
(declare z) ;=> nil
(do (declare z) z) ;=! unbound_var
(do (declare g) (defn f [x] (g x)) (defn g [x] (* 2 x)) (f 4)) ;=> 8
(do (defn f [] later) (def later 7) (f)) ;=> 7
later (def later 7) ;=! unbound_var
(do (defn f [] (def inner 5)) (f) inner) ;=> 5
(do (def inc dec) (inc 5)) ;=> 4
(do (def f inc) (defn g [] (f 1)) (def f dec) (g)) ;=> 0
(if true (def only-here 1) nil) ;=> #'only-here

; fn and #()

((fn [a & r] [a r]) 1 2 3) ;=> [1 [2 3]]
((fn [a & r] [a r]) 1) ;=> [1 nil]
((fn [] 1)) ;=> 1
((fn [])) ;=> nil
((fn [x] x) nil) ;=> nil
((fn [& all] all)) ;=> nil
((fn [& all] all) 1 2) ;=> [1 2]
((fn fact [n] (if (< n 2) 1 (* n (fact (dec n))))) 5) ;=> 120
((fn [x] 1 2 (inc x)) 1) ;=> 2
((fn [& {:keys [a]}] a) :a 1) ;=> 1
((fn [& {:keys [a b]}] [a b]) {:a 1 :b 2}) ;=> [1 2]
((fn [x & {:keys [a] :or {a 9}}] [x a]) 1) ;=> [1 9]
((fn [[a b] {:keys [c]}] [a b c]) [1 2] {:c 3}) ;=> [1 2 3]
((fn [x x] x) 1 2) ;=> 2
((fn [x] x)) ;=! arity_error
((fn [x] x) 1 2) ;=! arity_error
((fn [x & r] x)) ;=! arity_error
(fn ([x] x) ([x y] y)) ;=! invalid_form
(fn) ;=! invalid_form
(fn x) ;=! invalid_form
(fn [5] 1) ;=! invalid_form
(fn [&] 1) ;=! invalid_form
(fn [& a b] 1) ;=! invalid_form
(#(+ %1 (* 10 %2)) 1 2) ;=> 21
(#(inc %) 1) ;=> 2
(#(do 5)) ;=> 5
(#(vector %&)) ;=> [nil]
(#(vector % %&) 1 2 3) ;=> [1 [2 3]]
(#(vector %2) 1 2) ;=> [2]
(#(vector %2) 1) ;=! arity_error
(#(inc %)) ;=! arity_error
(map #(* % %) [1 2 3]) ;=> [1 4 9]
(#(get {:a %} :a) 5) ;=> 5
(#(#(inc %) %) 1) ;=! invalid_form
(let [n 10] (map #(+ n %) [1 2])) ;=> [11 12]
(((fn [a] (fn [b] (+ a b))) 1) 2) ;=> 3
(let [add (fn [n] #(+ n %))] ((add 5) 1)) ;=> 6
(map (fn [[k v]] [v k]) {:a 1 :b 2}) ;=> [[1 :a] [2 :b]]

; let

(let [[a b] [1 2] c (+ a b)] c) ;=> 3
(let [] 1) ;=> 1
(let [x 1]) ;=> nil
(let [x 1 x (inc x)] x) ;=> 2
(let [x 1] (let [x 2] x) x) ;=> 1
(let [x 1 y x] [x y]) ;=> [1 1]
(let [inc dec] (inc 5)) ;=> 4
(let [x]) ;=! invalid_form
(let [x 1 y] x) ;=! invalid_form
(let x 1) ;=! invalid_form
(let) ;=! invalid_form
(let [5 1] 1) ;=! invalid_form
(let [:a 1] 1) ;=! invalid_form
(let [y x] y) ;=! unbound_var
(let [when 1] when) ;=> 1

; loop and recur

(loop [i 0 s 0] (if (< i 4) (recur (inc i) (+ s i)) s)) ;=> 6
(loop [] 1) ;=> 1
(loop [[a & r] [1 2 3] s 0] (if a (recur r (+ s a)) s)) ;=> 6
((fn [n acc] (if (zero? n) acc (recur (dec n) (* acc n)))) 5 1) ;=> 120
(do (defn f [n] (if (pos? n) (recur (dec n)) :done)) (f 100)) ;=> :done
(loop [i 0] (when (< i 3) (recur (inc i)))) ;=> nil
(loop [i 0] (cond (> i 3) i :else (recur (inc i)))) ;=> 4
(loop [i 0] (let [j (inc i)] (if (> j 3) j (recur j)))) ;=> 4
(loop [i 0] (do 1 (if (< i 2) (recur (inc i)) i))) ;=> 2
(loop [i 0] (case i 3 :three (recur (inc i)))) ;=> :three
(loop [i 0] (and true (or (when (> i 2) i) (recur (inc i))))) ;=> 3
(loop [i 0] (if (< i 10000) (recur (inc i)) i)) ;=> 10000
(loop [i 0] (if (< i 10001) (recur (inc i)) i)) ;=! loop_limit_exceeded
(loop [] (recur)) ;=! loop_limit_exceeded
(loop [i 0] (recur)) ;=! invalid_form
(loop [i 0] (recur 1 2)) ;=! invalid_form
(loop [i 0] (inc (recur 1))) ;=! invalid_form
(loop [i 0] (recur 1) i) ;=! invalid_form
(loop [i 0] [(recur 1)]) ;=! invalid_form
(recur 1) ;=! invalid_form
(fn [x] (map (fn [y] (recur 1)) [x])) ;=> #fn
(loop [x]) ;=! invalid_form
(loop) ;=! invalid_form

; if, if-not, when, when-not

(if true 1 2) ;=> 1
(if false 1 2) ;=> 2
(if nil 1 2) ;=> 2
(if nil 1) ;=> nil
(if 0 1 2) ;=> 1
(if true (quot 4 2) (quot 1 0)) ;=> 2
(if) ;=! invalid_form
(if true) ;=! invalid_form
(if 1 2 3 4) ;=! invalid_form
(if-not nil 1) ;=> 1
(if-not true 1 2) ;=> 2
(if-not true 1) ;=> nil
(if-not) ;=! invalid_form
(when true) ;=> nil
(when true 1 2) ;=> 2
(when false 1) ;=> nil
(when nil (quot 1 0)) ;=> nil
(when) ;=! invalid_form
(when-not false 1 2) ;=> 2
(when-not 1 2) ;=> nil
(when-not) ;=! invalid_form

; if-let, when-let, if-some, when-some, when-first

(if-let [[a] [7]] a 0) ;=> 7
(if-let [x 5] (inc x) 0) ;=> 6
(if-let [x nil] x 0) ;=> 0
(if-let [x false] x 0) ;=> 0
(if-let [x nil] x) ;=> nil
(if-let [{:keys [a]} {:a 1}] a :none) ;=> 1
(if-let [[a b] nil] a :none) ;=> :none
(if-let [x 1 y 2] x y) ;=! invalid_form
(if-let [x] 1) ;=! invalid_form
(if-let x 1) ;=! invalid_form
(when-let [x nil] 1) ;=> nil
(when-let [x 2] (inc x)) ;=> 3
(when-let [x false] 1) ;=> nil
(when-let [x 1 y 2] x) ;=! invalid_form
(if-some [x false] [x] 0) ;=> [false]
(if-some [x nil] [x] 0) ;=> 0
(if-some [x 1] x) ;=> 1
(if-some [x nil] x) ;=> nil
(when-some [x 2] x) ;=> 2
(when-some [x false] x) ;=> false
(when-some [x nil] 1) ;=> nil
(when-first [x [7 8]] x) ;=> 7
(when-first [x []] 1) ;=> nil
(when-first [x nil] 1) ;=> nil
(when-first [x [nil 1]] :bound) ;=> :bound
(when-first [x "ab"] x) ;=> "a"
(when-first [[a b] [[1 2]]] b) ;=> 2
(when-first [x 5] x) ;=! type_error

; cond, case, condp

(cond (> 1 2) :a :else :b) ;=> :b
(cond) ;=> nil
(cond false 1) ;=> nil
(cond nil 1 false 2) ;=> nil
(cond true 1 true 2) ;=> 1
(cond false (quot 1 0) :else 2) ;=> 2
(cond 5 :truthy) ;=> :truthy
(cond true) ;=! invalid_form
(cond 1 2 3) ;=! invalid_form
(case 3 1 :one (2 3) :few) ;=> :few
(case 1 1 :one 2 :two) ;=> :one
(case 9 1 :one :other) ;=> :other
(case 9 1 :one) ;=! runtime_error
(case "a" "a" 1 2) ;=> 1
(case :k :k 1 2) ;=> 1
(case nil nil :nil :other) ;=> :nil
(case true true 1 false 2) ;=> 1
(case [1 2] [1 2] :vec :other) ;=> :vec
(case {:a 1} {:a 1} :map :other) ;=> :map
(case 1.0 1 :one :other) ;=> :one
(case 'a a 1 2) ;=> 1
(case "x" ("x" "y") 1 2) ;=> 1
(case \a "a" 1 2) ;=> 1
(case 5 :default) ;=> :default
(case 1 1 (inc 1) (quot 1 0)) ;=> 2
(case 1 1 :a 1 :b) ;=! duplicate_key
(case 1 (1 2) :a 2 :b) ;=! duplicate_key
(case 1) ;=! runtime_error
(case) ;=! invalid_form
(condp = 2 1 :a 2 :b) ;=> :b
(condp = 3 1 :a :none) ;=> :none
(condp = 3 1 :a 2 :b) ;=! runtime_error
(condp < 5 10 :big 3 :small) ;=> :small
(condp some [1 2 3] #{0 6} :>> inc #{2 4} :>> dec) ;=> 1
(condp = 1 1 :>> str) ;=> "true"
(condp = 1) ;=! runtime_error

; do, comment

(do 1 2) ;=> 2
(do) ;=> nil
(comment (boom)) ;=> nil
(comment) ;=> nil
(comment ) ;=> nil
[(comment 1)] ;=> [nil]

; and, or

(and 1 nil 2) ;=> nil
(and 1 2 3) ;=> 3
(and) ;=> true
(and false (quot 1 0)) ;=> false
(and nil) ;=> nil
(and 1) ;=> 1
(or nil false 3) ;=> 3
(or) ;=> nil
(or nil false) ;=> false
(or false nil) ;=> nil
(or 1 (quot 1 0)) ;=> 1
(or never-defined {}) ;=> {}
(or never-defined) ;=> nil
(and never-defined 1) ;=! unbound_var
(or (inc never-defined) 1) ;=! unbound_var

; Threading

(-> 5 (- 1) inc) ;=> 5
(-> 5) ;=> 5
(-> {:a {:b 1}} :a :b) ;=> 1
(-> 10 (/ 4) (* 2)) ;=> 5.0
(-> [1 2] (conj 3) count) ;=> 3
(-> 1 (inc)) ;=> 2
(-> "a" (str "b") (str "c")) ;=> "abc"
(-> 3 ((fn [x] (* x x)))) ;=> 9
(-> 3 (#(+ % 1))) ;=> 4
(-> 3 (inc 5)) ;=! arity_error
(->) ;=! invalid_form
(->> [1 2] (map inc)) ;=> [2 3]
(->> 5) ;=> 5
(->> (range 10) (filter even?) (map inc) (reduce +)) ;=> 25
(->> 2 (- 10)) ;=> 8
(->> [3 1 2] sort first) ;=> 1
(->>) ;=! invalid_form
(as-> 5 x (* x x)) ;=> 25
(as-> 5 x (inc x) (* 2 x)) ;=> 12
(as-> 5 x) ;=> 5
(as-> {:a [1 2]} m (:a m) (first m)) ;=> 1
(cond-> 1 true inc false dec) ;=> 2
(cond-> 1) ;=> 1
(cond-> 1 true (+ 5) true (* 2)) ;=> 12
(cond-> {} true (assoc :a 1) nil (assoc :b 2)) ;=> {:a 1}
(cond-> 1 true) ;=! invalid_form
(cond->> [1] true (map inc)) ;=> [2]
(cond->> [1 2 3] true (filter odd?) false (map inc)) ;=> [1 3]
(cond->> [1] true) ;=! invalid_form
(some-> {:a nil} :a inc) ;=> nil
(some-> {:a 1} :a inc) ;=> 2
(some-> nil inc) ;=> nil
(some-> 5) ;=> 5
(some-> false not) ;=> true
(some-> {:a {:b 2}} :a :b (+ 10)) ;=> 12
(some->> [1] (map inc)) ;=> [2]
(some->> nil (map inc)) ;=> nil
(some->> 5 (- 10)) ;=> 5

; for, doseq, dotimes

(for [x [1 2 3] :when (odd? x) y [:a]] [x y]) ;=> [[1 :a] [3 :a]]
(for [x [1 2]] (* x 10)) ;=> [10 20]
(for [x []] x) ;=> []
(for [x nil] x) ;=> []
(for [x [1 2] y [3 4]] [x y]) ;=> [[1 3] [1 4] [2 3] [2 4]]
(for [x (range 10) :while (< x 3)] x) ;=> [0 1 2]
(for [x [1 2] :let [y (* x x)]] y) ;=> [1 4]
(for [x [1 2 3] :let [y (* x x)] :when (odd? y)] [x y]) ;=> [[1 1] [3 9]]
(for [x [1 2 3] y (range x) :when (even? (+ x y))] [x y]) ;=> [[2 0] [3 1]]
(for [x (range 3) y (range 10) :while (< y x)] [x y]) ;=> [[1 0] [2 0] [2 1]]
(for [[k v] {:a 1 :b 2}] [v k]) ;=> [[1 :a] [2 :b]]
(for [{:keys [a]} [{:a 1} {:a 2}]] a) ;=> [1 2]
(for [c "ab"] c) ;=> ["a" "b"]
(for [x #{2 1}] x) ;=> [1 2]
(for [x [1 2]] 1 x) ;=> [1 2]
(for [x 5] x) ;=! type_error
(for [x] x) ;=! invalid_form
(for x x) ;=! invalid_form
(for [x [1] :unless true] x) ;=! invalid_form
(for [:when true] 1) ;=! invalid_form
(do (def n 0) (doseq [x [1 2]] (def n (+ n x))) n) ;=> 3
(doseq [x [1 2]] x) ;=> nil
(doseq [x []] x) ;=> nil
(do (def n []) (doseq [x [1 2 3] :when (odd? x) y [:a :b]] (def n (conj n [x y]))) n) ;=> [[1 :a] [1 :b] [3 :a] [3 :b]]
(doseq [x 5] x) ;=! type_error
(doseq [x] x) ;=! invalid_form
(do (def k 0) (dotimes [i 3] (def k (+ k i))) k) ;=> 3
(dotimes [i 3] i) ;=> nil
(dotimes [i 0] (quot 1 0)) ;=> nil
(dotimes [i -1] (quot 1 0)) ;=> nil
(dotimes [i "a"] 1) ;=! type_error
(dotimes [i] 1) ;=! invalid_form
(dotimes i 1) ;=! invalid_form

; (take n (range a b step)) written directly

(take 3 (range 1 5 0)) ;=> [1 1 1]
(take 0 (range 1 5 0)) ;=> []
(range 1 5 0) ;=! runtime_error
(take 2 (range 0 10 3)) ;=> [0 3]

; Special forms are not values

if ;=! invalid_form
(map if [1]) ;=! invalid_form
(let [f let] f) ;=! invalid_form

; Ending a program

(return 5) ;=> 5
(do (return 1) 2) ;=> 1
(map (fn [x] (if (= x 2) (return [:found x]) x)) [1 2 3]) ;=> [:found 2]
(loop [i 0] (if (= i 5) (return i) (recur (inc i)))) ;=> 5
(some-> 3 return) ;=> 3
(reduce (fn [a x] (if (neg? x) (return a) (+ a x))) 0 [1 2 -1 5]) ;=> 3
(return) ;=! arity_error
(return 1 2) ;=! arity_error
(fail) ;=! arity_error

; Branches without effects

(pmap inc [1 2]) ;=> [2 3]
(pmap + [1 2] [10 20 30]) ;=> [11 22]
(pmap inc []) ;=> []
(pmap inc nil) ;=> []
(pmap :a [{:a 1} {:a 2}]) ;=> [1 2]
(pmap (fn [x] (pmap inc [x])) [1 2]) ;=> [[2] [3]]
(pmap inc 5) ;=! type_error
(pmap inc) ;=! arity_error
(pmap inc [1 "a"]) ;=! pmap_error
(pmap (fn [x] (return x)) [1]) ;=! pmap_error
(do (def n 1) (pmap (fn [x] (def n x) n) [5 6]) n) ;=> 1
(pcalls (fn [] 1) (fn [] 2)) ;=> [1 2]
(pcalls (fn [] (quot 1 0))) ;=! pcalls_error
(pcalls (fn [x] x)) ;=! pcalls_error

; attempt does not recover the program's own faults

(attempt 5) ;=> {:ok 5}
(attempt nil) ;=> {:ok nil}
(attempt (quot 1 0)) ;=! arithmetic_error
(attempt (inc "a")) ;=! type_error
(attempt (loop [] (recur))) ;=! loop_limit_exceeded
(attempt (return 3)) ;=> 3
(attempt) ;=! arity_error
(attempt 1 2) ;=! arity_error

; task

(task :a (+ 1 2)) ;=> 3
(do (task :a 1) (task :a 2)) ;=> 1
(do (task "x" 1) (task-reset "x") (task "x" 2)) ;=> 2
(task-reset :never) ;=> nil
(task :a) ;=! arity_error
(step-done :s1 "did it") ;=> "did it"

; History, context, budget

*1 ;=> nil
[*1 *2 *3] ;=> [nil nil nil]
data/missing ;=> nil
(data/rows) ;=! not_callable
(budget/remaining) ;=> {}
(tool/unknown {:a 1}) ;=! unknown_tool
(map tool/unknown [{}]) ;=! unknown_tool

; Effects are functions

(map fn? [ask sleep now pmap pcalls return fail]) ;=> [true true true true true true true]
