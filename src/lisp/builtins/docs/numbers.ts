/**
 * Arithmetic: names, arguments, meaning, examples.
 */
import type { DocRow } from './doc-row.ts';

/** Arithmetic. */
export const NUMBER_DOCS: readonly DocRow[] = Object.freeze<DocRow[]>([
  {
    theme: 'Arithmetic',
    names: "+ * +' *'",
    args: '0+',
    meaning: 'numbers only, also with one argument',
    examples: [
      ['(+ 1 2.5)', '3.5'],
      ['(*)', '1'],
      ["(+' 1 2)", '3'],
      ["(*' 2 3)", '6'],
      ['(+ 1 2 3)', '6'],
      ['(* 2 1.5)', '3.0'],
      ["(+')", '0'],
      ["(*' 4)", '4'],
    ],
  },
  {
    theme: 'Arithmetic',
    names: "- -'",
    args: '1+',
    meaning: 'one argument negates',
    examples: [
      ['(- 5)', '-5'],
      ['(- 10 1 2)', '7'],
      ["(-' 5 1)", '4'],
      ["(-' 5)", '-5'],
    ],
  },
  {
    theme: 'Arithmetic',
    names: '/',
    args: '1+',
    meaning:
      'always a float; an integer 0 as divisor raises `arithmetic_error`, `0.0` follows IEEE',
    examples: [
      ['(/ 6 3)', '2.0'],
      ['(/ 2)', '0.5'],
      ['(/ 1 0.0)', '##Inf'],
    ],
  },
  {
    theme: 'Arithmetic',
    names: "inc dec inc' dec'",
    args: '1',
    meaning: 'one more · one less',
    examples: [
      ['(inc 1)', '2'],
      ['(dec 1.5)', '0.5'],
      ["(inc' 5)", '6'],
      ["(dec' 5)", '4'],
      ['(inc 9007199254740993)', '9007199254740994'],
      ['(dec 0)', '-1'],
      ["(inc' 0.5)", '1.5'],
      ["(dec' -1)", '-2'],
    ],
  },
  {
    theme: 'Arithmetic',
    names: 'quot rem',
    args: '2',
    meaning:
      'cut toward zero; zero divisor of either kind raises; a result that is not finite is `##NaN`; floats as Clojure: q is `n / d` cut, never `-0.0`; `rem` is `n - q * d`, not the exact remainder',
    examples: [
      ['(quot 7 -2)', '-3'],
      ['(rem -7 2)', '-1'],
      ['(rem 1.0 0.1)', '0.0'],
      ['(quot -1.0 2)', '0.0'],
    ],
  },
  {
    theme: 'Arithmetic',
    names: 'mod',
    args: '2',
    meaning: 'sign of the divisor; else as `rem`',
    examples: [
      ['(mod -7 2)', '1'],
      ['(mod 5.5 2)', '1.5'],
    ],
  },
  {
    theme: 'Arithmetic',
    names: 'max min',
    args: '1+',
    meaning:
      'numbers (one alone is not looked at); `##NaN` wins; the winner keeps its type; ties: the last',
    examples: [
      ['(max 1 2.0)', '2.0'],
      ['(min 3 1)', '1'],
      ['(max 3 1 2)', '3'],
      ['(min 1 1.0)', '1.0'],
    ],
  },
  {
    theme: 'Arithmetic',
    names: 'abs',
    args: '1',
    meaning: 'without its sign',
    examples: [
      ['(abs -5)', '5'],
      ['(abs -5.5)', '5.5'],
    ],
  },
  {
    theme: 'Arithmetic',
    names: 'floor ceil trunc',
    args: '1',
    meaning: 'to an integer; `##Inf`, `##NaN` unchanged',
    examples: [
      ['(floor -0.5)', '-1'],
      ['(ceil 3.2)', '4'],
      ['(trunc -3.7)', '-3'],
      ['(floor 7)', '7'],
      ['(ceil -1.5)', '-1'],
      ['(trunc 2.9)', '2'],
    ],
  },
  {
    theme: 'Arithmetic',
    names: 'round',
    args: '1',
    meaning: 'to an integer, halves away from zero',
    examples: [
      ['(round 2.5)', '3'],
      ['(round -2.5)', '-3'],
    ],
  },
  {
    theme: 'Arithmetic',
    names: 'int',
    args: '1',
    meaning:
      'cuts; 32-bit range, else `arithmetic_error`; `##NaN` is 0; one character gives its code point',
    examples: [
      ['(int 3.9)', '3'],
      ['(int \\A)', '65'],
    ],
  },
  {
    theme: 'Arithmetic',
    names: 'long',
    args: '1',
    meaning: 'as `int`, without the 32-bit range',
    examples: [
      ['(long 3.9)', '3'],
      ['(long -2.5)', '-2'],
    ],
  },
  {
    theme: 'Arithmetic',
    names: 'float double',
    args: '1',
    meaning: 'to a float; text raises',
    examples: [
      ['(float 3)', '3.0'],
      ['(double 1.5)', '1.5'],
      ['(float 1.5)', '1.5'],
      ['(double 2)', '2.0'],
    ],
  },
  {
    theme: 'Arithmetic',
    names: 'sqrt pow',
    args: '1, 2',
    meaning: 'floats; IEEE special values',
    examples: [
      ['(sqrt 16)', '4.0'],
      ['(pow 2 10)', '1024.0'],
      ['(sqrt -1)', '##NaN'],
      ['(pow 2 -1)', '0.5'],
    ],
  },
  {
    theme: 'Arithmetic',
    names: 'bit-and bit-or bit-xor',
    args: '2+',
    meaning: "integers of any size, two's complement",
    examples: [
      ['(bit-and 12 10)', '8'],
      ['(bit-or 12 10)', '14'],
      ['(bit-xor 5 3)', '6'],
      ['(bit-and 7 3 2)', '2'],
      ['(bit-or 1 2 4)', '7'],
      ['(bit-xor 7 7)', '0'],
    ],
  },
  {
    theme: 'Arithmetic',
    names: 'bit-not bit-test bit-and-not',
    args: '1, 2, 2+',
    meaning: 'all bits turned · whether bit n is set · the bits of the first that no other has',
    examples: [
      ['(bit-not 5)', '-6'],
      ['(bit-test 5 2)', 'true'],
      ['(bit-and-not 12 10)', '4'],
      ['(bit-not -1)', '0'],
      ['(bit-test 5 1)', 'false'],
      ['(bit-and-not 7 1 2)', '4'],
    ],
  },
  {
    theme: 'Arithmetic',
    names: 'bit-set bit-clear bit-flip',
    args: '2',
    meaning: 'bit index ≥ 0, else `type_error`',
    examples: [
      ['(bit-set 0 3)', '8'],
      ['(bit-clear 15 0)', '14'],
      ['(bit-flip 5 1)', '7'],
      ['(bit-set 1 0)', '1'],
      ['(bit-clear 5 2)', '1'],
      ['(bit-flip 4 1)', '6'],
    ],
  },
  {
    theme: 'Arithmetic',
    names: 'bit-shift-left bit-shift-right',
    args: '2',
    meaning: 'shift ≥ 0, not masked; right keeps the sign',
    examples: [
      ['(bit-shift-left 1 10)', '1024'],
      ['(bit-shift-right -8 1)', '-4'],
      ['(bit-shift-left 1 64)', '18446744073709551616'],
      ['(bit-shift-right 1024 3)', '128'],
    ],
  },
]);
