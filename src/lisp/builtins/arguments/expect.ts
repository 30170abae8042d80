/**
 * Checks of arguments and of results of callbacks, and their error messages. `index` counts from 0;
 * messages count from 1.
 */
import type { Context } from '../../value/context.ts';
import { Fault, type Reason } from '../../base/problem.ts';
import { describeValue, shortText } from '../../value/print.ts';
import {
  isInteger,
  isMap,
  isNumber,
  isSet,
  isVector,
  type Float,
  type TreeMap,
  type Value,
} from '../../value/value.ts';

/** The name of the running builtin. */
function calleeName(ctx: Context): string {
  return ctx.callee?.name ?? 'call';
}

/** The fault of argument `index` having the wrong type: "expects `wanted` as argument 1, got …". */
export function wrongType(ctx: Context, index: number, wanted: string, value: Value): Fault {
  const java = /^[.A-Z]|^java/.test(calleeName(ctx));
  const message = `\`${calleeName(ctx)}\` expects ${wanted} as argument ${index + 1}, got ${describeValue(value)}.`;
  return new Fault(java ? 'java_type_error' : 'type_error', message + swapHint(ctx, index, value));
}

/** The fault of a wrong result of a callback. */
export function wrongResult(ctx: Context, wanted: string, value: Value): Fault {
  return fault(ctx, 'type_error', `the function must give ${wanted}, got ${describeValue(value)}.`);
}

/** The fault of a value of the wrong type in the special form or effect `form`. */
export function wrongValue(form: string, wanted: string, value: Value): Fault {
  return new Fault('type_error', `\`${form}\` expects ${wanted}, got ${describeValue(value)}.`);
}

/** A hint for calls such as `(map coll f)`, where function and collection are swapped. */
function swapHint(ctx: Context, index: number, value: Value): string {
  const name = calleeName(ctx);
  const functionLike =
    typeof value === 'object' &&
    value !== null &&
    (value.kind === 'closure' || value.kind === 'builtin');
  if (!functionLike || index === 0) return '';
  if (!/^(map|mapv|filter|filterv|remove|reduce|sort-by|group-by|keep|some|every\?)$/.test(name)) {
    return '';
  }
  return ` The function comes first: \`(${name} f coll)\`.`;
}

/** A fault of the running builtin: `` `name`: text ``. */
export function fault(ctx: Context, reason: Reason, text: string): Fault {
  return new Fault(reason, `\`${calleeName(ctx)}\`: ${text}`);
}

/** `args[index]`. The arity check has shown that it is present. */
export function arg(args: readonly Value[], index: number): Value {
  return args[index] as Value;
}

/** A number of any type. */
export function expectNumber(
  ctx: Context,
  args: readonly Value[],
  index: number,
): number | bigint | Float {
  const value = arg(args, index);
  if (isNumber(value)) return value;
  throw wrongType(ctx, index, 'a number', value);
}

/** An integer of any size. */
export function expectInteger(
  ctx: Context,
  args: readonly Value[],
  index: number,
): number | bigint {
  const value = arg(args, index);
  if (isInteger(value)) return value;
  throw wrongType(ctx, index, 'an integer', value);
}

/** An index or count. A float is truncated; a huge integer stays huge. */
export function expectCount(ctx: Context, args: readonly Value[], index: number): number {
  const value = expectNumber(ctx, args, index);
  if (typeof value === 'number') return value;
  return Math.trunc(typeof value === 'bigint' ? Number(value) : value.value) || 0;
}

/** Text. */
export function expectText(ctx: Context, args: readonly Value[], index: number): string {
  const value = arg(args, index);
  if (typeof value === 'string') return value;
  throw wrongType(ctx, index, 'text', value);
}

/** A map. */
export function expectMap(ctx: Context, args: readonly Value[], index: number): TreeMap {
  const value = arg(args, index);
  if (isMap(value)) return value;
  throw wrongType(ctx, index, 'a map', value);
}

/** Whether a value has elements: nil, text, vectors, maps and sets. */
export function isSeqable(value: Value): boolean {
  return (
    value === null || typeof value === 'string' || isVector(value) || isMap(value) || isSet(value)
  );
}

/** The fault of a `case` or `condp` without a matching clause. */
export function noClause(form: string, value: Value): Fault {
  return new Fault(
    'runtime_error',
    `No clause of \`${form}\` matches ${shortText(value)}, and there is no default.`,
  );
}
