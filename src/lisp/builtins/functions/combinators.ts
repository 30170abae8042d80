/**
 * Calls of functions that `comp`, `juxt` and similar builtins made.
 */
import type { Context } from '../../value/context.ts';
import { truthy, type Combinator, type Value, type Steps } from '../../value/value.ts';
import { vectorOf } from '../../value/vector.ts';
import { finish, want } from '../arguments/stepping.ts';

/** Drives a combinator: `begin`, then `resume` with the result of each requested call. */
export const combinatorStepper: {
  readonly begin: (ctx: Context, fn: Combinator, args: Value[], s: Steps) => void;
  readonly resume: (ctx: Context, fn: Combinator, s: Steps, result: Value) => void;
} = Object.freeze({
  begin(ctx: Context, fn: Combinator, args: Value[], s: Steps): void {
    const { of } = fn;
    s.items = args;
    switch (fn.name) {
      case 'comp':
        s.at = of.length - 1;
        if (of.length === 0) finish(s, args[0] ?? null);
        else want(s, of[s.at] as Value, args);
        return;
      case 'constantly':
        finish(s, of[0] ?? null);
        return;
      case 'fnil': {
        const [target = null, ...defaults] = of;
        want(
          s,
          target,
          args.map((arg, index) =>
            arg === null && index < defaults.length ? (defaults[index] ?? null) : arg,
          ),
        );
        return;
      }
      case 'complement':
      case 'partial':
        want(s, of[0] ?? null, args);
        return;
      case 'juxt':
        ctx.charge(args.length >>> 4);
        want(s, of[0] ?? null, args.slice());
        return;
      case 'every-pred':
      case 'some-fn':
        if (args.length === 0) finish(s, fn.name === 'every-pred' ? true : null);
        else want(s, of[0] ?? null, [args[0] as Value]);
    }
    ctx.charge(1);
  },
  resume(ctx: Context, fn: Combinator, s: Steps, result: Value): void {
    const { of } = fn;
    ctx.charge(1);
    switch (fn.name) {
      case 'comp':
        s.at -= 1;
        if (s.at < 0) finish(s, result);
        else want(s, of[s.at] as Value, [result]);
        return;
      case 'complement':
        finish(s, !truthy(result));
        return;
      case 'juxt':
        s.out.push(result);
        s.at += 1;
        if (s.at >= of.length) finish(s, vectorOf(s.out));
        else {
          ctx.charge(s.items.length >>> 4);
          want(s, of[s.at] as Value, s.items.slice());
        }
        return;
      case 'every-pred':
      case 'some-fn': {
        const some = fn.name === 'some-fn';
        if (truthy(result) === some) {
          finish(s, some ? result : false);
          return;
        }
        s.at += 1;
        const argument = s.at % s.items.length;
        const predicate = Math.floor(s.at / s.items.length);
        if (predicate >= of.length) finish(s, some ? result : true);
        else want(s, of[predicate] as Value, [s.items[argument] as Value]);
        return;
      }
      default:
        finish(s, result);
    }
  },
});
