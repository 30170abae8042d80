; = and its kin: structural, numbers by value

(= 1 1.0) ;=> true
(= 1 1) ;=> true
(= 1 2) ;=> false
(= 1) ;=> true
(= nil) ;=> true
(= 1 1 1) ;=> true
(= 1 1 2) ;=> false
(= [1] [1.0]) ;=> true
(= #{1} #{1.0}) ;=> false
(= {1 :a} {1.0 :a}) ;=> false
(= {:a 1} {:a 1.0}) ;=> true
(= nil nil) ;=> true
(= nil false) ;=> false
(= "a" \a) ;=> true
(= "a" :a) ;=> false
(= :a :a) ;=> true
(= [1 2] (list 1 2)) ;=> true
(= [1 2] [2 1]) ;=> false
(= [] nil) ;=> false
(= [] {}) ;=> false
(= {} #{}) ;=> false
(= {:a 1 :b 2} {:b 2 :a 1}) ;=> true
(= {:a 1} {"a" 1}) ;=> false
(= {:a 1} {:a 1 :b nil}) ;=> false
(= #{1 2} #{2 1}) ;=> true
(= #{1 [2]} #{[2] 1}) ;=> true
(= ##NaN ##NaN) ;=> false
(= [##NaN] [##NaN]) ;=> false
(= 0.0 -0.0) ;=> true
(= inc inc) ;=> true
(= (fn [x] x) (fn [x] x)) ;=> false
(let [f (fn [x] x)] (= f f)) ;=> true
(= 'a 'a) ;=> true
(= 'a 'b) ;=> false
(= 9007199254740993 9007199254740992.0) ;=> false
(= 9007199254740992 9007199254740992.0) ;=> true
(= 100000000000000000000 1e20) ;=> true
(= "é" "é") ;=> true
(= {:a [1 {:b #{2}}]} {:a [1 {:b #{2}}]}) ;=> true
(=) ;=! arity_error
(== 2 2) ;=> true
(== 2 2.0) ;=> true
(== 1 2) ;=> false
(== "a" "a") ;=> true
(== 1) ;=> true
(==) ;=! arity_error
(not= 1 2) ;=> true
(not= 1 1) ;=> false
(not= 1 1.0) ;=> false
(not= 1 1 2) ;=> true
(not= ##NaN ##NaN) ;=> true
(not= 1) ;=> false
(not=) ;=! arity_error

; < <= > >= take numbers only

(< 1 2 3) ;=> true
(< 1 3 2) ;=> false
(< 1 1) ;=> false
(< 1 1.5) ;=> true
(< 1) ;=> true
(< "a") ;=! type_error
(< nil 1) ;=! type_error
(< 1 nil) ;=! type_error
(< "a" "b") ;=! type_error
(< ##NaN 1) ;=> false
(< 1 ##NaN) ;=> false
(< 9007199254740992 9007199254740993) ;=> true
(<) ;=! arity_error
(<= 1 1) ;=> true
(<= 1 1 2) ;=> true
(<= 2 1) ;=> false
(<= 1.0 1) ;=> true
(<= :a 1) ;=! type_error
(<=) ;=! arity_error
(> 1 2) ;=> false
(> 3 2 1) ;=> true
(> 3 1 2) ;=> false
(> 2.5 2) ;=> true
(> [1] 1) ;=! type_error
(>) ;=! arity_error
(>= 3 3 1) ;=> true
(>= 1 2) ;=> false
(>= ##Inf 1) ;=> true
(>= true 1) ;=! type_error
(>=) ;=! arity_error

; compare: the natural order

(compare 1 2) ;=> -1
(compare 2 1) ;=> 1
(compare 1 1) ;=> 0
(compare 1 1.0) ;=> 0
(compare nil nil) ;=> 0
(compare nil 1) ;=> -1
(compare 1 nil) ;=> 1
(compare nil "a") ;=> -1
(compare "a" "b") ;=> -1
(compare "b" "a") ;=> 1
(compare "a" "a") ;=> 0
(compare "a" "z") ;=> -1
(compare "a" "ab") ;=> -1
(compare "B" "a") ;=> -1
(compare "" "a") ;=> -1
(compare :a :b) ;=> -1
(compare :b :a) ;=> 1
(compare :a :a) ;=> 0
(compare false true) ;=> -1
(compare true false) ;=> 1
(compare true true) ;=> 0
(compare [2] [1 5]) ;=> -1
(compare [1 5] [2]) ;=> 1
(compare [1 2] [1 3]) ;=> -1
(compare [1 2] [1 2]) ;=> 0
(compare [] []) ;=> 0
(compare ["b"] ["a"]) ;=> 1
(compare 1.5 2) ;=> -1
(compare 9007199254740993 9007199254740992) ;=> 1
(compare ##Inf 1) ;=> 1
(compare ##NaN 1) ;=! type_error
(compare 1 "a") ;=! type_error
(compare :a "a") ;=! type_error
(compare {} {}) ;=! type_error
(compare #{1} #{1}) ;=! type_error
(compare inc dec) ;=! type_error
(compare 'a 'b) ;=! type_error
(compare true 1) ;=! type_error
(compare [1] ["a"]) ;=! type_error
(compare "\uFFFD" "😀") ;=> -1

; max-key, min-key

(max-key count "a" "bb" "cc") ;=> "cc"
(max-key count "aa" "b") ;=> "aa"
(max-key :n {:n 1} {:n 3} {:n 2}) ;=> {:n 3}
(max-key abs -3 2) ;=> -3
(max-key abs -3 3) ;=> 3
(max-key count "a") ;=> "a"
(max-key nil? 5) ;=> 5
(min-key 1 :a) ;=> :a
(max-key identity 1 2.5) ;=> 2.5
(max-key :n {:n 1} {}) ;=! type_error
(max-key count) ;=! arity_error
(min-key abs -1 2) ;=> -1
(min-key abs -1 1) ;=> 1
(min-key count "aa" "b" "c") ;=> "c"
(min-key str 1 2) ;=! type_error
(min-key count) ;=! arity_error

; not, boolean, identity, any?

(not nil) ;=> true
(not false) ;=> true
(not true) ;=> false
(not 0) ;=> false
(not "") ;=> false
(not []) ;=> false
(boolean 0) ;=> true
(boolean nil) ;=> false
(boolean false) ;=> false
(boolean "") ;=> true
(boolean []) ;=> true
(identity 5) ;=> 5
(identity nil) ;=> nil
(any? nil) ;=> true
(any? 1) ;=> true

; Truth

(if 0 :t :f) ;=> :t
(if "" :t :f) ;=> :t
(if [] :t :f) ;=> :t
(if {} :t :f) ;=> :t
(if nil :t :f) ;=> :f
(if false :t :f) ;=> :f
(if ##NaN :t :f) ;=> :t

; Keys and members are stricter than =

(get {1 :a} 1.0) ;=> nil
(get {1.0 :a} 1) ;=> nil
(get {1 :a} 1) ;=> :a
(distinct [1 1.0]) ;=> [1 1.0]
(contains? [1] 1.0) ;=> false
(contains? #{1} 1.0) ;=> false
(get {0.0 :z} -0.0) ;=> :z
(contains? #{##NaN} ##NaN) ;=> true
(get {##NaN :n} ##NaN) ;=> :n
(count (hash-set ##NaN ##NaN)) ;=> 1
(count (hash-set 0.0 -0.0)) ;=> 1
(count (hash-set 1 1.0)) ;=> 2
(frequencies [1 1.0 1]) ;=> {1 2 1.0 1}
(get {[1 2] :v} (list 1 2)) ;=> :v
(get {#{1} :s} (hash-set 1)) ;=> :s
(get {{:a 1} :m} {:a 1}) ;=> :m
(get {nil :n} nil) ;=> :n
(get {"a" 1} \a) ;=> 1
(let [k 1] {k :a (inc 0) :b}) ;=> {1 :b}
{1 :a 1.0 :b} ;=> {1 :a 1.0 :b}
#{1 1.0} ;=> #{1 1.0}

; The fixed order of maps and sets

(seq {:b 1 :a 2}) ;=> [[:a 2] [:b 1]]
(vec #{"x" :k 3}) ;=> [3 :k "x"]
(vec #{"b" "a" "B"}) ;=> ["B" "a" "b"]
(vec #{nil true false 1 :a "s"}) ;=> [1 nil false true :a "s"]
(vec #{[1] "a" :a 2}) ;=> [2 :a [1] "a"]
(vec #{{:a 1} [1] #{1}}) ;=> [{:a 1} #{1} [1]]
(vec #{2 1.5 1 ##NaN ##-Inf}) ;=> [##-Inf 1 1.5 2 ##NaN]
(vec #{1.0 1}) ;=> [1 1.0]
(vec #{[2] [1 5] [1 4]}) ;=> [[2] [1 4] [1 5]]
(vec #{#{1 2} #{3}}) ;=> [#{3} #{1 2}]
(vec #{{:a 1 :b 2} {:c 1}}) ;=> [{:c 1} {:a 1 :b 2}]
(vec #{'b 'a :z}) ;=> [:z 'a 'b]
{:b 1 :a 2} ;=> {:a 2 :b 1}
{"b" 1 :c 2 3 4} ;=> {3 4 :c 2 "b" 1}
#{3 1 2} ;=> #{1 2 3}
(keys {:b 1 :a 2}) ;=> [:a :b]
(map first {:z 1 :y 2}) ;=> [:y :z]
(reduce conj [] #{:b :a}) ;=> [:a :b]
(for [x #{3 1 2}] x) ;=> [1 2 3]
(seq (sorted-map :b 1 :a 2)) ;=> [[:a 2] [:b 1]]
(into [] {10 :x 9 :y}) ;=> [[9 :y] [10 :x]]
