; Numbers

42 ;=> 42
-42 ;=> -42
+5 ;=> 5
1.5 ;=> 1.5
-1.5 ;=> -1.5
1e3 ;=> 1000.0
1.5e3 ;=> 1500.0
2E-1 ;=> 0.2
1e+2 ;=> 100.0
0 ;=> 0
0.5 ;=> 0.5
##Inf ;=> ##Inf
##-Inf ;=> ##-Inf
##NaN ;=> ##NaN
123456789012345678901234567890 ;=> 123456789012345678901234567890
1. ;=! parse_error
.5 ;=! parse_error
0x1F ;=! parse_error
1N ;=! parse_error
1M ;=! parse_error
1/2 ;=! parse_error
007 ;=! parse_error
-007 ;=! parse_error
1e ;=! parse_error
1.5.2 ;=! parse_error
1_000 ;=! parse_error
2r101 ;=! parse_error
##Nan ;=! parse_error
12abc ;=! parse_error
99999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999 ;=! parse_error

9999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999 ;=> 9999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999

; Text

"abc" ;=> "abc"
"" ;=> ""
"a\nb" ;=> "a\nb"
"a\tb\r" ;=> "a\tb\r"
"\"q\"" ;=> "\"q\""
"\\" ;=> "\\"
"\u0041" ;=> "A"
"\u00e9" ;=> "é"
"\uD83D\uDE00" ;=> "😀"
"\d+" ;=> "\\d+"
(count "\d+") ;=> 3
"\q" ;=> "\\q"
"héllo 😀" ;=> "héllo 😀"
"\uD83D" ;=! parse_error
"\uDE00" ;=! parse_error
"\u12" ;=! parse_error
"abc ;=! parse_error
"\u0001" ;=> "\u0001"

; Characters

\a ;=> "a"
\A ;=> "A"
\newline ;=> "\n"
\space ;=> " "
\tab ;=> "\t"
\return ;=> "\r"
\backspace ;=> "\u0008"
(= \formfeed "\u000c") ;=> true
\u0041 ;=> "A"
\( ;=> "("
\) ;=> ")"
\; ;=> ";"
\" ;=> "\""
\\ ;=> "\\"
\1 ;=> "1"
\é ;=> "é"
\😀 ;=> "😀"
[\a \b] ;=> ["a" "b"]
[\(] ;=> ["("]
\ab ;=! parse_error
\newlines ;=! parse_error
\u00 ;=! parse_error

; Keywords

:a ;=> :a
:a-b ;=> :a-b
:a? ;=> :a?
:a! ;=> :a!
:a_b ;=> :a_b
:A1 ;=> :A1
:1 ;=> :1
:*x* ;=> :*x*
:a>b ;=> :a>b
:a/b ;=! parse_error
::a ;=! parse_error
:a.b ;=! parse_error
: ;=! parse_error
:é ;=! parse_error
:a#b ;=! parse_error

; Symbols

'a ;=> 'a
'foo-bar ;=> 'foo-bar
'a/b ;=> 'a/b
'+ ;=> '+
'x' ;=> 'x'
'a.b ;=> 'a.b
% ;=! invalid_form
%1 ;=! invalid_form
(let [a% 1] a%) ;=> 1
é ;=! parse_error

; Collections

[] ;=> []
[1 2 3] ;=> [1 2 3]
[1, 2,,3] ;=> [1 2 3]
{} ;=> {}
{:a 1, :b 2} ;=> {:a 1 :b 2}
#{} ;=> #{}
#{1 2} ;=> #{1 2}
[[1] {:a #{2}}] ;=> [[1] {:a #{2}}]
{:a} ;=! parse_error
{:a 1 :b} ;=! parse_error
[1 2 ;=! parse_error
(+ 1 2 ;=! parse_error
(+ 1 2)) ;=! parse_error
[1 2) ;=! parse_error
{:a 1] ;=! parse_error
) ;=! parse_error
] ;=! parse_error
() ;=! parse_error
[()] ;=! parse_error
{:a 1 :a 2} ;=! duplicate_key
{"a" 1 "a" 2} ;=! duplicate_key
{1 :a 1 :b} ;=! duplicate_key
{[1] 1 [1] 2} ;=! duplicate_key
{nil 1 nil 2} ;=! duplicate_key
#{1 1} ;=! duplicate_key
#{:a :b :a} ;=! duplicate_key
#{1 1.0} ;=> #{1 1.0}
{:a 1 "a" 2} ;=> {:a 1 "a" 2}

; Quote

'(a 1 "b") ;=> ['a 1 "b"]
'() ;=> []
'[a b] ;=> ['a 'b]
'{a 1} ;=> {'a 1}
'#{a} ;=> #{'a}
'1 ;=> 1
'"s" ;=> "s"
':k ;=> :k
'nil ;=> nil
(quote x) ;=> 'x
(quote (1 (2 x))) ;=> [1 [2 'x]]
'(+ 1 2) ;=> ['+ 1 2]
(first '(a b)) ;=> 'a
(= 'a (first '(a b))) ;=> true
(quote) ;=! invalid_form
(quote a b) ;=! invalid_form

; Dropped and refused

[1 #_2] ;=> [1]
[#_1 #_2 3] ;=> [3]
[1 #_(a b c) 2] ;=> [1 2]
{:a #_1 2} ;=> {:a 2}
(+ 1 #_2 3) ;=> 4
^String "a" ;=> "a"
^:private [1] ;=> [1]
^{:doc "x"} {:a 1} ;=> {:a 1}
(let [^long x 5] x) ;=> 5
(defn f [^String s] s) (f "a") ;=> "a"
@x ;=! parse_error
`x ;=! parse_error
~x ;=! parse_error
#?(:clj 1) ;=! parse_error
#inst "2024-01-01" ;=! parse_error
#uuid "x" ;=! parse_error
#foo ;=! parse_error
#_ ;=! parse_error
' ;=! parse_error
^ ;=! parse_error
#" ;=! parse_error

; Programs

1 2 3 ;=> 3
nil ;=> nil
true ;=> true
false ;=> false
(def a 1) (def b 2) (+ a b) ;=> 3
#_1 ;=> nil
,,, ;=> nil
1, ;=> 1

; Regexes

#"\d+" ;=> #"\d+"
#"a\"b" ;=> #"a\"b"
(regex? #"a") ;=> true
(str #"\d+") ;=> "\\d+"
#"(" ;=! invalid_form
#"[a" ;=! invalid_form
#"a**" ;=! invalid_form
#"(?=a)" ;=! invalid_form
#"(a)\1" ;=! invalid_form
#"a{1001}" ;=! invalid_form

; Vars

(do (def v 9) #'v) ;=> 9
(def x 5) ;=> #'x
(defn f [] 1) ;=> #'f
#'undefined-thing ;=! unbound_var

; Nesting

[[[[[[[[[[1]]]]]]]]]] ;=> [[[[[[[[[[1]]]]]]]]]]
[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]] ;=! parse_error
