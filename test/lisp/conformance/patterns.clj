; Vector patterns

(let [[a [b]] [1 [2]]] [a b]) ;=> [1 2]
(let [[a b] "xy"] b) ;=> "y"
(let [[a b _] [1 2 3]] [a b]) ;=> [1 2]
(let [[a b c] [1 2]] c) ;=> nil
(let [[a] nil] a) ;=> nil
(let [[] [1]] 5) ;=> 5
(let [[a & r] [1]] r) ;=> nil
(let [[a & r] [1 2 3]] r) ;=> [2 3]
(let [[a & r] "xyz"] r) ;=> ["y" "z"]
(let [[a & r] nil] [a r]) ;=> [nil nil]
(let [[a & [b c]] [1 2 3]] [a b c]) ;=> [1 2 3]
(let [[a & {:keys [b]}] [1 :b 2]] b) ;=> 2
(let [[a & {:keys [b] :or {b 7}}] [1]] b) ;=> 7
(let [[a :as all] [1 2]] all) ;=> [1 2]
(let [[a & r :as all] [1 2]] [a r all]) ;=> [1 [2] [1 2]]
(let [[[a b] [c d]] [[1 2] [3 4]]] [a b c d]) ;=> [1 2 3 4]
(let [[a a] [1 2]] a) ;=> 2
(let [[_ _ c] [1 2 3]] c) ;=> 3
(let [[{:keys [x]} y] [{:x 1} 2]] [x y]) ;=> [1 2]
(let [[a b] []] [a b]) ;=> [nil nil]
(let [[a] "😀b"] a) ;=> "😀"
(let [[a] 5] a) ;=! destructure_error
(let [[a] {:a 1}] a) ;=! destructure_error
(let [[a] #{1}] a) ;=! destructure_error
(let [[a] :k] a) ;=! destructure_error
(let [[a] true] a) ;=! destructure_error
(let [[a [b]] [1 2]] b) ;=! destructure_error
(let [[a &] [1]] a) ;=! invalid_form
(let [[a & b c] [1]] a) ;=! invalid_form
(let [[a :as] [1]] a) ;=! invalid_form
(let [[a :what b] [1]] a) ;=! invalid_form

; Map patterns

(let [{:keys [a b]} {:a 1 "b" 2}] [a b]) ;=> [1 2]
(let [{:keys [:a]} {:a 1}] a) ;=> 1
(let [{:keys [a]} {}] a) ;=> nil
(let [{:keys [a]} nil] a) ;=> nil
(let [{:strs [a]} {"a" 1}] a) ;=> 1
(let [{:strs [a]} {:a 1}] a) ;=> 1
(let [{:syms [a]} {'a 1}] a) ;=> 1
(let [{x :k y :j} {:k 1}] [x y]) ;=> [1 nil]
(let [{x "k"} {"k" 1}] x) ;=> 1
(let [{x 1} {1 :one}] x) ;=> :one
(let [{b 1} [10 20]] b) ;=> 20
(let [{b 5} [10 20]] b) ;=> nil
(let [n 1 {:keys [a] :or {a (inc n)}} {}] a) ;=> 2
(let [{:keys [a] :or {a 5}} {:a nil}] a) ;=> nil
(let [{:keys [a] :or {a 5}} {:a false}] a) ;=> false
(let [{:keys [a] :or {a (quot 1 0)}} {:a 1}] a) ;=> 1
(let [{:keys [a b] :or {b a}} {:a 1}] b) ;=> 1
(let [{x :x :or {x 3}} {}] x) ;=> 3
(let [{:keys [a] :as m} {:a 1}] m) ;=> {:a 1}
(let [{:keys [a] :as m} nil] m) ;=> nil
(let [{{:keys [b]} :a} {:a {:b 2}}] b) ;=> 2
(let [{[x y] :p} {:p [1 2]}] [x y]) ;=> [1 2]
(let [{:keys [user-id]} {"user_id" 7}] user-id) ;=> 7
(let [{:keys [a] b :b :strs [c]} {:a 1 :b 2 "c" 3}] [a b c]) ;=> [1 2 3]
(let [{} {:a 1}] 5) ;=> 5
(let [{:keys []} {:a 1}] 5) ;=> 5
(let [{:keys [a]} 5] a) ;=! destructure_error
(let [{:keys [a]} "x"] a) ;=! destructure_error
(let [{:keys [a]} #{:a}] a) ;=! destructure_error
(let [{:keys [a]} :k] a) ;=! destructure_error
(let [{:keys a} {:a 1}] a) ;=! invalid_form
(let [{:keys [5]} {:a 1}] 1) ;=! invalid_form
(let [{:or {a 1}} {}] 1) ;=> 1
(let [{:keys [a] :as} {}] a) ;=! parse_error

; Everywhere a name is bound

((fn [{:keys [a]}] a) {:a 1}) ;=> 1
((fn [[x & xs]] [x xs]) [1 2 3]) ;=> [1 [2 3]]
(map (fn [{:keys [n]}] n) [{:n 1} {:n 2}]) ;=> [1 2]
(loop [{:keys [n]} {:n 3} acc []] (if (pos? n) (recur {:n (dec n)} (conj acc n)) acc)) ;=> [3 2 1]
(for [[a b] [[1 2] [3 4]]] (+ a b)) ;=> [3 7]
(reduce (fn [acc [k v]] (+ acc v)) 0 {:a 1 :b 2}) ;=> 3
(do (def total 0) (doseq [{:keys [n]} [{:n 1} {:n 2}]] (def total (+ total n))) total) ;=> 3
(if-let [{:keys [a]} {:b 1}] [a] :none) ;=> [nil]
((fn [[a]] a) 5) ;=! destructure_error
