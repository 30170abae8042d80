/**
 * Calls values from compiled code: closures run as compiled code, steppers in a loop.
 *
 * I1  The callee was found free of effects, so no call here has to wait.
 * I2  `ctx.depth` counts waiting calls of the program, `ctx.nesting` JavaScript frames. A call that
 *     would exceed `MAX_NESTING` or `MAX_CALLS` continues on a machine stack (`ctx.deep`).
 * I3  `ctx.sites` and `ctx.called` hold the waiting calls, for the trace of a failure.
 * I4  Fuel of a call is the same as on the machine.
 */
import { slots as newSlots } from '../value/slots.ts';
import { type FnCode, codeOf } from '../ast/core-ast.ts';
import { describeValue } from '../value/print.ts';
import { arityMessage, closureArity } from '../base/arity.ts';
import { newSteps } from '../builtins/arguments/stepping.ts';
import { combinatorStepper } from '../builtins/functions/combinators.ts';
import { lookup } from '../builtins/arguments/lookup.ts';
import { spreadArguments } from '../builtins/arguments/seqable.ts';
import { type Context, type CompiledNode, pay } from '../value/context.ts';
import { Fault } from '../base/problem.ts';
import type { Span } from '../base/source.ts';
import type { Closure, Value, VarMark, Combinator, Builtin, CodeHead } from '../value/value.ts';
import { vectorOf } from '../value/vector.ts';

/**
 * Compiled code returns this in place of a value when it ends in a call. The call is in `tailFn`
 * and `tailArgs`, and the caller of the code makes it, so tail calls take no stack.
 */
export const TAIL: VarMark = Object.freeze({ kind: 'var', name: 'tail~' });

/** JavaScript frames of nested compiled calls (I2). */
const MAX_NESTING = 1_200;

/** Nested program calls in compiled code (I2). */
const MAX_CALLS = 200;

/** JavaScript frames that a running stepper takes. */
const STEPPER_FRAMES = 4;

/** The fault of calling a value that is not a function. */
export function notCallable(value: Value): Fault {
  const text = describeValue(value);
  return new Fault(
    'not_callable',
    `${text.charAt(0).toUpperCase()}${text.slice(1)} cannot be called.`,
  );
}

/** The fault of too many waiting calls. */
export function tooDeep(ctx: Context): Fault {
  return new Fault(
    'depth_exceeded',
    `more than ${ctx.limits.depth} calls wait for each other here. Use \`loop\`/\`recur\` or \`reduce\` instead of recursion.`,
  );
}

/** Checks the number of arguments of a closure. */
export function checkClosureArity(code: CodeHead, got: number): void {
  if (got === code.params || (code.rest && got > code.params)) return;
  throw new Fault('arity_error', closureArity(code.name ?? 'fn', code, got));
}

/** Checks the number of arguments of a builtin. */
export function checkBuiltinArity(builtin: Builtin, got: number): void {
  if (got >= builtin.min && got <= builtin.max) return;
  const java = /^[.A-Z]|^java/.test(builtin.name);
  const message = arityMessage(builtin.name, builtin.min, builtin.max, got);
  throw new Fault(java ? 'java_arity_error' : 'arity_error', message);
}

/** The slots of a new call of `fn`: arguments, rest, captures and the function itself. */
export function newLocals(fn: Closure, args: readonly Value[]): Value[] {
  const { code, env } = fn;
  const { params, captures } = code;
  const L = newSlots<Value>(code.slots);
  for (let index = 0; index < params; index++) L[index] = args[index] as Value;
  if (code.rest) {
    const more = args.length - params;
    L[params] = more > 0 ? vectorOf(args.slice(params)) : null;
  }
  for (let index = 0; index < captures.length; index++) {
    const capture = captures[index];
    if (capture !== undefined) L[capture.slot] = env[index] as Value;
  }
  if (code.self >= 0) L[code.self] = fn;
  return L;
}

/** The compiled code of a function, made at its first call. */
function runOf(ctx: Context, code: FnCode): CompiledNode {
  code.run ??= ctx.compile(code);
  return code.run;
}

/** Whether a call of `fn` becomes a call of another function: `apply` or a `partial`. */
export function standsForCall(fn: Value): boolean {
  if (typeof fn !== 'object' || fn === null) return false;
  if (fn.kind === 'combinator') return fn.name === 'partial';
  return fn.kind === 'builtin' && fn.work.kind === 'spread';
}

/** Sets `tailFn` and `tailArgs` to the call that a call of `fn` becomes. */
export function unfoldCall(ctx: Context, fn: Value, args: Value[], span: Span): void {
  ctx.tailFn = fn;
  ctx.tailArgs = args;
  while (standsForCall(ctx.tailFn)) {
    const target = ctx.tailFn;
    if (typeof target !== 'object' || target === null) return;
    pay(ctx, 1 + ctx.tailArgs.length, span);
    if (target.kind === 'combinator') {
      const [inner = null, ...given] = target.of;
      ctx.charge(given.length);
      ctx.tailArgs = [...given, ...ctx.tailArgs];
      ctx.tailFn = inner;
    } else if (target.kind === 'builtin') {
      ctx.at = span;
      ctx.callee = target;
      checkBuiltinArity(target, ctx.tailArgs.length);
      const spread = spreadArguments(ctx, ctx.tailArgs);
      ctx.tailFn = ctx.tailArgs[0] ?? null;
      ctx.tailArgs = spread;
    }
  }
}

/** Calls `fn` and returns its value. It takes over `args`. */
export function invoke(ctx: Context, fn: Value, args: Value[], span: Span): Value {
  if (typeof fn !== 'object' || fn === null) {
    ctx.at = span;
    throw notCallable(fn);
  }
  switch (fn.kind) {
    case 'closure':
      pay(ctx, 2 + args.length, span);
      return enter(ctx, fn, args, span);
    case 'builtin': {
      const { work } = fn;
      if (work.kind === 'plain') {
        pay(ctx, 1, span);
        checkBuiltinArity(fn, args.length);
        ctx.at = span;
        ctx.callee = fn;
        return work.run(ctx, args);
      }
      if (work.kind === 'steps') {
        pay(ctx, 1, span);
        checkBuiltinArity(fn, args.length);
        return drive(ctx, fn, args, span);
      }
      break;
    }
    case 'combinator':
      if (fn.name !== 'partial') return driveCombinator(ctx, fn, args, span);
      break;
    default:
      return callData(ctx, fn, args, span);
  }
  unfoldCall(ctx, fn, args, span);
  return invoke(ctx, ctx.tailFn, ctx.tailArgs, span);
}

/** Calls a keyword, map, set or vector. */
export function callData(ctx: Context, fn: Value, args: readonly Value[], span: Span): Value {
  ctx.at = span;
  pay(ctx, 1, span);
  const value = lookup(ctx, fn, args);
  if (value === undefined) throw notCallable(fn);
  return value;
}

/** Runs a closure as compiled code. The caller has paid. */
function enter(ctx: Context, fn: Closure, args: Value[], span: Span): Value {
  ctx.at = span;
  checkClosureArity(fn.code, args.length);
  return enterFrame(ctx, fn, newLocals(fn, args), span);
}

/** Runs a closure whose slots are filled. */
export function enterFrame(ctx: Context, fn: Closure, locals: Value[], span: Span): Value {
  let code = codeOf(fn.code);
  if (ctx.depth >= ctx.limits.depth) {
    ctx.at = span;
    throw tooDeep(ctx);
  }
  if (ctx.nesting + code.depth > MAX_NESTING || ctx.waiting >= MAX_CALLS) {
    return ctx.deep(ctx, fn, locals, span);
  }
  ctx.depth += 1;
  let frames = code.depth;
  ctx.nesting += frames;
  const place = ctx.waiting;
  ctx.sites[place] = span;
  ctx.called[place] = code;
  ctx.waiting = place + 1;
  let value = runOf(ctx, code)(locals, ctx);
  while (value === TAIL) {
    const { tailFn, tailArgs } = ctx;
    if (typeof tailFn === 'object' && tailFn !== null && tailFn.kind === 'closure') {
      code = codeOf(tailFn.code);
      pay(ctx, 2 + tailArgs.length, ctx.at);
      checkClosureArity(code, tailArgs.length);
      ctx.called[place] = code;
      ctx.nesting += code.depth - frames;
      frames = code.depth;
      value = runOf(ctx, code)(newLocals(tailFn, tailArgs), ctx);
    } else value = invoke(ctx, tailFn, tailArgs, ctx.at);
  }
  ctx.waiting = place;
  ctx.nesting -= frames;
  ctx.depth -= 1;
  return value;
}

/** Runs a builtin that calls functions. The caller has paid. */
export function drive(ctx: Context, builtin: Builtin, args: readonly Value[], span: Span): Value {
  const { work } = builtin;
  if (work.kind !== 'steps') return null;
  enterStepper(ctx, span);
  ctx.callee = builtin;
  const { stepper } = work;
  const steps = stepper.start(ctx, args);
  while (!steps.done) {
    const result = invoke(ctx, steps.fn, steps.args, span);
    ctx.at = span;
    ctx.callee = builtin;
    stepper.resume(ctx, steps, result);
  }
  leaveStepper(ctx);
  return steps.result;
}

/** Begins a stepper: one waiting call and some JavaScript frames. */
function enterStepper(ctx: Context, span: Span): void {
  ctx.at = span;
  if (ctx.depth >= ctx.limits.depth) throw tooDeep(ctx);
  ctx.depth += 1;
  ctx.nesting += STEPPER_FRAMES;
}

function leaveStepper(ctx: Context): void {
  ctx.depth -= 1;
  ctx.nesting -= STEPPER_FRAMES;
}

function driveCombinator(ctx: Context, fn: Combinator, args: Value[], span: Span): Value {
  if (ctx.nesting + STEPPER_FRAMES > MAX_NESTING) return ctx.deep(ctx, fn, args, span);
  enterStepper(ctx, span);
  pay(ctx, 1, span);
  const steps = newSteps();
  combinatorStepper.begin(ctx, fn, args, steps);
  while (!steps.done) {
    const result = invoke(ctx, steps.fn, steps.args, span);
    ctx.at = span;
    combinatorStepper.resume(ctx, fn, steps, result);
  }
  leaveStepper(ctx);
  return steps.result;
}
