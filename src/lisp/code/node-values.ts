/**
 * The values of single nodes, for both tiers.
 *
 * I1  Fuel of the node itself is paid by the caller; only work that depends on values is paid here.
 * I2  `ctx.at` is set before anything that can fail, so a fault has a place in the source.
 */
import { slots } from '../value/slots.ts';
import type { FnCode, NodeOf } from '../ast/core-ast.ts';
import { noClause, wrongValue } from '../builtins/arguments/expect.ts';
import { flexibleGet } from '../builtins/arguments/lookup.ts';
import { itemsOfSeqable } from '../builtins/arguments/seqable.ts';
import { Fault } from '../base/problem.ts';
import type { Span } from '../base/source.ts';
import { withCommas } from '../base/with-commas.ts';
import { equalValues } from '../value/order.ts';
import { mapOf, setOf } from '../value/tree.ts';
import { isNumber, type Closure, type Value } from '../value/value.ts';
import { vectorOf } from '../value/vector.ts';
import { checkCount, type Context } from '../value/context.ts';

/** The value of a definition, cached in the node until a definition changes; fails without one. */
export function readGlobal(ctx: Context, node: NodeOf<'global'>): Value {
  if (node.epoch === ctx.epoch) return node.cached;
  const bound = ctx.globals.get(node.name);
  const value = bound === undefined ? node.fallback : bound;
  if (value === null && bound === undefined && !node.orNil) {
    const message = `\`${node.name}\` is defined in this program but has no value yet.`;
    throw new Fault('unbound_var', message, { span: node.span });
  }
  node.cached = value;
  node.epoch = ctx.epoch;
  return value;
}

/** The value of `data/key`, or nil. */
export function readData(ctx: Context, key: string): Value {
  return flexibleGet(ctx, ctx.data, { kind: 'keyword', name: key }) ?? null;
}

/** A closure of `code` over the present locals. */
export function closureOf(code: FnCode, L: readonly Value[]): Closure {
  const { captures } = code;
  const env = slots<Value>(captures.length);
  for (let index = 0; index < captures.length; index++) {
    env[index] = L[captures[index]?.from ?? 0] as Value;
  }
  return { kind: 'closure', code, env };
}

/** The value of a vector, map or set literal. */
export function literalOf(
  ctx: Context,
  kind: 'vector' | 'map' | 'set',
  values: readonly Value[],
  span: Span,
): Value {
  if (kind === 'vector') return vectorOf(values);
  ctx.at = span;
  if (kind === 'set') return setOf(values, ctx);
  const keys: Value[] = [];
  const vals: Value[] = [];
  for (let index = 0; index < values.length; index += 2) {
    keys.push(values[index] as Value);
    vals.push(values[index + 1] as Value);
  }
  return mapOf(keys, vals, ctx);
}

/** The index of the clause that matches, −1 for the default; fails when there is none. */
export function matchCase(ctx: Context, node: NodeOf<'case'>, value: Value): number {
  ctx.at = node.span;
  for (let index = 0; index < node.clauses.length; index++) {
    const clause = node.clauses[index];
    if (clause === undefined) break;
    for (const constant of clause.constants) if (equalValues(value, constant, ctx)) return index;
    if ((index & 7) === 7) ctx.charge(1);
  }
  if (node.otherwise !== null) return -1;
  throw noClause('case', value);
}

/** The fault of too many jumps. */
export function jumpLimit(ctx: Context, node: NodeOf<'recur'>): Fault {
  const limit = withCommas(ctx.limits.loopIterations);
  const what = node.ofFn ? 'function' : '`loop`';
  return new Fault(
    'loop_limit_exceeded',
    `this ${what} jumped more than ${limit} times. Use \`reduce\` or \`map\` over the data, or check that the loop can end.`,
    { span: node.target },
  );
}

/**
 * The items that a `for` walks: elements, or 0 to n−1 for `dotimes`. A level that may end early
 * pays for what is copied; that of a vector is walked without a copy, by its user.
 */
export function walkItems(
  ctx: Context,
  value: Value,
  counts: boolean,
  early: boolean,
): readonly Value[] {
  if (!counts) {
    const items = itemsOfSeqable(ctx, value, 'for');
    if (early) ctx.charge(items.length);
    return items;
  }
  if (!isNumber(value)) throw wrongValue('dotimes', 'a number', value);
  const size = typeof value === 'object' ? value.value : Number(value);
  const count = Math.max(0, Math.trunc(size)) || 0;
  checkCount(ctx, count);
  const items = slots<Value>(count);
  for (let index = 0; index < count; index++) items[index] = index;
  return items;
}
