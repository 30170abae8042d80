; apply

(apply + 1 [2 3]) ;=> 6
(apply + [1 2 3]) ;=> 6
(apply + nil) ;=> 0
(apply str nil) ;=> ""
(apply str "abc") ;=> "abc"
(apply + 1 2 [3]) ;=> 6
(apply max #{1 3 2}) ;=> 3
(apply vector {:a 1}) ;=> [[:a 1]]
(apply (fn [& xs] (count xs)) [1 2 3]) ;=> 3
(apply hash-map [:a 1 :b 2]) ;=> {:a 1 :b 2}
(apply map vector [[1 2] [3 4]]) ;=> [[1 3] [2 4]]
(apply + 5) ;=! type_error
(apply inc []) ;=! arity_error
(apply inc [1 2]) ;=! arity_error
(apply 5 [1]) ;=! not_callable
(apply +) ;=! arity_error

; comp, partial, complement, constantly

((comp inc abs) -5) ;=> 6
((comp) 5) ;=> 5
((comp inc) 1) ;=> 2
((comp str inc +) 1 2) ;=> "4"
((comp :b :a) {:a {:b 1}}) ;=> 1
(map (comp inc :n) [{:n 1} {:n 2}]) ;=> [2 3]
((partial + 1) 2) ;=> 3
((partial + 1 2) 3 4) ;=> 10
((partial +)) ;=> 0
((partial str "a") "b") ;=> "ab"
(map (partial * 2) [1 2]) ;=> [2 4]
((partial get {:a 1}) :a) ;=> 1
(partial) ;=! arity_error
((complement nil?) 1) ;=> true
((complement even?) 2) ;=> false
(filter (complement #{1}) [1 2]) ;=> [2]
((constantly 5) 1 2) ;=> 5
((constantly nil)) ;=> nil
(map (constantly 0) [1 2]) ;=> [0 0]

; every-pred, some-fn, juxt, fnil

((every-pred pos? even?) 4) ;=> true
((every-pred pos? even?) 3) ;=> false
((every-pred pos?) 1 2 3) ;=> true
((every-pred pos?) 1 -2) ;=> false
((every-pred :a) {:a 5}) ;=> true
((every-pred pos?)) ;=> true
((some-fn :a :b) {:b 2}) ;=> 2
((some-fn :a :b) {}) ;=> nil
((some-fn even? neg?) 3) ;=> false
((some-fn even?) 1 2) ;=> true
((juxt inc dec) 5) ;=> [6 4]
((juxt :a :b) {:a 1 :b 2}) ;=> [1 2]
((juxt + -) 5 3) ;=> [8 2]
((juxt first count) [1 2]) ;=> [1 2]
(map (juxt identity str) [1 2]) ;=> [[1 "1"] [2 "2"]]
(juxt) ;=! arity_error
((fnil + 1 2) nil nil) ;=> 3
((fnil inc 0) nil) ;=> 1
((fnil inc 0) 5) ;=> 6
((fnil + 1) nil 5) ;=> 6
((fnil vector 1 2 3) nil nil nil) ;=> [1 2 3]
((fnil vector 1 2) nil 5 nil) ;=> [1 5 nil]
((fnil + 1) 2 nil) ;=! type_error
(fnil inc) ;=! arity_error

; walk, prewalk, postwalk and the replacing forms

(walk inc (fn [v] (apply + v)) [1 2]) ;=> 5
(walk identity identity {:a 1}) ;=> {:a 1}
(walk inc identity #{1 2}) ;=> #{2 3}
(walk (fn [[k v]] [v k]) identity {:a 1}) ;=> {1 :a}
(walk inc inc 5) ;=> 6
(prewalk identity [1]) ;=> [1]
(prewalk (fn [x] (if (number? x) (inc x) x)) [1 [2]]) ;=> [2 [3]]
(prewalk (fn [x] (if (vector? x) (vec (rest x)) x)) [1 [2 3]]) ;=> [[3]]
(prewalk (fn [x] (if (= x :a) :b x)) {:a [:a]}) ;=> {:b [:b]}
(postwalk #(if (number? %) (inc %) %) {:a [1]}) ;=> {:a [2]}
(postwalk #(if (number? %) (inc %) %) #{1 2}) ;=> #{2 3}
(postwalk #(if (vector? %) (count %) %) [[1 2] [3]]) ;=> 2
(postwalk identity nil) ;=> nil
(postwalk inc 5) ;=> 6
(prewalk-replace {:a :b} [:a]) ;=> [:b]
(prewalk-replace {:a :b} {:a [:a :c]}) ;=> {:b [:b :c]}
(prewalk-replace {:a [:b] :b 1} [:a]) ;=> [[1]]
(postwalk-replace {1 :one} [1 [1]]) ;=> [:one [:one]]
(postwalk-replace {[1] :v} [[1] 2]) ;=> [:v 2]
(postwalk-replace {} [1]) ;=> [1]
(keywordize-keys {"a" {"b" 1}}) ;=> {:a {:b 1}}
(keywordize-keys [{"a" 1} {"b" 2}]) ;=> [{:a 1} {:b 2}]
(keywordize-keys {"1x" 1}) ;=> {"1x" 1}
(keywordize-keys {"a b" 1 2 3}) ;=> {2 3 "a b" 1}
(keywordize-keys {"user_id" 1}) ;=> {:user_id 1}
(keywordize-keys 5) ;=> 5
(stringify-keys {:a 1}) ;=> {"a" 1}
(stringify-keys {:a {:b 1}}) ;=> {"a" {"b" 1}}
(stringify-keys [{:a :b}]) ;=> [{"a" :b}]
(stringify-keys {1 2}) ;=> {1 2}

; tree-seq

(map :n (tree-seq :kids :kids {:n 1 :kids [{:n 2}]})) ;=> [1 2]
(tree-seq vector? identity [1 [2]]) ;=> [[1 [2]] 1 [2] 2]
(tree-seq vector? seq 5) ;=> [5]
(map :n (tree-seq :kids :kids {:n 1 :kids [{:n 2 :kids [{:n 3}]} {:n 4}]})) ;=> [1 2 3 4]
(tree-seq map? vals {:a {:b 1}}) ;=> [{:a {:b 1}} {:b 1} 1]
(tree-seq vector? identity nil) ;=> [nil]

; type

(type nil) ;=> nil
(type true) ;=> :boolean
(type 1) ;=> :number
(type 1.5) ;=> :number
(type 123456789012345678901) ;=> :number
(type "a") ;=> :string
(type \a) ;=> :string
(type :a) ;=> :keyword
(type [1]) ;=> :vector
(type (list 1)) ;=> :vector
(type {}) ;=> :map
(type #{}) ;=> :set
(type inc) ;=> :function
(type (fn [])) ;=> :function
(type (partial + 1)) ;=> :function
(type #"a") ;=> :regex
(type 'a) ;=> :unknown
(type (def x 1)) ;=> :unknown
(type (reduced 1)) ;=> :unknown
(type (Instant/parse "2024-01-01")) ;=> :java_object

; describe, doc, apropos

(:item_types (describe [1 "x"])) ;=> {"integer" 1 "string" 1}
(:count (describe [1 2 3])) ;=> 3
(:scanned (describe [1 2 3])) ;=> 3
(:type (describe {:a 1})) ;=> :map
(:count (describe {:a 1 :b 2})) ;=> 2
(:type (describe [])) ;=> :vector
(map? (describe 5)) ;=> true
(get-in (describe [{:a {:x 1}} {:a {:x 2}}] {:depth 2}) [:keys :a :nested :x :range]) ;=> {:max 2 :min 1}
(get-in (describe [{:a {:x 1}}]) [:keys :a :nested]) ;=> nil
(get-in (describe {:a [{:b 1} {:c 2}]} {:depth 2}) [:keys :a :nested :b :present]) ;=> 1
(get-in (describe [{:n 1} {:n 2} {:n 3}] {:sample 1}) [:keys :n :examples]) ;=> [1]
(get-in (describe [{:n 1} {:n 2} {:n 3} {:n 4}]) [:keys :n :examples]) ;=> [1 2 3]
(:paths (describe {:a {:b 1} "c" [2 {:d 3}]} {:depth 3 :paths true})) ;=> [[:a] ["c"] [:a :b] ["c" "*"] ["c" "*" :d]]
(:paths (describe {:a {:b 1}} {:paths true})) ;=> [[:a]]
(:paths (describe {:a 1})) ;=> nil
(:caps_hit (describe (zipmap (range 400) (range 400)) {:paths true})) ;=> [:keys :paths]
(count (:paths (describe (zipmap (range 400) (range 400)) {:paths true}))) ;=> 300
(:caps_hit (describe (repeat 1001 1))) ;=> [:items]
(:truncated (describe (repeat 1001 1))) ;=> true
(map? (describe nil)) ;=> true
(map? (describe [{:a 1} {:a 2}] {:depth 2})) ;=> true
(apropos "postwalk") ;=> ["postwalk" "postwalk-replace"]
(apropos "no-such-name") ;=> []
(vector? (apropos "map")) ;=> true
(doc "map") ;=> nil

; Recursion, closures

(let [fib (fn fib [n] (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))] (fib 15)) ;=> 610
(do (defn depth [t] (if (vector? t) (inc (reduce max 0 (map depth t))) 0)) (depth [1 [2 [3]]])) ;=> 3
(let [counter (fn [n] {:get (fn [] n) :next (fn [] (inc n))})] ((:next (counter 5)))) ;=> 6
(let [fs (map (fn [n] (fn [x] (* n x))) [1 2 3])] (map (fn [f] (f 10)) fs)) ;=> [10 20 30]
(let [x 1 f (fn [] x) x 2] (f)) ;=> 1
(((fn [f] (fn [x] (f (f x)))) inc) 5) ;=> 7
(do (defn compose [& fs] (reduce comp identity fs)) ((compose inc inc) 1)) ;=> 3
(reduce (fn [f g] (fn [x] (g (f x)))) [inc (partial * 2)]) ;=> #fn
((reduce (fn [f g] (fn [x] (g (f x)))) [inc (partial * 2)]) 5) ;=> 12
(do (defn ack [m n] (cond (zero? m) (inc n) (zero? n) (ack (dec m) 1) :else (ack (dec m) (ack m (dec n))))) (ack 2 3)) ;=> 9
(do (defn count-down [n] (if (pos? n) (count-down (dec n)) :done)) (count-down 5000)) ;=> :done
((fn f [n] (inc (f n))) 1) ;=! depth_exceeded

; Limits that no program can catch

(loop [] (recur)) ;=! loop_limit_exceeded
((fn [] (recur))) ;=! loop_limit_exceeded
(reduce (fn [s _] (str s s)) "x" (range 60)) ;=! size_exceeded
(reduce (fn [n _] (* n n)) 3 (range 40)) ;=! size_exceeded
(repeat 1e9 :x) ;=! size_exceeded
(reduce (fn [a _] [a a]) 0 (range 3)) ;=> [[[0 0] [0 0]] [[0 0] [0 0]]]
(attempt ((fn f [n] (inc (f n))) 1)) ;=! depth_exceeded
