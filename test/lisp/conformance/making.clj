; vector, list, vec

(vector 1 2) ;=> [1 2]
(vector) ;=> []
(vector nil) ;=> [nil]
(vector [1] 2) ;=> [[1] 2]
(list) ;=> []
(list 1 2) ;=> [1 2]
(vector? (list 1)) ;=> true
(conj (list 1 2) 3) ;=> [1 2 3]
(vec #{3 1}) ;=> [1 3]
(vec nil) ;=> []
(vec [1 2]) ;=> [1 2]
(vec "abc") ;=> ["a" "b" "c"]
(vec "") ;=> []
(vec {:a 1 :b 2}) ;=> [[:a 1] [:b 2]]
(vec 5) ;=! type_error
(vec :a) ;=! type_error
(vec inc) ;=! type_error

; set, hash-set, sorted-set

(set [1 1]) ;=> #{1}
(set []) ;=> #{}
(set nil) ;=> #{}
(set "aab") ;=> #{"a" "b"}
(set {:a 1}) ;=> #{[:a 1]}
(set #{1 2}) ;=> #{1 2}
(set [nil nil]) ;=> #{nil}
(set [[1] (list 1)]) ;=> #{[1]}
(set 5) ;=! type_error
(hash-set 1 2) ;=> #{1 2}
(hash-set) ;=> #{}
(hash-set 1 1) ;=> #{1}
(sorted-set 2 1) ;=> #{1 2}
(sorted-set) ;=> #{}
(seq (sorted-set 3 1 2)) ;=> [1 2 3]

; hash-map, array-map, sorted-map, zipmap

(hash-map :a 1) ;=> {:a 1}
(hash-map) ;=> {}
(hash-map :a 1 :a 2) ;=> {:a 2}
(hash-map :a) ;=! arity_error
(array-map) ;=> {}
(array-map :b 1 :a 2) ;=> {:a 2 :b 1}
(sorted-map :b 2 :a 1) ;=> {:a 1 :b 2}
(sorted-map) ;=> {}
(zipmap [:a :b] [1 2 3]) ;=> {:a 1 :b 2}
(zipmap [:a :b] [1]) ;=> {:a 1}
(zipmap [] [1]) ;=> {}
(zipmap nil nil) ;=> {}
(zipmap [:a :a] [1 2]) ;=> {:a 2}
(zipmap "ab" [1 2]) ;=> {"a" 1 "b" 2}
(zipmap #{:b :a} [1 2]) ;=> {:a 1 :b 2}
(zipmap 5 [1]) ;=! type_error
(zipmap [1] 5) ;=! type_error

; range

(range 3) ;=> [0 1 2]
(range 0) ;=> []
(range -3) ;=> []
(range 2 5) ;=> [2 3 4]
(range 5 2) ;=> []
(range 5 0 -2) ;=> [5 3 1]
(range 0 10 3) ;=> [0 3 6 9]
(range 0 10 -1) ;=> []
(range 3.5) ;=> [0 1 2 3]
(range 0 1 0.25) ;=> [0 0.25 0.5 0.75]
(range 1.0 3.0) ;=> [1.0 2.0]
(range -2 2) ;=> [-2 -1 0 1]
(range 1 5 0) ;=! runtime_error
(range "a") ;=! type_error
(range nil) ;=! type_error
(range 0 :a) ;=! type_error
(count (range 1000)) ;=> 1000
(range 1e12) ;=! size_exceeded
(range) ;=! arity_error

; repeat, repeatedly

(repeat 2 :x) ;=> [:x :x]
(repeat 0 :x) ;=> []
(repeat -1 :x) ;=> []
(repeat 3 nil) ;=> [nil nil nil]
(repeat 2.9 :x) ;=> [:x :x]
(repeat "a" 1) ;=! type_error
(repeat 1000000000 :x) ;=! size_exceeded
(repeatedly 2 (constantly 1)) ;=> [1 1]
(repeatedly 0 (constantly 1)) ;=> []
(repeatedly -1 (constantly 1)) ;=> []
(repeatedly 2 (fn [] :a)) ;=> [:a :a]
(repeatedly 1 inc) ;=! arity_error
(repeatedly 1 5) ;=! not_callable
(repeat :x) ;=! arity_error
(repeatedly (fn [] 1)) ;=! arity_error

; combinations

(combinations [1 2 3] 2) ;=> [[1 2] [1 3] [2 3]]
(combinations [1] 0) ;=> [[]]
(combinations [1 2] 3) ;=> []
(combinations [1 2 3] 3) ;=> [[1 2 3]]
(combinations [1 2 3] 1) ;=> [[1] [2] [3]]
(combinations [] 1) ;=> []
(combinations [] 0) ;=> [[]]
(combinations "abc" 2) ;=> [["a" "b"] ["a" "c"] ["b" "c"]]
(combinations #{2 1} 1) ;=> [[1] [2]]
(combinations 5 1) ;=! type_error
(combinations [1] "a") ;=! type_error

; Odd numbers of keys and values

(array-map :a) ;=! arity_error
(sorted-map :a 1 :b) ;=! arity_error
(apply hash-map [:a]) ;=! arity_error
