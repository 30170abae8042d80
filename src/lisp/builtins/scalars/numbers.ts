/**
 * Arithmetic.
 */
import type { Context } from '../../value/context.ts';
import * as num from '../../value/numbers.ts';
import { magnitude } from '../../value/order.ts';
import { floatText } from '../../value/number-text.ts';
import {
  float,
  integer,
  isFloat,
  isInteger,
  isNumber,
  type Value,
  type BuiltinWork,
} from '../../value/value.ts';
import { characterCount } from '../../value/characters.ts';
import { arg, expectInteger, expectNumber, fault, wrongType } from '../arguments/expect.ts';
import { plain } from '../arguments/stepping.ts';

type Operation = (ctx: Context, a: num.Num, b: num.Num) => num.Num;

function fold(start: num.Num, op: Operation): BuiltinWork {
  return plain((ctx, args) => {
    const [x, y] = args;
    if (args.length === 2 && typeof x === 'number' && typeof y === 'number') return op(ctx, x, y);
    if (args.length === 0) return start;
    let total = expectNumber(ctx, args, 0);
    ctx.charge(args.length - 1 > 1 ? args.length - 1 : 0);
    for (let index = 1; index < args.length; index++) {
      total = op(ctx, total, expectNumber(ctx, args, index));
    }
    return total;
  });
}

/** `-a`; a large integer is paid by its words. */
function negated(ctx: Context, a: num.Num): num.Num {
  if (typeof a === 'bigint') ctx.charge(num.wordCount(a));
  return num.negate(a);
}

const minus: BuiltinWork = plain((ctx, args) => {
  let total = expectNumber(ctx, args, 0);
  if (args.length === 1) return negated(ctx, total);
  if (args.length > 2) ctx.charge(args.length - 1);
  for (let index = 1; index < args.length; index++) {
    total = num.subtract(ctx, total, expectNumber(ctx, args, index));
  }
  return total;
});

function quotientOf(ctx: Context, a: num.Num, b: num.Num): Value & num.Num {
  if (!isFloat(b) && num.isZero(b))
    throw fault(ctx, 'arithmetic_error', 'division by the integer 0.');
  if (typeof a === 'bigint' || typeof b === 'bigint') {
    ctx.charge(num.wordCount(isFloat(a) ? 0 : a) + num.wordCount(isFloat(b) ? 0 : b));
  }
  return num.divide(a, b);
}

const slash: BuiltinWork = plain((ctx, args) => {
  const first = expectNumber(ctx, args, 0);
  if (args.length === 1) return quotientOf(ctx, 1, first);
  let total: num.Num = first;
  ctx.charge(args.length > 2 ? args.length : 0);
  for (let index = 1; index < args.length; index++) {
    total = quotientOf(ctx, total, expectNumber(ctx, args, index));
  }
  return total;
});

function division(op: num.Division): BuiltinWork {
  return plain((ctx, args) => {
    const a = expectNumber(ctx, args, 0);
    const b = expectNumber(ctx, args, 1);
    if (num.isZero(b)) {
      const kind = isFloat(b) ? '0.0' : 'the integer 0';
      throw fault(ctx, 'arithmetic_error', `division by ${kind}.`);
    }
    return num.wholeDivision(ctx, op, a, b);
  });
}

/** The greater or smaller of two numbers. NaN wins; of equal numbers the second one wins. */
function extreme(a: num.Num, b: num.Num, greater: boolean): num.Num {
  const x = magnitude(a);
  const y = magnitude(b);
  if (x !== x) return a;
  if (y !== y) return b;
  return (greater ? x > y : x < y) ? a : b;
}

function extremeOf(greater: boolean): BuiltinWork {
  return plain((ctx, args) => {
    if (args.length === 1) return arg(args, 0);
    let best = expectNumber(ctx, args, 0);
    ctx.charge(args.length > 2 ? args.length : 0);
    for (let index = 1; index < args.length; index++) {
      best = extreme(best, expectNumber(ctx, args, index), greater);
    }
    return best;
  });
}

function rounding(round: (value: number) => number | bigint): BuiltinWork {
  return plain((ctx, args) => {
    const value = expectNumber(ctx, args, 0);
    if (!isFloat(value) || !Number.isFinite(value.value)) return value;
    return round(value.value);
  });
}

function cut(ctx: Context, args: readonly Value[]): number | bigint {
  const value = arg(args, 0);
  if (isInteger(value)) return value;
  if (typeof value === 'string' && value !== '' && characterCount(value) === 1) {
    return value.codePointAt(0) ?? 0;
  }
  if (!isFloat(value)) throw wrongType(ctx, 0, 'a number or one character', value);
  if (Number.isNaN(value.value)) return 0;
  if (!Number.isFinite(value.value)) {
    throw fault(ctx, 'arithmetic_error', `${floatText(value.value)} is no integer.`);
  }
  return num.wholeOf(value.value);
}

const int: BuiltinWork = plain((ctx, args) => {
  const whole = cut(ctx, args);
  if (whole >= -2_147_483_648 && whole <= 2_147_483_647) return whole;
  const given = arg(args, 0);
  const text = isFloat(given) ? floatText(given.value) : String(whole);
  throw fault(ctx, 'arithmetic_error', `${text} does not fit 32 bits.`);
});

function big(ctx: Context, args: readonly Value[], index: number): bigint {
  const value = expectInteger(ctx, args, index);
  const words = num.wordCount(value);
  if (words > 1) ctx.charge(words);
  return BigInt(value);
}

function bitwise(
  op: (a: bigint, b: bigint) => bigint,
  small: (a: number, b: number) => number,
): BuiltinWork {
  return plain((ctx, args) => {
    const [x, y] = args;
    if (args.length === 2 && isInt32(x) && isInt32(y)) return small(x, y);
    let total = big(ctx, args, 0);
    for (let index = 1; index < args.length; index++) total = op(total, big(ctx, args, index));
    return integer(total);
  });
}

function isInt32(value: Value | undefined): value is number {
  return typeof value === 'number' && (value | 0) === value;
}

/** A bit index: an integer from 0 for which the result stays within the limit. */
function bitIndex(ctx: Context, args: readonly Value[]): number {
  const value = arg(args, 1);
  if (!isInteger(value) || value < 0) throw wrongType(ctx, 1, 'a bit index from 0', value);
  const index = Number(value);
  num.checkBits(ctx, index > 1e9 ? index : 0);
  return index;
}

function onBit(op: (value: bigint, mask: bigint) => bigint): BuiltinWork {
  return plain((ctx, args) => {
    const value = big(ctx, args, 0);
    const index = bitIndex(ctx, args);
    num.checkBits(ctx, index);
    ctx.charge(index >> 6);
    return integer(op(value, 1n << BigInt(index)));
  });
}

const shiftLeft: BuiltinWork = plain((ctx, args) => {
  const value = big(ctx, args, 0);
  const index = bitIndex(ctx, args);
  if (value === 0n) return 0;
  num.checkBits(ctx, num.bitLength(value) + index);
  ctx.charge(index >> 6);
  return integer(value << BigInt(index));
});

const shiftRight: BuiltinWork = plain((ctx, args) => {
  const value = big(ctx, args, 0);
  const index = arg(args, 1);
  if (!isInteger(index) || index < 0) throw wrongType(ctx, 1, 'a shift from 0', index);
  // All bits above the length of the integer equal its sign.
  const by = index > num.bitLength(value) ? num.bitLength(value) + 1 : Number(index);
  return integer(value >> BigInt(by));
});

const increment: BuiltinWork = plain((ctx, args) => num.add(ctx, expectNumber(ctx, args, 0), 1));
const decrement: BuiltinWork = plain((ctx, args) =>
  num.subtract(ctx, expectNumber(ctx, args, 0), 1),
);

/** The work of these builtins. */
export const NUMBER_WORK: { readonly [name: string]: BuiltinWork } = Object.freeze({
  '+': fold(0, num.add),
  "+'": fold(0, num.add),
  '*': fold(1, num.multiply),
  "*'": fold(1, num.multiply),
  '-': minus,
  "-'": minus,
  '/': slash,
  inc: increment,
  "inc'": increment,
  dec: decrement,
  "dec'": decrement,
  quot: division('quot'),
  rem: division('rem'),
  mod: division('mod'),
  max: extremeOf(true),
  min: extremeOf(false),
  abs: plain((ctx, args) => {
    const value = expectNumber(ctx, args, 0);
    if (isFloat(value)) return float(Math.abs(value.value));
    return value < 0 ? negated(ctx, value) : value;
  }),
  floor: rounding((value) => num.wholeOf(Math.floor(value))),
  ceil: rounding((value) => num.wholeOf(Math.ceil(value))),
  trunc: rounding(num.wholeOf),
  round: rounding(num.roundHalfAway),
  int,
  long: plain(cut),
  float: plain((ctx, args) => float(num.toDouble(expectNumber(ctx, args, 0)))),
  double: plain((ctx, args) => float(num.toDouble(expectNumber(ctx, args, 0)))),
  sqrt: plain((ctx, args) => float(Math.sqrt(num.toDouble(expectNumber(ctx, args, 0))))),
  pow: plain((ctx, args) => {
    const base = num.toDouble(expectNumber(ctx, args, 0));
    return float(base ** num.toDouble(expectNumber(ctx, args, 1)));
  }),
  'bit-and': bitwise(
    (a, b) => a & b,
    (a, b) => a & b,
  ),
  'bit-or': bitwise(
    (a, b) => a | b,
    (a, b) => a | b,
  ),
  'bit-xor': bitwise(
    (a, b) => a ^ b,
    (a, b) => a ^ b,
  ),
  'bit-and-not': bitwise(
    (a, b) => a & ~b,
    (a, b) => a & ~b,
  ),
  'bit-not': plain((ctx, args) => integer(~big(ctx, args, 0))),
  'bit-test': plain((ctx, args) => {
    const value = big(ctx, args, 0);
    const index = arg(args, 1);
    if (!isInteger(index) || index < 0) throw wrongType(ctx, 1, 'a bit index from 0', index);
    if (index > num.bitLength(value)) return value < 0n;
    return ((value >> BigInt(index)) & 1n) === 1n;
  }),
  'bit-set': onBit((value, mask) => value | mask),
  'bit-clear': onBit((value, mask) => value & ~mask),
  'bit-flip': onBit((value, mask) => value ^ mask),
  'bit-shift-left': shiftLeft,
  'bit-shift-right': shiftRight,
});

/** Whether a value is a whole number, as an integer or a float. */
export function isWhole(value: Value): boolean {
  if (isInteger(value)) return true;
  return isNumber(value) && Number.isInteger(num.toDouble(value));
}

/** Whether a whole number is odd. */
export function isOdd(value: Value): boolean {
  if (typeof value === 'number') return value % 2 !== 0;
  if (typeof value === 'bigint') return (value & 1n) === 1n;
  return isFloat(value) && Math.abs(value.value % 2) === 1;
}
