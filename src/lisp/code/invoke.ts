/**
 * Calls values from compiled code: closures run as compiled code, steppers in a loop.
 *
 * I1  The callee was found free of effects, so no call here has to wait.
 * I2  `c.depth` counts waiting calls of the program, `c.nesting` JavaScript frames. A call that would
 *     exceed `MAX_NESTING` or `MAX_CALLS` continues on a machine stack (`c.deep`).
 * I3  `c.sites` and `c.called` hold the waiting calls, for the trace of a failure.
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
import type { Context, Run } from '../value/context.ts';
import { pay } from '../value/context.ts';
import { Fault } from '../base/problem.ts';
import type { Span } from '../base/source.ts';
import type { Closure, Value, VarMark, Combinator, Builtin, CodeHead } from '../value/value.ts';
import { vectorOf } from '../value/vector.ts';

/**
 * Compiled code returns this in place of a value when it ends in a call. The call is in `tailFn` and
 * `tailArgs`, and the caller of the code makes it, so tail calls take no stack.
 */
export const TAIL: VarMark = Object.freeze({ kind: 'var', name: 'tail~' });

/** JavaScript frames of nested compiled calls (I2). */
const MAX_NESTING = 1_200;

/** Nested program calls in compiled code (I2). */
const MAX_CALLS = 200;

/** JavaScript frames that a running stepper takes. */
const STEPPER_FRAMES = 4;

/** The fault of calling a value that is no function. */
export function notCallable(value: Value): Fault {
  const text = describeValue(value);
  return new Fault(
    'not_callable',
    `${text.charAt(0).toUpperCase()}${text.slice(1)} cannot be called.`,
  );
}

/** The fault of too many waiting calls. */
export function tooDeep(c: Context): Fault {
  return new Fault(
    'depth_exceeded',
    `more than ${c.limits.depth} calls wait for each other here. Use \`loop\`/\`recur\` or \`reduce\` instead of recursion.`,
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
function runOf(c: Context, code: FnCode): Run {
  code.run ??= c.compile(code);
  return code.run;
}

/** Whether a call of `fn` becomes a call of another function: `apply` or a `partial`. */
export function standsForCall(fn: Value): boolean {
  if (typeof fn !== 'object' || fn === null) return false;
  if (fn.kind === 'combinator') return fn.name === 'partial';
  return fn.kind === 'builtin' && fn.work.kind === 'spread';
}

/** Sets `tailFn` and `tailArgs` to the call that a call of `fn` becomes. */
export function unfoldCall(c: Context, fn: Value, args: Value[], span: Span): void {
  c.tailFn = fn;
  c.tailArgs = args;
  while (standsForCall(c.tailFn)) {
    const target = c.tailFn;
    if (typeof target !== 'object' || target === null) return;
    pay(c, 1 + c.tailArgs.length, span);
    if (target.kind === 'combinator') {
      const [inner = null, ...given] = target.of;
      c.tailArgs = [...given, ...c.tailArgs];
      c.tailFn = inner;
    } else if (target.kind === 'builtin') {
      c.at = span;
      c.callee = target;
      checkBuiltinArity(target, c.tailArgs.length);
      const spread = spreadArguments(c, c.tailArgs);
      c.tailFn = c.tailArgs[0] ?? null;
      c.tailArgs = spread;
    }
  }
}

/** Calls `fn` and returns its value. It takes over `args`. */
export function invoke(c: Context, fn: Value, args: Value[], span: Span): Value {
  if (typeof fn !== 'object' || fn === null) {
    c.at = span;
    throw notCallable(fn);
  }
  switch (fn.kind) {
    case 'closure':
      pay(c, 2 + args.length, span);
      return enter(c, fn, args, span);
    case 'builtin': {
      const { work } = fn;
      if (work.kind === 'plain') {
        pay(c, 1, span);
        checkBuiltinArity(fn, args.length);
        c.at = span;
        c.callee = fn;
        return work.run(c, args);
      }
      if (work.kind === 'steps') {
        pay(c, 1, span);
        checkBuiltinArity(fn, args.length);
        return drive(c, fn, args, span);
      }
      break;
    }
    case 'combinator':
      if (fn.name !== 'partial') return driveCombinator(c, fn, args, span);
      break;
    default:
      return callData(c, fn, args, span);
  }
  unfoldCall(c, fn, args, span);
  return invoke(c, c.tailFn, c.tailArgs, span);
}

/** Calls a keyword, map, set or vector. */
export function callData(c: Context, fn: Value, args: readonly Value[], span: Span): Value {
  c.at = span;
  pay(c, 1, span);
  const value = lookup(c, fn, args);
  if (value === undefined) throw notCallable(fn);
  return value;
}

/** Runs a closure as compiled code. The caller has paid. */
function enter(c: Context, fn: Closure, args: Value[], span: Span): Value {
  c.at = span;
  checkClosureArity(fn.code, args.length);
  return enterFrame(c, fn, newLocals(fn, args), span);
}

/** Runs a closure whose slots are filled. */
export function enterFrame(c: Context, fn: Closure, locals: Value[], span: Span): Value {
  let code = codeOf(fn.code);
  if (c.depth >= c.limits.depth) {
    c.at = span;
    throw tooDeep(c);
  }
  if (c.nesting + code.depth > MAX_NESTING || c.waiting >= MAX_CALLS) {
    return c.deep(c, fn, locals, span);
  }
  c.depth += 1;
  let frames = code.depth;
  c.nesting += frames;
  const place = c.waiting;
  c.sites[place] = span;
  c.called[place] = code;
  c.waiting = place + 1;
  let value = runOf(c, code)(locals, c);
  while (value === TAIL) {
    const { tailFn, tailArgs } = c;
    if (typeof tailFn === 'object' && tailFn !== null && tailFn.kind === 'closure') {
      code = codeOf(tailFn.code);
      pay(c, 2 + tailArgs.length, c.at);
      checkClosureArity(code, tailArgs.length);
      c.called[place] = code;
      c.nesting += code.depth - frames;
      frames = code.depth;
      value = runOf(c, code)(newLocals(tailFn, tailArgs), c);
    } else value = invoke(c, tailFn, tailArgs, c.at);
  }
  c.waiting = place;
  c.nesting -= frames;
  c.depth -= 1;
  return value;
}

/** Runs a builtin that calls functions. The caller has paid. */
export function drive(c: Context, builtin: Builtin, args: readonly Value[], span: Span): Value {
  const { work } = builtin;
  if (work.kind !== 'steps') return null;
  enterStepper(c, span);
  c.callee = builtin;
  const { stepper } = work;
  const steps = stepper.start(c, args);
  while (!steps.done) {
    const result = invoke(c, steps.fn, steps.args, span);
    c.at = span;
    c.callee = builtin;
    stepper.resume(c, steps, result);
  }
  leaveStepper(c);
  return steps.result;
}

/** Begins a stepper: one waiting call and some JavaScript frames. */
function enterStepper(c: Context, span: Span): void {
  c.at = span;
  if (c.depth >= c.limits.depth) throw tooDeep(c);
  c.depth += 1;
  c.nesting += STEPPER_FRAMES;
}

function leaveStepper(c: Context): void {
  c.depth -= 1;
  c.nesting -= STEPPER_FRAMES;
}

function driveCombinator(c: Context, fn: Combinator, args: Value[], span: Span): Value {
  if (c.nesting + STEPPER_FRAMES > MAX_NESTING) return c.deep(c, fn, args, span);
  enterStepper(c, span);
  pay(c, 1, span);
  const steps = newSteps();
  combinatorStepper.begin(c, fn, args, steps);
  while (!steps.done) {
    const result = invoke(c, steps.fn, steps.args, span);
    c.at = span;
    combinatorStepper.resume(c, fn, steps, result);
  }
  leaveStepper(c);
  return steps.result;
}
