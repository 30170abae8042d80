/**
 * Text: names, arguments, meaning, examples.
 */
import type { DocRow } from './doc-row.ts';

/** Text. */
export const TEXT_DOCS: readonly DocRow[] = Object.freeze<DocRow[]>([
  {
    theme: 'Text',
    names: 'str',
    args: '0+',
    meaning: '`nil` is `""`; text raw; collections readable',
    examples: [
      ['(str :a 1.0 nil)', '":a1.0"'],
      ['(str ["a" nil])', '"[\\"a\\" nil]"'],
    ],
  },
  {
    theme: 'Text',
    names: 'pr-str',
    args: '0+',
    meaning: 'readable , joined by spaces',
    examples: [
      ['(pr-str "a" :b)', '"\\"a\\" :b"'],
      ['(pr-str [nil "b"])', '"[nil \\"b\\"]"'],
    ],
  },
  {
    theme: 'Text',
    names: 'subs',
    args: '2–3',
    meaning: 'negative start, or start after end → `""`; end cut',
    examples: [
      ['(subs "hello" 1 3)', '"el"'],
      ['(subs "abc" 1 99)', '"bc"'],
      ['(subs "abc" -1)', '""'],
    ],
  },
  {
    theme: 'Text',
    names: 'join',
    args: '1–2',
    meaning: 'separator first; elements by `str`',
    examples: [
      ['(join ", " [1 nil :a])', '"1, , :a"'],
      ['(join [1 2])', '"12"'],
    ],
  },
  {
    theme: 'Text',
    names: 'split',
    args: '2–3',
    meaning:
      'by regex, one character, or `""`; trailing empties dropped; limit > 0 caps parts, ≠ 0 keeps trailing empties; longer text raises',
    examples: [
      ['(split "a,b,," #",")', '["a" "b"]'],
      ['(split "abc" "")', '["a" "b" "c"]'],
      ['(split "a,b,c" "," 2)', '["a" "b,c"]'],
      ['(split "a,," #"," -1)', '["a" "" ""]'],
    ],
  },
  {
    theme: 'Text',
    names: 'split-lines',
    args: '1',
    meaning: 'LF or CRLF; trailing empties dropped',
    examples: [
      ['(split-lines "a\\nb\\r\\nc\\n")', '["a" "b" "c"]'],
      ['(split-lines "")', '[""]'],
    ],
  },
  {
    theme: 'Text',
    names: 'trim triml trimr',
    args: '1',
    meaning: 'without whitespace at both ends · the left · the right',
    examples: [
      ['(trim " a ")', '"a"'],
      ['(triml " a")', '"a"'],
      ['(trimr "a ")', '"a"'],
      ['(trim "")', '""'],
      ['(triml "\\n\\ta b ")', '"a b "'],
      ['(trimr "a\\n")', '"a"'],
    ],
  },
  {
    theme: 'Text',
    names: 'trim-newline',
    args: '1',
    meaning: 'without line ends at the end',
    examples: [
      ['(trim-newline "a\\n")', '"a"'],
      ['(trim-newline "a \\r\\n\\n")', '"a "'],
    ],
  },
  {
    theme: 'Text',
    names: 'blank?',
    args: '1',
    meaning: 'nil, empty or whitespace',
    examples: [
      ['(blank? " \\t")', 'true'],
      ['(blank? nil)', 'true'],
    ],
  },
  {
    theme: 'Text',
    names: 'upper-case upcase',
    args: '1',
    meaning: 'in upper case',
    examples: [
      ['(upper-case "straße")', '"STRASSE"'],
      ['(upcase "a")', '"A"'],
      ['(upper-case :ab)', '":AB"'],
      ['(upcase "é")', '"É"'],
    ],
  },
  {
    theme: 'Text',
    names: 'lower-case downcase',
    args: '1',
    meaning: 'in lower case',
    examples: [
      ['(lower-case "ÀB")', '"àb"'],
      ['(downcase "A")', '"a"'],
      ['(lower-case "ABC")', '"abc"'],
      ['(downcase "Éa")', '"éa"'],
    ],
  },
  {
    theme: 'Text',
    names: 'capitalize',
    args: '1',
    meaning: 'the first character in upper case, the rest in lower case',
    examples: [
      ['(capitalize "hELLO")', '"Hello"'],
      ['(capitalize "")', '""'],
    ],
  },
  {
    theme: 'Text',
    names: 'starts-with? ends-with?',
    args: '2',
    meaning: 'whether text begins with · ends in another',
    examples: [
      ['(starts-with? "abc" "ab")', 'true'],
      ['(ends-with? "abc" "")', 'true'],
      ['(starts-with? "abc" "b")', 'false'],
      ['(ends-with? "abc" "bc")', 'true'],
    ],
  },
  {
    theme: 'Text',
    names: 'includes?',
    args: '2',
    meaning: 'whether text holds another',
    examples: [
      ['(includes? "abc" "bc")', 'true'],
      ['(includes? "abc" "cb")', 'false'],
    ],
  },
  {
    theme: 'Text',
    names: 'index-of',
    args: '2–3',
    meaning: '`nil` when absent; from index pulled into range',
    examples: [
      ['(index-of "banana" "an" 2)', '3'],
      ['(index-of "a" "z")', 'nil'],
    ],
  },
  {
    theme: 'Text',
    names: 'last-index-of',
    args: '2–3',
    meaning: 'at or before the from index',
    examples: [
      ['(last-index-of "hello" "l" 2)', '2'],
      ['(last-index-of "a" "a" -1)', 'nil'],
    ],
  },
  {
    theme: 'Text',
    names: 'replace',
    args: '3',
    meaning: 'text as is; regex with `$1`, `${name}`, `\\$` or a function',
    examples: [
      ['(replace "a.b" "." "-")', '"a-b"'],
      ['(replace "a1" #"\\d" "<$0>")', '"a<1>"'],
    ],
  },
  {
    theme: 'Text',
    names: 'replace-first',
    args: '3',
    meaning: 'first only',
    examples: [
      ['(replace-first "aaa" "a" "b")', '"baa"'],
      ['(replace-first "ab" #"b" upcase)', '"aB"'],
    ],
  },
  {
    theme: 'Text',
    names: 'str/reverse str/escape',
    args: '1, 2',
    meaning: 'characters backwards · characters replaced by a map',
    examples: [
      ['(str/reverse "abc")', '"cba"'],
      ['(str/escape "a<b" {\\< "&lt;"})', '"a&lt;b"'],
      ['(str/reverse "")', '""'],
      ['(str/escape "abc" {\\a 1 \\b nil})', '"1bc"'],
    ],
  },
  {
    theme: 'Text',
    names: 'name',
    args: '1',
    meaning: 'keyword or text; others raise `runtime_error`',
    examples: [
      ['(name :a)', '"a"'],
      ['(name "b")', '"b"'],
    ],
  },
  {
    theme: 'Text',
    names: 'keyword',
    args: '1–2',
    meaning: 'text `[A-Za-z][A-Za-z0-9_?!-]*`, keyword, nil; others raise; of 2 the first is nil',
    examples: [
      ['(keyword "a-b")', ':a-b'],
      ['(keyword nil)', 'nil'],
    ],
  },
  {
    theme: 'Text',
    names: 'parse-long parse-int',
    args: '1',
    meaning: '64-bit decimal, whole text; else `nil`',
    examples: [
      ['(parse-long "-42")', '-42'],
      ['(parse-long "4.2")', 'nil'],
      ['(parse-int "7")', '7'],
      ['(parse-int "7a")', 'nil'],
    ],
  },
  {
    theme: 'Text',
    names: 'parse-double',
    args: '1',
    meaning: "Java's spellings; else `nil`",
    examples: [
      ['(parse-double "1e3")', '1000.0'],
      ['(parse-double " .5")', '0.5'],
      ['(parse-double "x")', 'nil'],
    ],
  },
  {
    theme: 'Text',
    names: 'parse-boolean',
    args: '1',
    meaning: '`"true"` `"false"`; else `nil`',
    examples: [
      ['(parse-boolean "true")', 'true'],
      ['(parse-boolean "TRUE")', 'nil'],
    ],
  },
  {
    theme: 'Text',
    names: 'format',
    args: '1+',
    meaning: 'as in Java: flags `- 0 + space , ( #`, conversions `s S d x X o f e E g G c b B n %`',
    examples: [
      ['(format "%-4s|%6.2f" "ab" 3.14159)', '"ab  |  3.14"'],
      ['(format "%s is %.1f%%" :share 12.34)', '":share is 12.3%"'],
    ],
  },
  {
    theme: 'Text',
    names: 're-pattern regex?',
    args: '1',
    meaning: 'text or regex to regex',
    examples: [
      ['(re-find (re-pattern "b.") "abc")', '"bc"'],
      ['(regex? "a")', 'false'],
      ['(re-seq (re-pattern #"[a-c]") "dcba")', '["c" "b" "a"]'],
    ],
  },
  {
    theme: 'Text',
    names: 're-find',
    args: '2',
    meaning: 'text, or `[whole g1 …]`, `nil` for an open group',
    examples: [
      ['(re-find #"\\d+" "a12")', '"12"'],
      ['(re-find #"(a)(b)?" "a")', '["a" "a" nil]'],
    ],
  },
  {
    theme: 'Text',
    names: 're-matches',
    args: '2',
    meaning: 'the whole text must match',
    examples: [
      ['(re-matches #"\\d" "a1")', 'nil'],
      ['(re-matches #"(\\d)-(\\d)" "1-2")', '["1-2" "1" "2"]'],
    ],
  },
  {
    theme: 'Text',
    names: 're-seq',
    args: '2',
    meaning: 'all matches; none → `nil`',
    examples: [
      ['(re-seq #"\\d" "a1b2")', '["1" "2"]'],
      ['(re-seq #"z" "a")', 'nil'],
    ],
  },
  {
    theme: 'Text',
    names: 're-split',
    args: '2',
    meaning: '`split` with the regex first',
    examples: [
      ['(re-split #"\\s+" "a  b")', '["a" "b"]'],
      ['(re-split #"," "a,b,,")', '["a" "b"]'],
    ],
  },
  {
    theme: 'Text',
    names: 'extract',
    args: '2–3',
    meaning: 'pattern (text or regex), text, group (1); `nil` when absent',
    examples: [
      ['(extract "k=(\\\\w+)" "k=v")', '"v"'],
      ['(extract #"\\d+" "a12" 0)', '"12"'],
    ],
  },
  {
    theme: 'Text',
    names: 'extract-int',
    args: '2–4',
    meaning: 'as integer; 4th is the default',
    examples: [
      ['(extract-int "n=(\\\\d+)" "n=42")', '42'],
      ['(extract-int "n=(\\\\d+)" "x" 1 0)', '0'],
    ],
  },
]);
