; Readable printing of values

nil ;=> nil
true ;=> true
"a\"b" ;=> "a\"b"
"tab\there" ;=> "tab\there"
"\r\n" ;=> "\r\n"
"\u0000" ;=> "\u0000"
"\u0007" ;=> "\u0007"
[1 "a" :b nil] ;=> [1 "a" :b nil]
{:a {:b [1 2]}} ;=> {:a {:b [1 2]}}
#{} ;=> #{}
{} ;=> {}
(fn [x] x) ;=> #fn
(fn named [x] x) ;=> #fn[named]
(do (defn f [x] x) f) ;=> #fn[f]
#"\d\"" ;=> #"\d\""
'x ;=> 'x
['x #"a" inc-missing] ;=! unbound_var
(def v 1) ;=> #'v
[(def v 1)] ;=> [#'v]
[1.0 ##Inf ##NaN] ;=> [1.0 ##Inf ##NaN]
{1 2 :a "b"} ;=> {1 2 :a "b"}
(LocalDate/of 2024 1 2) ;=> #date[2024-01-02]
(Instant/ofEpochMilli 0) ;=> #instant[1970-01-01T00:00:00Z]
(Duration/ofMillis 1500) ;=> #duration[PT1.5S]
(java.util.Date. 0) ;=> #legacy-date[1970-01-01T00:00:00Z]
(str (java.util.Date. 0) "|" (Duration/ofMillis 1500)) ;=> "1970-01-01T00:00:00Z|PT1.5S"
(str [(LocalDate/of 2024 1 2)]) ;=> "[#date[2024-01-02]]"
(println "a" [1 "x"]) ;=> nil
(println) ;=> nil
(prn "a") ;=> nil
(prn) ;=> nil
"héllo 😀" ;=> "héllo 😀"
(= "\u00a0" (str \u00a0)) ;=> true
["a\nb"] ;=> ["a\nb"]
