; re-pattern, regex?

(re-find (re-pattern "b.") "abc") ;=> "bc"
(re-pattern "a+") ;=> #"a+"
(re-pattern #"a") ;=> #"a"
(regex? (re-pattern "a")) ;=> true
(regex? "a") ;=> false
(re-pattern "(") ;=! runtime_error
(re-pattern "a{2000}") ;=! runtime_error
(re-pattern nil) ;=! type_error
(re-pattern 5) ;=! type_error

; re-find

(re-find #"\d+" "a12") ;=> "12"
(re-find #"(a)(b)?" "a") ;=> ["a" "a" nil]
(re-find #"z" "abc") ;=> nil
(re-find #"a|ab" "ab") ;=> "a"
(re-find "b." "abc") ;=> "bc"
(re-find #"" "abc") ;=> ""
(re-find #"(\w+)@(\w+)" "x: joe@home") ;=> ["joe@home" "joe" "home"]
(re-find #"(?:a)(b)" "ab") ;=> ["ab" "b"]
(re-find #"(?<y>\d{4})" "in 2024") ;=> ["2024" "2024"]
(re-find #"a" nil) ;=! type_error
(re-find #"a" 5) ;=! type_error
(re-find 5 "a") ;=! type_error
(re-find "(" "a") ;=! runtime_error

; re-matches

(re-matches #"\d" "a1") ;=> nil
(re-matches #"(\d)-(\d)" "1-2") ;=> ["1-2" "1" "2"]
(re-matches #"\d+" "123") ;=> "123"
(re-matches #"a|ab" "ab") ;=> "ab"
(re-matches #"" "") ;=> ""
(re-matches #"a*?" "aaa") ;=> "aaa"
(re-matches "a+" "aa") ;=> "aa"
(re-matches #"a" 5) ;=! type_error

; re-seq

(re-seq #"\d" "a1b2") ;=> ["1" "2"]
(re-seq #"z" "a") ;=> nil
(re-seq #"(\w)(\d)" "a1 b2") ;=> [["a1" "a" "1"] ["b2" "b" "2"]]
(re-seq #"a*" "baa") ;=> ["" "aa" ""]
(re-seq #"\w+" "the quick fox") ;=> ["the" "quick" "fox"]
(re-seq #"" "ab") ;=> ["" "" ""]
(re-seq #"." "a😀") ;=> ["a" "😀"]
(re-seq #"a" nil) ;=! type_error

; re-split, extract, extract-int

(re-split #"\s+" "a  b") ;=> ["a" "b"]
(re-split #"," "a,b,,") ;=> ["a" "b"]
(re-split "," "a,b") ;=> ["a" "b"]
(re-split #"," "") ;=> [""]
(extract "k=(\\w+)" "k=v") ;=> "v"
(extract #"\d+" "a12" 0) ;=> "12"
(extract #"(\w)(\d)" "a1" 2) ;=> "1"
(extract #"z(.)" "abc") ;=> nil
(extract #"(a)|(b)" "b") ;=> nil
(extract #"(a)" "a" 1) ;=> "a"
(extract-int "n=(\\d+)" "n=42") ;=> 42
(extract-int "n=(\\d+)" "x" 1 0) ;=> 0
(extract-int "n=(\\d+)" "x") ;=> nil
(extract-int #"\d+" "a12" 0) ;=> 12
(extract-int #"(-?\d+)" "t -5") ;=> -5

; The language of patterns

(re-find #"." "\n") ;=> nil
(re-find #"(?s)." "\n") ;=> "\n"
(re-find #"a.c" "abc") ;=> "abc"
(re-find #"[abc]+" "xxcab") ;=> "cab"
(re-find #"[^abc]+" "abxyc") ;=> "xy"
(re-find #"[a-c]+" "zabcd") ;=> "abc"
(re-find #"[a-cx-z]+" "mabxz") ;=> "abxz"
(re-find #"[-a]+" "b-a") ;=> "-a"
(re-find #"[\]]" "a]") ;=> "]"
(re-find #"[\d.]+" "v1.25") ;=> "1.25"
(re-find #"\d\D\w\W\s\S" "1a_- x") ;=> "1a_- x"
(re-find #"\t" "a\tb") ;=> "\t"
(re-find #"\x41" "A") ;=> "A"
(re-find #"\u00e9" "é") ;=> "é"
(re-find #"\x{1F600}" "😀") ;=> "😀"
(re-find #"\Qa.b\E" "axb a.b") ;=> "a.b"
(re-find #"\." "a.b") ;=> "."
(re-find #"\p{L}+" "héllo!") ;=> "héllo"
(re-find #"\p{Lu}" "aÄb") ;=> "Ä"
(re-find #"\P{L}+" "ab12") ;=> "12"
(re-find #"\p{N}+" "a٣4") ;=> "٣4"
(re-find #"\p{Punct}" "a!") ;=> "!"
(re-find #"\p{Alpha}+" "1ab") ;=> "ab"
(re-find #"[\p{Lu}\d]+" "aB1c") ;=> "B1"
(re-find #"\w+" "é_1") ;=> "_1"
(re-find #"a*" "aaa") ;=> "aaa"
(re-find #"a*?" "aaa") ;=> ""
(re-find #"a+?" "aaa") ;=> "a"
(re-find #"ab?" "a") ;=> "a"
(re-find #"a{2}" "aaa") ;=> "aa"
(re-find #"a{2,}" "aaa") ;=> "aaa"
(re-find #"a{1,2}" "aaa") ;=> "aa"
(re-find #"a{1,2}?" "aaa") ;=> "a"
(re-find #"<(.+?)>" "<a><b>") ;=> ["<a>" "a"]
(re-find #"<(.+)>" "<a><b>") ;=> ["<a><b>" "a><b"]
(re-find #"^b" "ab") ;=> nil
(re-find #"(?m)^b" "a\nb") ;=> "b"
(re-find #"a$" "ba\n") ;=> "a"
(re-find #"a$" "a\nb") ;=> nil
(re-find #"(?m)a$" "a\nb") ;=> "a"
(re-find #"a\z" "a\n") ;=> nil
(re-find #"a\Z" "a\n") ;=> "a"
(re-find #"\Ab" "ab") ;=> nil
(re-find #"\bcat\b" "concat cat") ;=> "cat"
(re-find #"\Bat" "cat") ;=> "at"
(re-find #"(?i)ABC" "abc") ;=> "abc"
(re-find #"(?i:A)b" "ab") ;=> "ab"
(re-find #"(?x) a b # comment" "ab") ;=> "ab"
(re-find #"(?i)É" "é") ;=> nil
(re-find #"(a|b)+" "abab") ;=> ["abab" "b"]
(re-find #"(?:a|b)+" "abab") ;=> "abab"
(re-find #"cat|dog" "hotdog") ;=> "dog"
(re-find #"(a+)+$" "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab") ;=> nil
(re-find #"x*y*z*" "") ;=> ""

; What patterns cannot do

(re-find (re-pattern "(?=a)") "a") ;=! runtime_error
(re-find (re-pattern "(?!a)") "a") ;=! runtime_error
(re-find (re-pattern "(?<=a)b") "ab") ;=! runtime_error
(re-find (re-pattern "(a)\\1") "aa") ;=! runtime_error
(re-find (re-pattern "a*+") "a") ;=! runtime_error
(re-find (re-pattern "(?>a)") "a") ;=! runtime_error
(re-find (re-pattern "[a-z&&[b]]") "a") ;=! runtime_error
(re-find (re-pattern "\\G") "a") ;=! runtime_error
(re-find (re-pattern "*a") "a") ;=! runtime_error
(re-find (re-pattern "[z-a]") "a") ;=! runtime_error
(re-find (re-pattern "((a{500}){500}){500}") "a") ;=! runtime_error
#"(?<=a)b" ;=! invalid_form
#"[a-z&&[^b]]" ;=! invalid_form
#"*" ;=! invalid_form
