; get

(get {:a 1} :a) ;=> 1
(get {:a 1} :b) ;=> nil
(get {:a 1} :b 0) ;=> 0
(get {:a nil} :a 5) ;=> nil
(get "abc" 1) ;=> "b"
(get "abc" 5) ;=> nil
(get "abc" -1) ;=> nil
(get "abc" 5 :d) ;=> :d
(get [10 20] 1) ;=> 20
(get [10 20] 2) ;=> nil
(get [10 20] -1) ;=> nil
(get [10 20] 2 :d) ;=> :d
(get [10 20] :a) ;=> nil
(get #{1} 1) ;=> 1
(get #{1} 2) ;=> nil
(get #{1} 2 :d) ;=> :d
(get nil :a) ;=> nil
(get nil :a 1) ;=> 1
(get 5 :a) ;=> nil
(get 5 :a :d) ;=> :d
(get :k :a) ;=> nil
(get "😀a" 1) ;=> "a"

; get-in

(get-in {:a [{:b 7}]} [:a 0 :b]) ;=> 7
(get-in nil [:a] 0) ;=> 0
(get-in {:a 1} [:a]) ;=> 1
(get-in {:a 1} []) ;=> {:a 1}
(get-in {:a 1} nil) ;=> {:a 1}
(get-in {:a nil} [:a] 5) ;=> nil
(get-in {:a nil} [:a :b] 5) ;=> 5
(get-in {:a 1} [:a :b]) ;=> nil
(get-in {:a 1} [:b] :d) ;=> :d
(get-in [[1 2] [3]] [1 0]) ;=> 3
(get-in {:a {:b {:c 1}}} [:a :b :c]) ;=> 1
(get-in {:a "xyz"} [:a 1]) ;=> "y"
(get-in {:a 1} :a) ;=! type_error
(get-in {:a 1} 5) ;=! type_error

; nth

(nth [1 2] 0) ;=> 1
(nth [1 2] 5) ;=> nil
(nth [1 2] -1 :d) ;=> :d
(nth [1 2] 5 :d) ;=> :d
(nth [1 nil] 1 :d) ;=> nil
(nth "abc" 1) ;=> "b"
(nth "abc" 9) ;=> nil
(nth nil 0) ;=> nil
(nth nil 0 :d) ;=> :d
(nth [1 2] 1.9) ;=> 2
(nth {:a 1} 0) ;=! type_error
(nth #{1} 0) ;=! type_error
(nth 5 0) ;=! type_error
(nth [1] :a) ;=! type_error
(nth [1] nil) ;=! type_error

; first, second, last

(first [1 2]) ;=> 1
(first []) ;=> nil
(first nil) ;=> nil
(first "ab") ;=> "a"
(first "") ;=> nil
(first [nil 1]) ;=> nil
(first {:a 1}) ;=! type_error
(first #{1}) ;=! type_error
(first 5) ;=! type_error
(first :a) ;=! type_error
(second [1 2]) ;=> 2
(second [1]) ;=> nil
(second nil) ;=> nil
(second "abc") ;=> "b"
(second {:a 1 :b 2}) ;=! type_error
(second 1) ;=! type_error
(last [1 2]) ;=> 2
(last []) ;=> nil
(last nil) ;=> nil
(last "abc") ;=> "c"
(last #{1 2}) ;=! type_error
(last 1.5) ;=! type_error

; rest, next, butlast

(rest [1 2 3]) ;=> [2 3]
(rest [1]) ;=> []
(rest []) ;=> []
(rest nil) ;=> []
(rest "abc") ;=> ["b" "c"]
(rest {:a 1}) ;=! type_error
(rest #{1}) ;=! type_error
(rest 5) ;=! type_error
(next [1 2]) ;=> [2]
(next [1]) ;=> nil
(next []) ;=> nil
(next nil) ;=> nil
(next "ab") ;=> ["b"]
(next {:a 1}) ;=! type_error
(butlast [1 2]) ;=> [1]
(butlast [1 2 3]) ;=> [1 2]
(butlast [1]) ;=> nil
(butlast []) ;=> nil
(butlast nil) ;=> nil
(butlast "abc") ;=> ["a" "b"]
(butlast #{1}) ;=! type_error
(butlast :k) ;=! type_error

; ffirst, nfirst, fnext, nnext

(ffirst [[1 2]]) ;=> 1
(ffirst []) ;=> nil
(ffirst [[]]) ;=> nil
(ffirst nil) ;=> nil
(ffirst ["ab"]) ;=> "a"
(ffirst [1]) ;=! type_error
(ffirst {:a 1}) ;=! type_error
(nfirst [[1 2]]) ;=> [2]
(nfirst [[1]]) ;=> nil
(nfirst []) ;=> nil
(nfirst #{[1]}) ;=! type_error
(fnext [1 2]) ;=> 2
(fnext [1]) ;=> nil
(fnext {:a 1}) ;=! type_error
(nnext [1 2 3]) ;=> [3]
(nnext [1 2]) ;=> nil
(nnext nil) ;=> nil
(nnext #{1}) ;=! type_error

; peek, pop

(peek [1 2]) ;=> 2
(peek []) ;=> nil
(peek nil) ;=> nil
(peek {:a 1}) ;=! type_error
(peek "ab") ;=! type_error
(peek #{1}) ;=! type_error
(peek 5) ;=! type_error
(pop [1 2]) ;=> [1]
(pop [1]) ;=> []
(pop []) ;=> nil
(pop nil) ;=> nil
(pop "ab") ;=! type_error
(pop {}) ;=! type_error

; find, key, val

(find {:a nil} :a) ;=> [:a nil]
(find {:a 1} :b) ;=> nil
(find [10 20] 1) ;=> [1 20]
(find [10 20] 2) ;=> nil
(find [10 20] -1) ;=> nil
(find nil :a) ;=> nil
(find #{1} 1) ;=! type_error
(find "abc" 0) ;=! type_error
(find 5 0) ;=! type_error
(key [:a 1]) ;=> :a
(val [:a 1]) ;=> 1
(map key {:a 1 :b 2}) ;=> [:a :b]
(map val {:a 1 :b 2}) ;=> [1 2]
(key [1]) ;=! type_error
(key [1 2 3]) ;=! type_error
(val nil) ;=! type_error
(val {:a 1}) ;=! type_error

; keys, vals, entries

(keys {:b 1 :a 2}) ;=> [:a :b]
(keys {}) ;=> nil
(keys nil) ;=> nil
(keys [1 2]) ;=! type_error
(keys 5) ;=! type_error
(keys "ab") ;=! type_error
(vals {:b 1 :a 2}) ;=> [2 1]
(vals {}) ;=> nil
(vals nil) ;=> nil
(vals #{1}) ;=! type_error
(vals 5) ;=! type_error
(entries {:a 1}) ;=> [[:a 1]]
(entries {:b 1 :a 2}) ;=> [[:a 2] [:b 1]]
(entries {}) ;=> []
(entries nil) ;=> []
(entries 5) ;=! type_error

; contains?

(contains? [10 20] 20) ;=> true
(contains? [10 20] 0) ;=> false
(contains? {:a nil} :a) ;=> true
(contains? {:a 1} :b) ;=> false
(contains? {"a" 1} :a) ;=> true
(contains? #{1 2} 2) ;=> true
(contains? #{1 2} 3) ;=> false
(contains? #{nil} nil) ;=> true
(contains? "abc" 0) ;=> true
(contains? "abc" 2) ;=> true
(contains? "abc" 3) ;=> false
(contains? "abc" -1) ;=> false
(contains? nil :a) ;=> false
(contains? [[1]] [1]) ;=> true
(contains? [] nil) ;=> false
(contains? [nil] nil) ;=> true
(contains? 5 1) ;=! type_error
(contains? :k :k) ;=! type_error

; count, empty?, not-empty, seq

(count [1 2 3]) ;=> 3
(count []) ;=> 0
(count nil) ;=> 0
(count "héllo") ;=> 5
(count "") ;=> 0
(count {:a 1}) ;=> 1
(count #{1 2}) ;=> 2
(count "😀a") ;=> 2
(count "e\u0301") ;=> 1
(count "🇩🇪") ;=> 1
(count "👨‍👩‍👧") ;=> 1
(count "👍🏽") ;=> 1
(count "a\r\n") ;=> 3
(count "1\ufe0f\u20e3") ;=> 1
(count "🇩🇪🇫🇷") ;=> 2
(count "🇩🇪🇫") ;=> 2
(count "\u0301") ;=> 1
(count "a\u200db") ;=> 2
(count 5) ;=! type_error
(count :a) ;=! type_error
(count inc) ;=! type_error
(count true) ;=! type_error
(empty? nil) ;=> true
(empty? []) ;=> true
(empty? "") ;=> true
(empty? {}) ;=> true
(empty? #{}) ;=> true
(empty? [nil]) ;=> false
(empty? " ") ;=> false
(empty? 0) ;=! type_error
(empty? :a) ;=! type_error
(not-empty "") ;=> nil
(not-empty "a") ;=> "a"
(not-empty []) ;=> nil
(not-empty [1]) ;=> [1]
(not-empty {}) ;=> nil
(not-empty {:a 1}) ;=> {:a 1}
(not-empty #{1}) ;=> #{1}
(not-empty nil) ;=> nil
(not-empty 5) ;=! type_error
(seq {:a 1}) ;=> [[:a 1]]
(seq []) ;=> nil
(seq nil) ;=> nil
(seq "") ;=> nil
(seq "ab") ;=> ["a" "b"]
(seq #{2 1}) ;=> [1 2]
(seq [nil]) ;=> [nil]
(seq 5) ;=! type_error
(seq :a) ;=! type_error

; subvec

(subvec [1 2 3] 1) ;=> [2 3]
(subvec [1 2 3] 0 9) ;=> [1 2 3]
(subvec [1 2 3] 1 2) ;=> [2]
(subvec [1 2 3] 0 0) ;=> []
(subvec [1 2 3] -5 2) ;=> [1 2]
(subvec [1 2 3] 2 1) ;=> []
(subvec [1 2 3] 9) ;=> []
(subvec [1 2 3] 1.9) ;=> [2 3]
(subvec "abc" 1) ;=! type_error
(subvec nil 0) ;=! type_error
(subvec {} 0) ;=! type_error
(subvec [1] :a) ;=! type_error
