; assoc, assoc-in

(assoc {:a 1} :b 2) ;=> {:a 1 :b 2}
(assoc {:a 1} :a 2) ;=> {:a 2}
(assoc {} :a 1 :b 2) ;=> {:a 1 :b 2}
(assoc nil :a 1) ;=> {:a 1}
(assoc [1 2] 0 9) ;=> [9 2]
(assoc [1 2] 2 3) ;=> [1 2 3]
(assoc [] 0 :a) ;=> [:a]
(assoc [1 2] 3 9) ;=! runtime_error
(assoc [1 2] 5 0) ;=! runtime_error
(assoc [1 2] -1 9) ;=! runtime_error
(assoc [1 2] :a 9) ;=! type_error
(assoc {:a 1} :b) ;=! arity_error
(assoc 5 :a 1) ;=! type_error
(assoc "abc" 0 "x") ;=! type_error
(assoc #{1} 1 2) ;=! type_error
(assoc {:a 1} nil 2) ;=> {nil 2 :a 1}
(assoc-in {} [:a :b] 1) ;=> {:a {:b 1}}
(assoc-in {:a {:b 1}} [:a :b] 2) ;=> {:a {:b 2}}
(assoc-in {:a [1 2]} [:a 0] 9) ;=> {:a [9 2]}
(assoc-in nil [:a] 1) ;=> {:a 1}
(assoc-in {} [] 1) ;=> {nil 1}
(assoc-in {:a 1} nil 2) ;=> {nil 2 :a 1}
(assoc-in [[1]] [0 1] 2) ;=> [[1 2]]
(assoc-in {:a 5} [:a :b] 1) ;=! type_error
(assoc-in {} :a 1) ;=! type_error

; update, update-in

(update {:a 1} :a + 10) ;=> {:a 11}
(update {:a 1} :a inc) ;=> {:a 2}
(update {} :a (fnil inc 0)) ;=> {:a 1}
(update {} :a identity) ;=> {:a nil}
(update nil :a identity) ;=> {:a nil}
(update [1 2] 0 inc) ;=> [2 2]
(update {:a 1} :a - 1 2) ;=> {:a -2}
(update {:a {:b 1}} :a :b) ;=> {:a 1}
(update {:a 1} :b inc) ;=! type_error
(update [1] 5 identity) ;=! runtime_error
(update 5 :a inc) ;=! type_error
(update {:a 1} :a 5) ;=! not_callable
(update-in {} [:a :b] (fnil inc 0)) ;=> {:a {:b 1}}
(update-in {:a {:b 1}} [:a :b] inc) ;=> {:a {:b 2}}
(update-in {:a {:b 1}} [:a :b] + 5) ;=> {:a {:b 6}}
(update-in {:a [1 2]} [:a 1] inc) ;=> {:a [1 3]}
(update-in {} [:a] identity) ;=> {:a nil}
(update-in {:a 1} :a inc) ;=! type_error

; dissoc, disj

(dissoc {:a 1 :b 2} :a) ;=> {:b 2}
(dissoc {:a 1 :b 2} :a :b) ;=> {}
(dissoc {:a 1} :z) ;=> {:a 1}
(dissoc {:a 1}) ;=> {:a 1}
(dissoc nil :a) ;=> nil
(dissoc [1 2] 0) ;=! type_error
(dissoc #{1} 1) ;=! type_error
(dissoc 5 :a) ;=! type_error
(disj #{1 2} 1) ;=> #{2}
(disj #{1 2} 1 2) ;=> #{}
(disj #{1 2} 3) ;=> #{1 2}
(disj #{1}) ;=> #{1}
(disj nil 1) ;=> nil
(disj [1] 1) ;=! type_error
(disj {:a 1} :a) ;=! type_error

; merge, merge-with

(merge {:a 1} nil {:a 2}) ;=> {:a 2}
(merge {:a 1} {:b 2}) ;=> {:a 1 :b 2}
(merge nil) ;=> {}
(merge) ;=> {}
(merge nil nil) ;=> {}
(merge nil {:a 1}) ;=> {:a 1}
(merge {:a 1}) ;=> {:a 1}
(merge {:a 1} [:b 2]) ;=> {:a 1 :b 2}
(merge {:a {:x 1}} {:a {:y 2}}) ;=> {:a {:y 2}}
(merge {:a 1} 5) ;=! type_error
(merge-with + {:a 1} {:a 2 :b 3}) ;=> {:a 3 :b 3}
(merge-with +) ;=> {}
(merge-with + nil) ;=> {}
(merge-with + {:a 1}) ;=> {:a 1}
(merge-with + nil {:a 1}) ;=> {:a 1}
(merge-with + {:a 1} {:a 2} {:a 3}) ;=> {:a 6}
(merge-with into {:a [1]} {:a [2]}) ;=> {:a [1 2]}
(merge-with - {:a 10} {:a 3}) ;=> {:a 7}
(merge-with 5 {:a 1} {:a 2}) ;=! not_callable

; select-keys

(select-keys {:a 1 :b 2} [:a :z]) ;=> {:a 1}
(select-keys {:a 1 :b 2} []) ;=> {}
(select-keys {:a nil} [:a]) ;=> {:a nil}
(select-keys nil [:a]) ;=> {}
(select-keys {:a 1} nil) ;=> {}
(select-keys [10 20] [1]) ;=> {1 20}
(select-keys {:a 1 :b 2} #{:b}) ;=> {:b 2}
(select-keys {:a 1} :a) ;=! type_error
(select-keys 5 [:a]) ;=! type_error

; update-vals, update-keys

(update-vals {:a 1} inc) ;=> {:a 2}
(update-vals {} inc) ;=> {}
(update-vals nil inc) ;=> {}
(update-vals [1 2] inc) ;=> [2 3]
(update-vals {:a {:b 1}} :b) ;=> {:a 1}
(update-vals 5 inc) ;=! type_error
(update-keys {:a 1} name) ;=> {"a" 1}
(update-keys {:a 1 :b 2} (constantly :k)) ;=> {:k 2}
(update-keys nil name) ;=> {}
(update-keys [7] inc) ;=> {1 7}
(update-keys {1 :a 2 :b} inc) ;=> {2 :a 3 :b}
(update-keys 5 inc) ;=! type_error

; conj, cons

(conj [1] 2) ;=> [1 2]
(conj [1] 2 3) ;=> [1 2 3]
(conj [1] [2]) ;=> [1 [2]]
(conj #{1} 2) ;=> #{1 2}
(conj #{1} 1) ;=> #{1}
(conj {:a 1} {:b 2}) ;=> {:a 1 :b 2}
(conj {:a 1} [:b 2]) ;=> {:a 1 :b 2}
(conj {:a 1} nil) ;=> {:a 1}
(conj {:a 1} [:a 2] [:c 3]) ;=> {:a 2 :c 3}
(conj nil 1) ;=> [1]
(conj nil 1 2) ;=> [1 2]
(conj) ;=> []
(conj [1]) ;=> [1]
(conj nil) ;=> nil
(conj {:a 1} [1 2 3]) ;=! type_error
(conj {:a 1} 5) ;=! type_error
(conj 5 1) ;=! type_error
(conj "a" "b") ;=! type_error
(cons 0 [1]) ;=> [0 1]
(cons 1 nil) ;=> [1]
(cons 1 []) ;=> [1]
(cons [1] [2]) ;=> [[1] 2]
(cons "x" "ab") ;=> ["x" "a" "b"]
(cons 0 #{2 1}) ;=> [0 1 2]
(cons [:z 0] {:a 1}) ;=> [[:z 0] [:a 1]]
(cons 1 5) ;=! type_error

; into, empty, concat

(into {} [[:a 1]]) ;=> {:a 1}
(into #{} "aa") ;=> #{"a"}
(into [1] #{2}) ;=> [1 2]
(into [] nil) ;=> []
(into nil [1 2]) ;=> [1 2]
(into [] {:a 1}) ;=> [[:a 1]]
(into {:a 1} {:b 2}) ;=> {:a 1 :b 2}
(into {} [{:a 1} {:b 2}]) ;=> {:a 1 :b 2}
(into #{1} [2 1]) ;=> #{1 2}
(into) ;=> []
(into [1]) ;=> [1]
(into {} [[1 2 3]]) ;=! type_error
(into [] 5) ;=! type_error
(into 5 [1]) ;=! type_error
(empty {:a 1}) ;=> {}
(empty [1 2]) ;=> []
(empty #{1}) ;=> #{}
(empty "a") ;=> nil
(empty nil) ;=> nil
(empty 5) ;=> nil
(concat [1] nil "a") ;=> [1 "a"]
(concat) ;=> []
(concat [1 2]) ;=> [1 2]
(concat [1] [2] [3]) ;=> [1 2 3]
(concat {:a 1} #{2}) ;=> [[:a 1] 2]
(concat [1] 5) ;=! type_error

; replace with two arguments

(replace {1 :one} [1 2]) ;=> [:one 2]
(replace {} [1 2]) ;=> [1 2]
(replace [:zero :one] [0 1 2]) ;=> [:zero :one 2]
(replace {1 nil} [1 2]) ;=> [nil 2]
(replace {:a 1} []) ;=> []
(replace 5 [1]) ;=! type_error

; Values do not change

(let [v [1 2] w (conj v 3)] [v w]) ;=> [[1 2] [1 2 3]]
(let [m {:a 1} n (assoc m :a 2)] [m n]) ;=> [{:a 1} {:a 2}]
(let [s #{1} t (disj s 1)] [s t]) ;=> [#{1} #{}]
(let [v (vec (range 100)) w (assoc v 50 :x)] [(nth v 50) (nth w 50) (count w)]) ;=> [50 :x 100]
(let [m (zipmap (range 100) (range 100)) n (dissoc m 50)] [(get m 50) (get n 50) (count n)]) ;=> [50 nil 99]
