/**
 * Arithmetic on integers and floats. A float on either side gives a float. Work on integers of more
 * than 64 bits costs fuel for each word.
 */
import { Fault } from '../base/problem.ts';
import { float, integer, isFloat, type Float, type Meter } from './value.ts';

/** A value that arithmetic accepts. */
export type Num = number | bigint | Float;

/** A meter that also bounds the size of integers. */
export interface NumberMeter extends Meter {
  readonly limits: { readonly integerBits: number };
}

const MAX = Number.MAX_SAFE_INTEGER;

function toBig(value: number | bigint): bigint {
  return typeof value === 'bigint' ? value : BigInt(value);
}

/** The double nearest to a number. */
export function toDouble(value: Num): number {
  return typeof value === 'object' ? value.value : Number(value);
}

/** The number of bits of an integer's magnitude. */
export function bitLength(value: number | bigint): number {
  const size = value < 0 ? -toBig(value) : toBig(value);
  if (size === 0n) return 0;
  const digits = size.toString(16);
  return (digits.length - 1) * 4 + (32 - Math.clz32(Number.parseInt(digits.charAt(0), 16)));
}

/** 64-bit words of an integer; 1 for the common small ones. */
export function wordCount(value: number | bigint): number {
  if (typeof value === 'number') return 1;
  // Up to 64 bits the result is 1, and `bitLength` would cost a conversion.
  if (value < 1n << 64n && value > -(1n << 64n)) return 1;
  return Math.ceil(bitLength(value) / 64);
}

/** Charges for reading big operands: one unit per word beyond the first. */
function chargeWords(m: NumberMeter, a: number | bigint, b: number | bigint): void {
  const words = wordCount(a) + wordCount(b);
  if (words > 2) m.charge(words);
}

/** Charges for the decimal digits of an integer, which take more than its words. */
export function chargeDigits(m: Meter, value: number | bigint): void {
  const words = wordCount(value);
  if (words > 8) m.charge((words * words) >>> 9);
}

/** Charges for multiplying or dividing big operands. */
function chargeProduct(m: NumberMeter, a: number | bigint, b: number | bigint): void {
  const product = wordCount(a) * wordCount(b);
  if (product > 1) m.charge(Math.ceil(product / 100) + wordCount(a) + wordCount(b));
}

/** `value` in its only form (I1 of `value.ts`). Fails when it has too many bits. */
function checkedInteger(m: NumberMeter, value: bigint): number | bigint {
  const result = integer(value);
  if (typeof result === 'number') return result;
  if (value < 1n << 64n && value > -(1n << 64n)) return result;
  checkBits(m, bitLength(result));
  return result;
}

/** Fails when an integer of `bits` bits would be too large. */
export function checkBits(m: NumberMeter, bits: number): void {
  if (bits <= m.limits.integerBits) return;
  throw new Fault(
    'size_exceeded',
    `an integer of ${bits} bits is over the limit of ${m.limits.integerBits}.`,
  );
}

/** `a + b`. */
export function add(m: NumberMeter, a: Num, b: Num): Num {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b;
    return sum <= MAX && sum >= -MAX ? sum : BigInt(a) + BigInt(b);
  }
  if (typeof a === 'object' || typeof b === 'object') return float(toDouble(a) + toDouble(b));
  chargeWords(m, a, b);
  return checkedInteger(m, toBig(a) + toBig(b));
}

/** `a - b`. */
export function subtract(m: NumberMeter, a: Num, b: Num): Num {
  if (typeof a === 'number' && typeof b === 'number') {
    const difference = a - b;
    return difference <= MAX && difference >= -MAX ? difference : BigInt(a) - BigInt(b);
  }
  if (typeof a === 'object' || typeof b === 'object') return float(toDouble(a) - toDouble(b));
  chargeWords(m, a, b);
  return checkedInteger(m, toBig(a) - toBig(b));
}

/** `a * b`. */
export function multiply(m: NumberMeter, a: Num, b: Num): Num {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b;
    // `+ 0` turns −0 into 0; integers have no −0.
    return product <= MAX && product >= -MAX ? product + 0 : integer(BigInt(a) * BigInt(b));
  }
  if (typeof a === 'object' || typeof b === 'object') return float(toDouble(a) * toDouble(b));
  const words = wordCount(a) + wordCount(b);
  if (words > 2) checkBits(m, bitLength(a) + bitLength(b) - 1);
  chargeProduct(m, a, b);
  return checkedInteger(m, toBig(a) * toBig(b));
}

/** `-a`. */
export function negate(a: Num): Num {
  if (typeof a === 'number') return 0 - a;
  return typeof a === 'bigint' ? integer(-a) : float(-a.value);
}

/** Whether a number is zero, of either type. */
export function isZero(a: Num): boolean {
  return typeof a === 'object' ? a.value === 0 : a === 0;
}

/** `a / b`, always a float. The caller refuses an integer zero as divisor. */
export function divide(a: Num, b: Num): Float {
  if (typeof a === 'number' && typeof b === 'number') return float(a / b);
  if (isFloat(a) || isFloat(b)) return float(toDouble(a) / toDouble(b));
  return float(ratio(toBig(a), toBig(b)));
}

/** The quotient of integers, both of which may be too large for doubles. */
function ratio(a: bigint, b: bigint): number {
  const x = Number(a);
  const y = Number(b);
  if (Number.isFinite(x) && Number.isFinite(y)) return x / y;
  const shift = BigInt(Math.max(bitLength(a), bitLength(b)) - 900);
  return Number(a >> shift) / Number(b >> shift);
}

/** The divisions with a whole quotient. */
export type Division = 'quot' | 'rem' | 'mod';

/** `quot`, `rem` or `mod`. The divisor is not zero. A result that is not finite is NaN. */
export function wholeDivision(m: NumberMeter, op: Division, a: Num, b: Num): Num {
  if (typeof a === 'number' && typeof b === 'number') {
    if (op === 'quot') return quotient(a, b);
    const rest = (a % b) + 0;
    return op === 'mod' && rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest;
  }
  if (typeof a === 'object' || typeof b === 'object') {
    return float(floatDivision(op, toDouble(a), toDouble(b)));
  }
  chargeProduct(m, a, b);
  const x = toBig(a);
  const y = toBig(b);
  if (op === 'quot') return integer(x / y);
  const rest = x % y;
  return integer(op === 'mod' && rest !== 0n && rest < 0n !== y < 0n ? rest + y : rest);
}

/** The quotient, exact for all safe integers. Plain division could round to one more. */
function quotient(a: number, b: number): number {
  return (a - (a % b)) / b + 0;
}

function floatDivision(op: Division, x: number, y: number): number {
  const whole = Math.trunc(x / y) + 0;
  if (!Number.isFinite(whole)) return Number.NaN;
  if (op === 'quot') return whole;
  const rest = x - y * whole;
  if (!Number.isFinite(rest)) return Number.NaN;
  return op === 'mod' && rest !== 0 && rest < 0 !== y < 0 ? rest + y : rest;
}

/** A finite double without its fraction. */
export function wholeOf(value: number): number | bigint {
  const whole = Math.trunc(value) + 0;
  return Number.isSafeInteger(whole) ? whole : integer(BigInt(whole));
}

/** The nearest integer, halves away from zero. */
export function roundHalfAway(value: number): number | bigint {
  const size = Math.abs(value);
  const floor = Math.floor(size);
  const rounded = size - floor >= 0.5 ? floor + 1 : floor;
  return wholeOf(value < 0 ? -rounded : rounded);
}
