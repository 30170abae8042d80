/**
 * `apply`: its last argument spread out.
 */
import type { Context } from '../../value/context.ts';
import { checkCount } from '../../value/context.ts';
import type { Value } from '../../value/value.ts';
import { itemsAt } from './seqable.ts';

/** The arguments of the call that `(apply f a b [c d])` stands for. */
export function spreadArguments(c: Context, args: readonly Value[]): Value[] {
  const last = itemsAt(c, args, args.length - 1);
  c.charge(last.length);
  checkCount(c, args.length + last.length);
  const spread = args.slice(1, -1);
  for (const item of last) spread.push(item);
  return spread;
}
