; Keywords

(:a {:a 1}) ;=> 1
(:a {:b 1}) ;=> nil
(:a {:b 1} 5) ;=> 5
(:a nil 5) ;=> 5
(:a nil) ;=> nil
(:a #{:a}) ;=> :a
(:b #{:a}) ;=> nil
(:b #{:a} 7) ;=> 7
(:a {:a nil} 5) ;=> nil
(:a {"a" 1}) ;=> 1
(:a 5) ;=> nil
(:a 5 :d) ;=> :d
(:a "text") ;=> nil
(:a [1 2] :d) ;=> :d
(:a) ;=! arity_error
(:a {} 1 2) ;=! arity_error

; Maps

({:a 1} :a) ;=> 1
({:a 1} :b) ;=> nil
({:a 1} :b 0) ;=> 0
({:a 1} "a") ;=> 1
({1 :x} 1) ;=> :x
({nil 1} nil) ;=> 1
({:a 1}) ;=! arity_error
({:a 1} :a 1 2) ;=! arity_error

; Sets

(#{1 2} 2) ;=> 2
(#{1 2} 3) ;=> nil
(#{false} false) ;=> false
(#{nil} nil) ;=> nil
(#{:a} "a") ;=> nil
(#{1}) ;=! arity_error
(#{1} 1 2) ;=! arity_error

; Vectors

([10 20] 1) ;=> 20
([10 20] 0) ;=> 10
([10 20] 2) ;=> nil
([10 20] -1) ;=> nil
([] 0) ;=> nil
([10 20]) ;=! arity_error
([10 20] 0 1) ;=! arity_error

; What cannot be called

("a" 1) ;=! not_callable
(1 2) ;=! not_callable
(nil 1) ;=! not_callable
(true) ;=! not_callable
(1.5) ;=! not_callable
((inc 1) 2) ;=! not_callable
((str "a") 1) ;=! not_callable
(#"a" "a") ;=! not_callable
('a {}) ;=! not_callable
(let [x 5] (x)) ;=! not_callable
(map 5 [1]) ;=! not_callable
(map "a" [1]) ;=! not_callable
(map nil [1]) ;=! not_callable
(filter 1 [1]) ;=! not_callable
(reduce 5 [1 2]) ;=! not_callable
(apply "a" [1]) ;=! not_callable
(sort-by 5 [1 2]) ;=! not_callable
((comp inc 5) 1) ;=! not_callable

; Every callable may be given as a function

(map :a [{:a 1} {:a 2}]) ;=> [1 2]
(map {:a 1} [:a :b]) ;=> [1 nil]
(map #{1 2} [1 3]) ;=> [1 nil]
(map [10 20] [0 1]) ;=> [10 20]
(filter #{1 2} [1 2 3]) ;=> [1 2]
(filter :ok [{:ok true} {}]) ;=> [{:ok true}]
(some #{3} [1 2 3]) ;=> 3
(every? {:a 1} [:a]) ;=> true
(remove #{1} [1 2]) ;=> [2]
((comp :a :b) {:b {:a 1}}) ;=> 1
((comp inc :n) {:n 1}) ;=> 2
(update {:a :k} :a {:k 5}) ;=> {:a 5}
(group-by :k [{:k 1} {:k 2} {:k 1}]) ;=> {1 [{:k 1} {:k 1}] 2 [{:k 2}]}
(apply :a [{:a 1}]) ;=> 1
(apply {:a 1} [:a]) ;=> 1
(sort-by {:x 2 :y 1} [:x :y]) ;=> [:y :x]
(map (partial get {:a 1}) [:a]) ;=> [1]
(mapcat {:a [1 2]} [:a :a]) ;=> [1 2 1 2]

; Key functions also take text and paths

(sort-by "n" [{"n" 2} {"n" 1}]) ;=> [{"n" 1} {"n" 2}]
(sort-by "n" [{:n 2} {:n 1}]) ;=> [{:n 1} {:n 2}]
(sort-by [:a :b] [{:a {:b 2}} {:a {:b 1}}]) ;=> [{:a {:b 1}} {:a {:b 2}}]
(group-by "k" [{"k" 1}]) ;=> {1 [{"k" 1}]}
(sum-by "n" [{"n" 1} {"n" 2}]) ;=> 3
(sum-by [:a "b"] [{:a {"b" 1}} {:a {"b" 2}}]) ;=> 3
(avg-by "n" [{:n 1} {:n 2}]) ;=> 1.5
(min-by "n" [{:n 2} {:n 1}]) ;=> {:n 1}
(max-by [:a] [{:a 1} {:a 2}]) ;=> {:a 2}
(distinct-by "k" [{:k 1} {:k 1}]) ;=> [{:k 1}]
(sort-by [30 10 20] [0 1 2]) ;=> [1 2 0]
(map "n" [{:n 1}]) ;=! not_callable

; Flexible keys

(:user-id {"user_id" 7}) ;=> 7
(:user-id {:user_id 7}) ;=> 7
(get {"user_id" 7} "user-id") ;=> 7
(:user_id {"user-id" 7}) ;=> nil
(:user_name {"user-name" 1}) ;=> nil
(get {:a 1} "a") ;=> 1
(get {"a" 1} :a) ;=> 1
(get {"a" 1 :a 2} :a) ;=> 2
(get {"a" 1 :a 2} "a") ;=> 1
(:a-b {"a-b" 1 "a_b" 2}) ;=> 1
(:a-b {:a_b 1 "a-b" 2}) ;=> 2
(:a-b {:a_b 1 "a_b" 2}) ;=> 1
(get {"a" nil} :a 5) ;=> nil
(get-in {"a" {:b 1}} [:a "b"]) ;=> 1
(find {"a" 1} :a) ;=> ["a" 1]
(contains? {"a" 1} :a) ;=> true
(contains? {"user_id" 1} :user-id) ;=> true
(select-keys {"a" 1} [:a]) ;=> {:a 1}
(select-keys {"user_id" 1} [:user-id]) ;=> {:user-id 1}
(update {"n" 1} :n inc) ;=> {:n 2 "n" 1}
(update-in {"a" {"b" 1}} [:a :b] inc) ;=> {:a {:b 2 "b" 1} "a" {"b" 1}}
(assoc-in {"a" {"b" 1}} [:a :c] 2) ;=> {:a {:c 2 "b" 1} "a" {"b" 1}}
(assoc {"a" 1} :a 2) ;=> {:a 2 "a" 1}
(dissoc {"a" 1} :a) ;=> {"a" 1}
(merge {"a" 1} {:a 2}) ;=> {:a 2 "a" 1}
(conj {"a" 1} [:a 2]) ;=> {:a 2 "a" 1}
(contains? #{"a"} :a) ;=> false
(frequencies [:a "a"]) ;=> {:a 1 "a" 1}
(replace {"a" 1} [:a]) ;=> [1]
(get {1 :x} "1") ;=> nil
(get {:1 :x} 1) ;=> nil
