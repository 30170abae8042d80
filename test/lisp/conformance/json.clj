; parse-string

(json/parse-string "{\"a\":[1,2.5]}") ;=> {"a" [1 2.5]}
(json/parse-string "1") ;=> 1
(json/parse-string "1.0") ;=> 1.0
(json/parse-string "-1.5e2") ;=> -150.0
(json/parse-string "1e2") ;=> 100.0
(json/parse-string "12345678901234567890") ;=> 12345678901234567890
(json/parse-string "null") ;=> nil
(json/parse-string "true") ;=> true
(json/parse-string "false") ;=> false
(json/parse-string "\"x\"") ;=> "x"
(json/parse-string "\"a\\nb\\u0041\"") ;=> "a\nbA"
(json/parse-string "[]") ;=> []
(json/parse-string "{}") ;=> {}
(json/parse-string " [1 , 2 ] ") ;=> [1 2]
(json/parse-string "{\"a\":1,\"a\":2}") ;=> {"a" 2}
(json/parse-string "{\"__proto__\":1}") ;=> {"__proto__" 1}
(json/parse-string "{\"b\":1,\"a\":{\"c\":null}}") ;=> {"a" {"c" nil} "b" 1}
(json/parse-string "") ;=> nil
(json/parse-string "{") ;=> nil
(json/parse-string "[1,]") ;=> nil
(json/parse-string "{a:1}") ;=> nil
(json/parse-string "'a'") ;=> nil
(json/parse-string "01") ;=> nil
(json/parse-string "1.") ;=> nil
(json/parse-string "NaN") ;=> nil
(json/parse-string "1 2") ;=> nil
(json/parse-string "\"a\nb\"") ;=> nil
(json/parse-string nil) ;=! type_error
(json/parse-string 5) ;=! type_error
(:a (json/parse-string "{\"a\":5}")) ;=> 5

; parse-lines

(json/parse-lines "1\n\n[2]\nx") ;=> [1 [2] nil]
(json/parse-lines "") ;=> []
(json/parse-lines "{\"a\":1}\n{\"a\":2}\n") ;=> [{"a" 1} {"a" 2}]
(json/parse-lines "  \n1") ;=> [1]
(json/parse-lines nil) ;=! type_error

; generate-string

(json/generate-string {:b [1.0 nil]}) ;=> "{\"b\":[1.0,null]}"
(json/generate-string {:k (name :v)}) ;=> "{\"k\":\"v\"}"
(json/generate-string nil) ;=> "null"
(json/generate-string 1) ;=> "1"
(json/generate-string 1.5) ;=> "1.5"
(json/generate-string "a\"b\n") ;=> "\"a\\\"b\\n\""
(json/generate-string [1 "a" true nil]) ;=> "[1,\"a\",true,null]"
(json/generate-string {}) ;=> "{}"
(json/generate-string []) ;=> "[]"
(json/generate-string {:b 1 :a 2}) ;=> "{\"a\":2,\"b\":1}"
(json/generate-string {"x" 1 :y 2}) ;=> "{\"y\":2,\"x\":1}"
(json/generate-string {1 :a}) ;=! type_error
(json/generate-string {1 "a"}) ;=> "{\"1\":\"a\"}"
(json/generate-string {:a-b 1}) ;=> "{\"a-b\":1}"
(json/generate-string 12345678901234567890) ;=> "12345678901234567890"
(json/generate-string :k) ;=! type_error
(json/generate-string #{1}) ;=! type_error
(json/generate-string inc) ;=! type_error
(json/generate-string ##Inf) ;=! type_error
(json/generate-string ##NaN) ;=! type_error
(json/generate-string {:a 1 "a" 2}) ;=! type_error
(json/generate-string [1 {:a #{}}]) ;=! type_error
(json/generate-string {[1] 2}) ;=! type_error
(json/generate-string {nil 2}) ;=! type_error
(json/parse-string (json/generate-string {"a" [1 2.5 nil "x"]})) ;=> {"a" [1 2.5 nil "x"]}
