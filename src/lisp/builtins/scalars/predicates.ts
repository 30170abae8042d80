/**
 * Comparing, logic and predicates.
 */
import type { Context } from '../../value/context.ts';
import { characterCount } from '../../value/characters.ts';
import { compareKeys, compareNatural, equalValues, magnitude } from '../../value/order.ts';
import {
  isCallable,
  isFloat,
  isFn,
  isInteger,
  isKeyword,
  isMap,
  isNumber,
  isRegex,
  isSet,
  isVector,
  truthy,
  type Value,
  type BuiltinWork,
} from '../../value/value.ts';
import { arg, expectNumber, isSeqable, noClause, wrongType } from '../arguments/expect.ts';
import { isOdd, isWhole } from './numbers.ts';
import { plain, walk } from '../arguments/stepping.ts';

function test(predicate: (value: Value) => boolean): BuiltinWork {
  return plain((_c, args) => predicate(arg(args, 0)));
}

function sizeTest(predicate: (size: number | bigint) => boolean): BuiltinWork {
  return test((value) => isNumber(value) && predicate(magnitude(value)));
}

function integerTest(predicate: (size: number | bigint) => boolean): BuiltinWork {
  return test((value) => isInteger(value) && predicate(value));
}

/** `= < > …`: whether the relation holds between each argument and the next. */
function chain(holds: (ctx: Context, a: Value, b: Value) => boolean): BuiltinWork {
  return plain((ctx, args) => {
    for (let index = 1; index < args.length; index++) {
      if (index > 1) ctx.charge(1);
      if (!holds(ctx, arg(args, index - 1), arg(args, index))) return false;
    }
    return true;
  });
}

function ordering(holds: (a: number | bigint, b: number | bigint) => boolean): BuiltinWork {
  return plain((ctx, args) => {
    let before = magnitude(expectNumber(ctx, args, 0));
    let result = true;
    for (let index = 1; index < args.length && result; index++) {
      if (index > 1) ctx.charge(1);
      const next = magnitude(expectNumber(ctx, args, index));
      result = holds(before, next);
      before = next;
    }
    return result;
  });
}

const equal: BuiltinWork = chain((ctx, a, b) => equalValues(a, b, ctx));

const never: BuiltinWork = test(() => false);

function extremeKey(greater: boolean): BuiltinWork {
  return walk({
    begin(_c, args, s) {
      s.fn = arg(args, 0);
      // A single argument is not checked.
      if (args.length === 2) s.acc = arg(args, 1);
      else s.items = args.slice(1);
    },
    take(ctx, s, result, item) {
      if (!isNumber(result)) throw wrongType(ctx, 0, 'a function that gives numbers', result);
      const size = magnitude(result);
      const best = s.extra as Value | undefined;
      const bestSize =
        best !== undefined && best !== null && isNumber(best) ? magnitude(best) : null;
      const wins =
        bestSize === null || size !== size || (greater ? !(size < bestSize) : !(size > bestSize));
      if (wins) {
        s.acc = item;
        s.extra = result;
      }
    },
    end: (_c, s) => s.acc,
  });
}

/** The work of these builtins. */
export const PREDICATE_WORK: { readonly [name: string]: BuiltinWork } = Object.freeze({
  '=': equal,
  '==': equal,
  'not=': plain((ctx, args) => {
    for (let index = 1; index < args.length; index++) {
      if (!equalValues(arg(args, index - 1), arg(args, index), ctx)) return true;
    }
    return false;
  }),
  '<': ordering((a, b) => a < b),
  '<=': ordering((a, b) => a <= b),
  '>': ordering((a, b) => a > b),
  '>=': ordering((a, b) => a >= b),
  compare: plain((ctx, args) => compareNatural(arg(args, 0), arg(args, 1), ctx)),
  'max-key': extremeKey(true),
  'min-key': extremeKey(false),
  not: test((value) => !truthy(value)),
  boolean: test(truthy),
  identity: plain((_c, args) => arg(args, 0)),
  'any?': test(() => true),
  'nil?': test((value) => value === null),
  'some?': test((value) => value !== null),
  'boolean?': test((value) => typeof value === 'boolean'),
  'true?': test((value) => value === true),
  'false?': test((value) => value === false),
  'number?': test(isNumber),
  'int?': test(isInteger),
  'integer?': test(isInteger),
  'rational?': test(isInteger),
  'float?': test(isFloat),
  'double?': test(isFloat),
  'infinite?': test((value) => isFloat(value) && Math.abs(value.value) === Infinity),
  'NaN?': test((value) => isFloat(value) && Number.isNaN(value.value)),
  'nat-int?': integerTest((size) => size >= 0),
  'pos-int?': integerTest((size) => size > 0),
  'neg-int?': integerTest((size) => size < 0),
  'zero?': sizeTest((size) => Number(size) === 0),
  'pos?': sizeTest((size) => size > 0),
  'neg?': sizeTest((size) => size < 0),
  'even?': test((value) =>
    typeof value === 'number' ? value % 2 === 0 : isWhole(value) && !isOdd(value),
  ),
  'odd?': test((value) =>
    typeof value === 'number' ? value % 2 !== 0 : isWhole(value) && isOdd(value),
  ),
  'ratio?': never,
  'decimal?': never,
  'symbol?': never,
  'map-entry?': never,
  'sorted?': never,
  'string?': test((value) => typeof value === 'string'),
  'char?': test(
    (value) =>
      typeof value === 'string' &&
      value !== '' &&
      value.length <= 64 &&
      characterCount(value) === 1,
  ),
  'keyword?': test(isKeyword),
  'regex?': test(isRegex),
  'vector?': test(isVector),
  'map?': test(isMap),
  'set?': test(isSet),
  'coll?': test((value) => isVector(value) || isMap(value) || isSet(value)),
  'sequential?': test(isVector),
  'seq?': test(isVector),
  'associative?': test((value) => isVector(value) || isMap(value)),
  'counted?': test((value) => value !== null && isSeqable(value)),
  'indexed?': test((value) => isVector(value) || typeof value === 'string'),
  'reversible?': test((value) => isVector(value) || typeof value === 'string'),
  'seqable?': test(isSeqable),
  'fn?': test(isFn),
  'ifn?': test(isCallable),
  'distinct?': plain((ctx, args) => {
    ctx.charge(args.length * Math.ceil(Math.log2(args.length + 1)));
    const sorted = args.toSorted((a, b) => compareKeys(a, b, ctx));
    return sorted.every(
      (value, index) => index === 0 || compareKeys(sorted[index - 1] as Value, value, ctx) !== 0,
    );
  }),
  'no-clause~': plain((_c, args) => {
    throw noClause('condp', arg(args, 0));
  }),
});
