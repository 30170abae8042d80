; Math

(Math/abs -7) ;=> 7
(Math/abs -7.5) ;=> 7.5
(Math/abs 0) ;=> 0
(Math/abs -9223372036854775808) ;=> -9223372036854775808
(Math/abs "a") ;=! java_type_error
(Math/abs nil) ;=! java_type_error
(Math/abs 9223372036854775808) ;=! java_type_error
(Math/max 1 2) ;=> 2
(Math/max 1.5 2.5) ;=> 2.5
(Math/max 1 2.5) ;=! java_type_error
(Math/min 1.5 2.5) ;=> 1.5
(Math/min 3 1) ;=> 1
(Math/min 1.5 2) ;=! java_type_error
(Math/min nil 1) ;=! java_type_error
(Math/ceil 1.2) ;=> 2.0
(Math/ceil 2) ;=> 2.0
(Math/ceil "a") ;=! java_type_error
(Math/floor -1.2) ;=> -2.0
(Math/floor 1.8) ;=> 1.0
(Math/floor nil) ;=! java_type_error
(Math/sqrt 16) ;=> 4.0
(Math/sqrt -1) ;=> ##NaN
(Math/sqrt :a) ;=! java_type_error
(Math/pow 2 3) ;=> 8.0
(Math/pow 2 0.5) ;=> 1.4142135623730951
(Math/pow "2" 3) ;=! java_type_error
(Math/round 2.5) ;=> 3
(Math/round -2.5) ;=> -2
(Math/round 2.4) ;=> 2
(Math/round ##NaN) ;=> 0
(Math/round ##Inf) ;=> 9223372036854775807
(Math/round ##-Inf) ;=> -9223372036854775808
(Math/round 3) ;=! java_type_error
(map Math/abs [-1 2]) ;=> [1 2]

; Parsing

(Integer/parseInt "42") ;=> 42
(Integer/parseInt "-7") ;=> -7
(Integer/parseInt "+7") ;=> 7
(Integer/parseInt "ff" 16) ;=> 255
(Integer/parseInt "101" 2) ;=> 5
(Integer/parseInt "x") ;=! java_domain_error
(Integer/parseInt "") ;=! java_domain_error
(Integer/parseInt "1.5") ;=! java_domain_error
(Integer/parseInt "2147483648") ;=! java_domain_error
(Integer/parseInt " 1") ;=! java_domain_error
(Integer/parseInt 5) ;=! java_type_error
(Long/parseLong "ff" 16) ;=> 255
(Long/parseLong "9223372036854775807") ;=> 9223372036854775807
(Long/parseLong "9223372036854775808") ;=! java_domain_error
(Long/parseLong "abc") ;=! java_domain_error
(Double/parseDouble "1.5") ;=> 1.5
(Double/parseDouble "1e3") ;=> 1000.0
(Double/parseDouble " 2 ") ;=> 2.0
(Double/parseDouble "x") ;=! java_domain_error
(Double/parseDouble nil) ;=! java_type_error
(Float/parseFloat "2") ;=> 2.0
(Float/parseFloat "0.1") ;=> 0.1
(Float/parseFloat "x") ;=! java_domain_error
(Boolean/parseBoolean "TRUE") ;=> true
(Boolean/parseBoolean "true") ;=> true
(Boolean/parseBoolean "yes") ;=> false
(Boolean/parseBoolean nil) ;=> false
(max 1 Double/POSITIVE_INFINITY) ;=> ##Inf
(min 1 Double/NEGATIVE_INFINITY) ;=> ##-Inf
(NaN? Double/NaN) ;=> true

; Text by UTF-16 units

(.length "😀a") ;=> 3
(.length "") ;=> 0
(map .length ["a" "bb"]) ;=> [1 2]
(.length nil) ;=! java_type_error
(.length 5) ;=! java_type_error
(.isEmpty "") ;=> true
(.isEmpty "a") ;=> false
(.trim " a ") ;=> "a"
(.indexOf "hello" "l" 3) ;=> 3
(.indexOf "hello" "l") ;=> 2
(.indexOf "hello" "z") ;=> -1
(.indexOf "hello" 108) ;=> 2
(.indexOf "😀a" "a") ;=> 2
(.indexOf "abc" "a" 9) ;=> -1
(.indexOf 5 "a") ;=! java_type_error
(.lastIndexOf "abc" "z") ;=> -1
(.lastIndexOf "hello" "l") ;=> 3
(.lastIndexOf "hello" "l" 2) ;=> 2
(.contains "abc" "bc") ;=> true
(.contains "abc" "x") ;=> false
(.contains "abc" 5) ;=! java_type_error
(.startsWith "abc" "b" 1) ;=> true
(.startsWith "abc" "a") ;=> true
(.startsWith "abc" "b") ;=> false
(.endsWith "a" "") ;=> true
(.endsWith "abc" "c") ;=> true
(.substring "hello" 1 3) ;=> "el"
(.substring "hello" 2) ;=> "llo"
(.substring "hello" 5) ;=> ""
(.substring "hello" 3 1) ;=! java_domain_error
(.substring "hello" 9) ;=! java_domain_error
(.substring "hello" -1) ;=! java_domain_error
(.substring "😀" 1) ;=! invalid_java_string
(.charAt "abc" 1) ;=> "b"
(.charAt "abc" 3) ;=! java_domain_error
(.charAt "abc" -1) ;=! java_domain_error
(.charAt "😀" 0) ;=! invalid_java_string
(.toUpperCase "a") ;=> "A"
(.toUpperCase nil) ;=! java_type_error
(.toLowerCase "A") ;=> "a"
(.equalsIgnoreCase "aB" "Ab") ;=> true
(.equalsIgnoreCase "a" "b") ;=> false

; LocalDate

(str (LocalDate/parse "2024-02-28T10:00:00")) ;=> "2024-02-28"
(LocalDate/parse "2024-02-29") ;=> #date[2024-02-29]
(LocalDate/parse "2023-02-29") ;=! java_domain_error
(LocalDate/parse "2024-13-01") ;=! java_domain_error
(LocalDate/parse "x") ;=! java_domain_error
(LocalDate/parse nil) ;=! java_type_error
(str (LocalDate/of 2024 1 2)) ;=> "2024-01-02"
(LocalDate/of 2024 2 30) ;=! java_domain_error
(LocalDate/of 2024 13 1) ;=! java_domain_error
(LocalDate/of "2024" 1 1) ;=! java_type_error
(str (.plusDays (LocalDate/parse "2024-02-28") 2)) ;=> "2024-03-01"
(str (.minusDays (LocalDate/parse "2024-03-01") 1)) ;=> "2024-02-29"
(.toEpochDay (LocalDate/parse "1970-01-02")) ;=> 1
(.toEpochDay (LocalDate/parse "1969-12-31")) ;=> -1
(.toEpochDay (LocalDate/of 2000 1 1)) ;=> 10957
(.isBefore (LocalDate/parse "2024-01-01") (LocalDate/parse "2024-01-02")) ;=> true
(.isAfter (LocalDate/parse "2024-01-01") (LocalDate/parse "2024-01-02")) ;=> false
(.isBefore (LocalDate/parse "2024-01-01") (Instant/parse "2024-01-02")) ;=! java_type_error
(= (LocalDate/of 2024 1 2) (LocalDate/parse "2024-01-02")) ;=> true
(sort [(LocalDate/of 2024 2 1) (LocalDate/of 2024 1 1)]) ;=> [#date[2024-01-01] #date[2024-02-01]]
(compare (LocalDate/of 2024 1 1) (LocalDate/of 2024 1 2)) ;=> -1
(.plusDays "2024-01-01" 1) ;=! java_type_error

; Instant, Duration

(str (Instant/parse "2024-01-01T00:00:00+02:00")) ;=> "2023-12-31T22:00:00Z"
(Instant/parse "2024-01-01") ;=> #instant[2024-01-01T00:00:00Z]
(str (Instant/parse "2024-01-01T10:20:30")) ;=> "2024-01-01T10:20:30Z"
(str (Instant/parse "2024-01-01T10:20:30.123456789Z")) ;=> "2024-01-01T10:20:30.123456789Z"
(Instant/parse "nope") ;=! java_domain_error
(Instant/parse nil) ;=! java_type_error
(str (Instant/ofEpochMilli 1500)) ;=> "1970-01-01T00:00:01.500Z"
(str (Instant/ofEpochMilli 0)) ;=> "1970-01-01T00:00:00Z"
(str (Instant/ofEpochMilli -1)) ;=> "1969-12-31T23:59:59.999Z"
(.toEpochMilli (Instant/parse "1970-01-01T00:00:01Z")) ;=> 1000
(.isAfter (Instant/ofEpochMilli 2) (Instant/ofEpochMilli 1)) ;=> true
(str (Duration/ofMillis 90001500)) ;=> "PT25H1.5S"
(str (Duration/ofMillis 0)) ;=> "PT0S"
(str (Duration/ofMillis 60000)) ;=> "PT1M"
(.toDays (Duration/between (Instant/parse "2024-01-01") (Instant/parse "2024-01-03"))) ;=> 2
(.toMillis (Duration/between (Instant/ofEpochMilli 5) (Instant/ofEpochMilli 12))) ;=> 7
(.toDays (Duration/ofMillis 90000000)) ;=> 1
(.toDays (Duration/ofMillis -90000000)) ;=> -1
(Duration/between (LocalDate/of 2024 1 1) (LocalDate/of 2024 1 2)) ;=! java_type_error

; java.util.Date

(str (java.util.Date. 1000)) ;=> "1970-01-01T00:00:01Z"
(.getTime (java.util.Date. 1000)) ;=> 1000
(.before (java.util.Date. 1) (java.util.Date. 2)) ;=> true
(.after (java.util.Date. 1) (java.util.Date. 2)) ;=> false
(.getTime (java.util.Date. "2024-01-01T00:00:00Z")) ;=> 1704067200000
(.getTime (java.util.Date. "Mon, 1 Jan 2024 00:00:00 GMT")) ;=> 1704067200000
(.getTime (java.util.Date. "Jan 1 2024 01:00 +01:00")) ;=> 1704067200000
(java.util.Date. "not a date") ;=! java_domain_error
(java.util.Date. "1 Jan 1500") ;=! java_domain_error
(.getTime 5) ;=! java_type_error
(= (java.util.Date. 5) (java.util.Date. 5)) ;=> true

; The clock, constant between two effects

(integer? (now)) ;=> true
(= (now) (now)) ;=> true
(= (now) (System/currentTimeMillis)) ;=> true
(= (now) (.toEpochMilli (Instant/now))) ;=> true
(= (now) (.getTime (java.util.Date.))) ;=> true
(type (LocalDate/now)) ;=> :java_object
(= (.toEpochDay (LocalDate/now)) (quot (now) 86400000)) ;=> true
(LocalDate/now 1) ;=! arity_error
(Instant/now 1) ;=! arity_error
(System/currentTimeMillis 1) ;=! arity_error

; Members refuse values of another class

(.isEmpty 5) ;=! java_type_error
(.isEmpty nil) ;=! java_type_error
(.trim :a) ;=! java_type_error
(.lastIndexOf [1] "a") ;=! java_type_error
(.startsWith 5 "a") ;=! java_type_error
(.startsWith "abc" nil) ;=! java_type_error
(.endsWith nil "a") ;=! java_type_error
(.toLowerCase 5) ;=! java_type_error
(.equalsIgnoreCase 5 "a") ;=! java_type_error
(.charAt 5 0) ;=! java_type_error
(.substring :abc 1) ;=! java_type_error
(.minusDays 5 1) ;=! java_type_error
(.minusDays (LocalDate/of 2024 1 1) "1") ;=! java_type_error
(.toEpochDay "2024-01-01") ;=! java_type_error
(.toEpochDay (Instant/ofEpochMilli 0)) ;=! java_type_error
(.toEpochMilli (LocalDate/of 2024 1 1)) ;=! java_type_error
(.isAfter 1 2) ;=! java_type_error
(.isAfter (Instant/ofEpochMilli 0) (LocalDate/of 2024 1 1)) ;=! java_type_error
(Instant/ofEpochMilli "0") ;=! java_type_error
(Duration/ofMillis nil) ;=! java_type_error
(Duration/between 1 2) ;=! java_type_error
(.toMillis 5) ;=! java_type_error
(.toDays (LocalDate/of 2024 1 1)) ;=! java_type_error
(.before 1 2) ;=! java_type_error
(.after (java.util.Date. 1) 2) ;=! java_type_error
(.getTime (LocalDate/of 2024 1 1)) ;=! java_type_error
(java.util.Date. :a) ;=! java_type_error
(Boolean/parseBoolean 5) ;=! java_type_error
(.length) ;=! arity_error
(.length "a" "b") ;=! arity_error
(Math/abs) ;=! arity_error
(Math/max 1) ;=! arity_error
(LocalDate/of 2024 1) ;=! arity_error
