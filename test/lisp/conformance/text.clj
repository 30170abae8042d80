; str, pr-str

(str) ;=> ""
(str nil) ;=> ""
(str "a") ;=> "a"
(str 1 2) ;=> "12"
(str :a 1.0 nil) ;=> ":a1.0"
(str ["a" nil]) ;=> "[\"a\" nil]"
(str {:b 1 :a "x"}) ;=> "{:a \"x\" :b 1}"
(str #{2 1}) ;=> "#{1 2}"
(str true false) ;=> "truefalse"
(str \a \b) ;=> "ab"
(str [1 [2 {:a nil}]]) ;=> "[1 [2 {:a nil}]]"
(str (list 1 2)) ;=> "[1 2]"
(str (map inc [1 2])) ;=> "[2 3]"
(str "a\nb") ;=> "a\nb"
(str ["a\nb"]) ;=> "[\"a\\nb\"]"
(str #"a+") ;=> "a+"
(str 'sym) ;=> "'sym"
(str [##Inf ##NaN]) ;=> "[##Inf ##NaN]"
(str -0.0) ;=> "-0.0"
(pr-str "a" :b) ;=> "\"a\" :b"
(pr-str) ;=> ""
(pr-str nil) ;=> "nil"
(pr-str "a\"b") ;=> "\"a\\\"b\""
(pr-str [1 "x" :k nil]) ;=> "[1 \"x\" :k nil]"
(pr-str {:b 1 :a 2}) ;=> "{:a 2 :b 1}"
(pr-str #"a\d") ;=> "#\"a\\d\""
(pr-str 'a) ;=> "'a"
(pr-str 1.0) ;=> "1.0"
(pr-str \a) ;=> "\"a\""
(pr-str "\\") ;=> "\"\\\\\""

; subs

(subs "hello" 1 3) ;=> "el"
(subs "hello" 2) ;=> "llo"
(subs "abc" 1 99) ;=> "bc"
(subs "abc" -1) ;=> ""
(subs "abc" 5) ;=> ""
(subs "abc" 2 1) ;=> ""
(subs "abc" 0 0) ;=> ""
(subs "abc" 3) ;=> ""
(subs "" 0) ;=> ""
(subs "abc" 1.9) ;=> "bc"
(subs "😀bc" 1) ;=> "bc"
(= "e\u0301" (subs "e\u0301x" 0 1)) ;=> true
(subs nil 0) ;=! type_error
(subs 5 0) ;=! type_error
(subs [1 2] 0) ;=! type_error
(subs "abc" "1") ;=! type_error
(subs "abc" nil) ;=! type_error

; join

(join ", " [1 nil :a]) ;=> "1, , :a"
(join [1 2]) ;=> "12"
(join "," []) ;=> ""
(join "," nil) ;=> ""
(join "," ["a"]) ;=> "a"
(join "" ["a" "b"]) ;=> "ab"
(join "-" "abc") ;=> "a-b-c"
(join "," #{2 1}) ;=> "1,2"
(join "," {:a 1}) ;=> "[:a 1]"
(join "," [["x"] "y"]) ;=> "[\"x\"],y"
(str/join ", " ["a" "b"]) ;=> "a, b"
(join "," 5) ;=! type_error

; split, split-lines

(split "a,b,," #",") ;=> ["a" "b"]
(split "a,b,c" ",") ;=> ["a" "b" "c"]
(split "abc" "") ;=> ["a" "b" "c"]
(split "a,b,c" "," 2) ;=> ["a" "b,c"]
(split "a,," #"," -1) ;=> ["a" "" ""]
(split ",a" ",") ;=> ["" "a"]
(split "a1b22c" #"\d+") ;=> ["a" "b" "c"]
(split "a  b" #"\s+") ;=> ["a" "b"]
(split "" ",") ;=> [""]
(split "abc" ",") ;=> ["abc"]
(split ",,," ",") ;=> []
(split "a.b" ".") ;=> ["a" "b"]
(split "a|b" "|") ;=> ["a" "b"]
(split "a,b,c" #"," 0) ;=> ["a" "b" "c"]
(split "a,b,c" #"," 5) ;=> ["a" "b" "c"]
(split "a,b,,," #"," 3) ;=> ["a" "b" ",,"]
(split "aXbxc" #"(?i)x") ;=> ["a" "b" "c"]
(split "a, b" ", ") ;=! runtime_error
(split nil ",") ;=! type_error
(split 5 ",") ;=! type_error
(split "a" nil) ;=! type_error
(split "a" 5) ;=! type_error
(str/split "a b" #" ") ;=> ["a" "b"]
(split-lines "a\nb\r\nc\n") ;=> ["a" "b" "c"]
(split-lines "a") ;=> ["a"]
(split-lines "") ;=> [""]
(split-lines "a\n\nb") ;=> ["a" "" "b"]
(split-lines "\na") ;=> ["" "a"]
(split-lines nil) ;=! type_error
(split-lines 5) ;=! type_error

; trim and its kin

(trim " a ") ;=> "a"
(trim "\t\n a b \r") ;=> "a b"
(trim "") ;=> ""
(trim "   ") ;=> ""
(trim "\u2003a\u3000") ;=> "a"
(count (trim "\u00a0a")) ;=> 2
(trim nil) ;=! type_error
(trim 5) ;=! type_error
(triml " a") ;=> "a"
(triml " a ") ;=> "a "
(triml nil) ;=! type_error
(trimr "a ") ;=> "a"
(trimr " a ") ;=> " a"
(trimr 1) ;=! type_error
(trim-newline "a\n") ;=> "a"
(trim-newline "a\r\n\n") ;=> "a"
(trim-newline "a\nb") ;=> "a\nb"
(trim-newline "a ") ;=> "a "
(trim-newline nil) ;=! type_error
(str/trim " x ") ;=> "x"

; blank?

(blank? " \t") ;=> true
(blank? nil) ;=> true
(blank? "") ;=> true
(blank? "a") ;=> false
(blank? " a ") ;=> false
(blank? "\n\r") ;=> true
(blank? "\u00a0") ;=> false
(blank? 5) ;=! type_error

; Case

(upper-case "straße") ;=> "STRASSE"
(upper-case "abc") ;=> "ABC"
(upper-case "") ;=> ""
(upper-case "éa1") ;=> "ÉA1"
(upper-case :a) ;=> ":A"
(upper-case 5) ;=> "5"
(upper-case nil) ;=! type_error
(upcase "a") ;=> "A"
(upcase nil) ;=! type_error
(lower-case "ÀB") ;=> "àb"
(lower-case "ABC") ;=> "abc"
(lower-case :AB) ;=> ":ab"
(lower-case nil) ;=! type_error
(downcase "A") ;=> "a"
(downcase nil) ;=! type_error
(capitalize "hELLO") ;=> "Hello"
(capitalize "") ;=> ""
(capitalize "a") ;=> "A"
(capitalize "élan") ;=> "Élan"
(capitalize 12) ;=> "12"
(capitalize nil) ;=! type_error

; Searching

(starts-with? "abc" "ab") ;=> true
(starts-with? "abc" "b") ;=> false
(starts-with? "abc" "") ;=> true
(starts-with? "" "a") ;=> false
(starts-with? :abc ":a") ;=> true
(starts-with? nil "a") ;=! type_error
(starts-with? "a" 5) ;=! type_error
(ends-with? "abc" "") ;=> true
(ends-with? "abc" "bc") ;=> true
(ends-with? "abc" "b") ;=> false
(ends-with? 123 "3") ;=> true
(ends-with? nil "a") ;=! type_error
(includes? "abc" "bc") ;=> true
(includes? "abc" "d") ;=> false
(includes? "abc" "") ;=> true
(includes? 123 "2") ;=> true
(includes? nil "a") ;=! type_error
(includes? "abc" nil) ;=! type_error
(index-of "banana" "an" 2) ;=> 3
(index-of "banana" "an") ;=> 1
(index-of "a" "z") ;=> nil
(index-of "abc" "") ;=> 0
(index-of "abc" "c" -5) ;=> 2
(index-of "abc" "a" 9) ;=> nil
(index-of "😀bc" "b") ;=> 1
(index-of 12345 "3") ;=> 2
(index-of nil "a") ;=! type_error
(last-index-of "hello" "l" 2) ;=> 2
(last-index-of "hello" "l") ;=> 3
(last-index-of "a" "a" -1) ;=> nil
(last-index-of "abc" "z") ;=> nil
(last-index-of "abcabc" "abc") ;=> 3
(last-index-of "abcabc" "abc" 2) ;=> 0
(last-index-of "😀b😀" "😀") ;=> 2
(last-index-of nil "a") ;=! type_error

; replace, replace-first

(replace "a.b" "." "-") ;=> "a-b"
(replace "a1" #"\d" "<$0>") ;=> "a<1>"
(replace "aaa" "a" "b") ;=> "bbb"
(replace "abc" "z" "y") ;=> "abc"
(replace "abc" "b" "") ;=> "ac"
(replace "a$b" "$" "x") ;=> "axb"
(replace "ab" "a" "$1") ;=> "$1b"
(replace "john smith" #"(\w+) (\w+)" "$2 $1") ;=> "smith john"
(replace "a1b2" #"[a-z](\d)" "$1") ;=> "12"
(replace "k=v" #"(?<key>\w)=(?<val>\w)" "${val}=${key}") ;=> "v=k"
(replace "a1" #"\d" "\\$") ;=> "a$"
(replace "a1b2" #"\d" (fn [m] (str "<" m ">"))) ;=> "a<1>b<2>"
(replace "ab" #"[a-z]" upper-case) ;=> "AB"
(replace "a1" #"([a-z])(\d)" (fn [[all l d]] (str d l))) ;=> "1a"
(replace "abc" #"" "-") ;=> "-a-b-c-"
(replace "aaa" "aa" "b") ;=> "ba"
(replace "abc" #"x*" "-") ;=> "-a-b-c-"
(replace 123 "2" "x") ;=> "1x3"
(replace :a-b "-" "_") ;=> ":a_b"
(replace nil "a" "b") ;=! type_error
(replace "a" 5 "b") ;=! type_error
(replace "a" "a" 5) ;=! type_error
(replace "a1" #"\d" "$5") ;=! runtime_error
(replace "abc" {"a" 1}) ;=! type_error
(replace-first "aaa" "a" "b") ;=> "baa"
(replace-first "ab" #"b" upcase) ;=> "aB"
(replace-first "a1b2" #"\d" "<$0>") ;=> "a<1>b2"
(replace-first "abc" "z" "y") ;=> "abc"
(replace-first nil "a" "b") ;=! type_error
(str/replace "aXb" "X" "-") ;=> "a-b"

; str/reverse, str/escape

(str/reverse "abc") ;=> "cba"
(str/reverse "") ;=> ""
(str/reverse "a😀b") ;=> "b😀a"
(= "xe\u0301" (str/reverse "e\u0301x")) ;=> true
(str/reverse nil) ;=! type_error
(str/escape "a<b" {\< "&lt;"}) ;=> "a&lt;b"
(str/escape "abc" {}) ;=> "abc"
(str/escape "aba" {"a" "1"}) ;=> "1b1"
(str/escape nil {}) ;=! type_error

; name, keyword

(name :a) ;=> "a"
(name "b") ;=> "b"
(name :a-b?) ;=> "a-b?"
(name "") ;=> ""
(name 5) ;=! runtime_error
(name nil) ;=! runtime_error
(name [1]) ;=! runtime_error
(keyword "a-b") ;=> :a-b
(keyword :a) ;=> :a
(keyword nil) ;=> nil
(keyword "a1_?!") ;=> :a1_?!
(keyword nil "a") ;=> :a
(keyword "") ;=! runtime_error
(keyword "1a") ;=! runtime_error
(keyword "a b") ;=! runtime_error
(keyword "a/b") ;=! runtime_error
(keyword 5) ;=! runtime_error
(keyword "a" "b") ;=! runtime_error

; Parsing

(parse-long "-42") ;=> -42
(parse-long "42") ;=> 42
(parse-long "+7") ;=> 7
(parse-long "4.2") ;=> nil
(parse-long "") ;=> nil
(parse-long " 4") ;=> nil
(parse-long "4 ") ;=> nil
(parse-long "abc") ;=> nil
(parse-long "1e3") ;=> nil
(parse-long "007") ;=> 7
(parse-long "9223372036854775807") ;=> 9223372036854775807
(parse-long "9223372036854775808") ;=> nil
(parse-long "-9223372036854775808") ;=> -9223372036854775808
(parse-long "٣") ;=> nil
(parse-long nil) ;=! type_error
(parse-long 5) ;=! type_error
(parse-int "7") ;=> 7
(parse-int "x") ;=> nil
(parse-int "-1") ;=> -1
(parse-double "1e3") ;=> 1000.0
(parse-double " .5") ;=> 0.5
(parse-double "x") ;=> nil
(parse-double "1") ;=> 1.0
(parse-double "-1.5") ;=> -1.5
(parse-double "1.") ;=> 1.0
(parse-double "") ;=> nil
(parse-double "Infinity") ;=> ##Inf
(parse-double "-Infinity") ;=> ##-Inf
(parse-double "NaN") ;=> ##NaN
(parse-double "1d") ;=> 1.0
(parse-double "1.5f") ;=> 1.5
(parse-double "1,5") ;=> nil
(parse-double "0x1p3") ;=> 8.0
(parse-double nil) ;=! type_error
(parse-double 5) ;=! type_error
(parse-boolean "true") ;=> true
(parse-boolean "false") ;=> false
(parse-boolean "TRUE") ;=> nil
(parse-boolean "") ;=> nil
(parse-boolean nil) ;=! type_error
(parse-boolean true) ;=! type_error

; Text as a sequence of characters

(seq "héy") ;=> ["h" "é" "y"]
(map upper-case "ab") ;=> ["A" "B"]
(nth "a😀b" 1) ;=> "😀"
(last "a😀") ;=> "😀"
(count "a\u0301\u0302b") ;=> 2
(first "🇩🇪x") ;=> "🇩🇪"
(apply str (reverse "abc")) ;=> "cba"
(= {"e" 1 "e\u0301" 1} (frequencies "e\u0301e")) ;=> true
(= "e\u0301" "\u00e9") ;=> false
(includes? "e\u0301" "e") ;=> true
(index-of "xe\u0301" "e\u0301") ;=> 1
