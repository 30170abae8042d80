/**
 * Calls on the machine.
 *
 * I1  A call that is free of effects runs as compiled code at once; any other call becomes a frame,
 *     and an effect becomes a request to the host.
 * I2  A tail call replaces the frame of its caller, so tail recursion takes no stack.
 * I3  `ctx.depth` is the number of waiting calls; each push adds one and each return takes one off.
 * I4  Fuel: a call of a closure costs 2 plus its arguments, of a builtin 1, on both tiers.
 * I5  A stepper that calls a function is a frame of its own; its state is data and can be saved.
 */
import { codeOf } from '../ast/core-ast.ts';
import type { CodeFrame, Frame, Stack, StepsFrame } from '../code/code.ts';
import { newSteps } from '../builtins/arguments/stepping.ts';
import { combinatorStepper } from '../builtins/functions/combinators.ts';
import { isFreeCall, isFreeFunction } from '../code/effects.ts';
import {
  callData,
  checkBuiltinArity,
  checkClosureArity,
  drive,
  enterFrame,
  invoke,
  newLocals,
  notCallable,
  standsForCall,
  tooDeep,
  unfoldCall,
} from '../code/invoke.ts';
import { Fault } from '../base/problem.ts';
import type { Span } from '../base/source.ts';
import type { Closure, Combinator, Value, Builtin } from '../value/value.ts';
import { pay } from '../value/context.ts';
import { instructionsOf } from './instructions.ts';
import { isSlow, runFree } from './slice.ts';

/** Calls `fn`: pushes its value, pushes a frame, or lets the branch wait. */
export function callValue(s: Stack, given: Value, givenArgs: Value[], span: Span): void {
  const { ctx } = s;
  let fn = given;
  let args = givenArgs;
  if (standsForCall(fn)) {
    unfoldCall(ctx, fn, args, span);
    fn = ctx.tailFn;
    args = ctx.tailArgs;
  }
  if (typeof fn !== 'object' || fn === null) {
    ctx.at = span;
    throw notCallable(fn);
  }
  switch (fn.kind) {
    case 'closure':
      callClosure(s, fn, args, span);
      return;
    case 'builtin':
      callBuiltin(s, fn, args, span);
      return;
    case 'combinator':
      callCombinator(s, fn, args, span);
      return;
    case 'tool':
      perform(s, fn, args, span);
      return;
    default:
      s.values.push(callData(ctx, fn, args, span));
  }
}

function perform(s: Stack, fn: Value, args: readonly Value[], span: Span): void {
  s.ctx.at = span;
  // A short-lived stack runs free code only, so this is our bug.
  if (s.host === null) throw new Fault('runtime_error', 'An effect was reached where none can be.');
  s.host.perform(fn, args, span);
}

function callClosure(s: Stack, fn: Closure, args: Value[], span: Span): void {
  payClosure(s, fn, args, span);
  if (isFreeNow(s, fn, args)) runClosure(s, fn, args, span);
  else pushFrame(s, fn, newLocals(fn, args), span);
}

/** Pushes the value of compiled code; false when it was abandoned. */
function pushFree(s: Stack, work: () => Value): boolean {
  const value = runFree(s, s.frames.length + 1, work);
  if (value !== undefined) s.values.push(value);
  return value !== undefined;
}

/** Runs a closure as compiled code, or in a frame of its own when that is abandoned. */
function runClosure(s: Stack, fn: Closure, args: Value[], span: Span): void {
  const isDone = pushFree(s, () => enterFrame(s.ctx, fn, newLocals(fn, args), span));
  if (!isDone) pushFrame(s, fn, newLocals(fn, args), span);
}

/** {@link callValue} for a call in tail position: the called closure replaces its caller (I2). */
export function callInTail(s: Stack, given: Value, givenArgs: Value[], span: Span): void {
  const { ctx } = s;
  let fn = given;
  let args = givenArgs;
  if (standsForCall(fn)) {
    unfoldCall(ctx, fn, args, span);
    fn = ctx.tailFn;
    args = ctx.tailArgs;
  }
  const slow = isSlow(s);
  const caller = leaveParts(s);
  // The frame of a top-level form is kept: it belongs to no call.
  const kept = caller?.kind !== 'code' || caller.span === null;
  if (typeof fn !== 'object' || fn?.kind !== 'closure' || kept) {
    callValue(s, fn, args, span);
    return;
  }
  payClosure(s, fn, args, span);
  // The frame that is replaced stays as slow as the parts that ended in it.
  if (slow && s.slow === s.frames.length + 1) s.slow = s.frames.length;
  if (!slow && isFreeNow(s, fn, args)) {
    s.frames.pop();
    ctx.depth -= 1;
    runClosure(s, fn, args, caller.span);
    return;
  }
  caller.code = codeOf(fn.code);
  caller.ops = instructionsOf(s, caller.code);
  caller.pc = 0;
  caller.L = newLocals(fn, args);
}

/**
 * The frame that a tail call replaces. The parts of a `run` end as the call does, so they are left.
 */
function leaveParts(s: Stack): Frame | undefined {
  const top = s.frames[s.frames.length - 1];
  if (top?.kind !== 'code' || top.part < 0) return top;
  s.frames.pop();
  return s.frames[s.frames.length - 1];
}

function payClosure({ ctx }: Stack, fn: Closure, args: readonly Value[], span: Span): void {
  pay(ctx, 2 + args.length, span);
  ctx.at = span;
  checkClosureArity(fn.code, args.length);
}

/** Whether a call may run as compiled code. */
function isFreeNow(s: Stack, fn: Value, args: readonly Value[]): boolean {
  return !isSlow(s) && isFreeCall(s.ctx, fn, args);
}

function callCombinator(s: Stack, fn: Combinator, args: Value[], span: Span): void {
  const { ctx } = s;
  const isFree = !isSlow(s) && isFreeFunction(ctx, fn);
  if (isFree && pushFree(s, () => invoke(ctx, fn, args.slice(), span))) return;
  startCombinator(s, fn, args, span);
}

/** Pushes the frame of a closure whose slots are filled. */
export function pushFrame(s: Stack, fn: Closure, L: Value[], span: Span): void {
  const { ctx } = s;
  if (ctx.depth >= ctx.limits.depth) {
    ctx.at = span;
    throw tooDeep(ctx);
  }
  ctx.depth += 1;
  const frame: CodeFrame = {
    kind: 'code',
    code: codeOf(fn.code),
    ops: instructionsOf(s, codeOf(fn.code)),
    part: -1,
    pc: 0,
    L,
    span,
  };
  s.frames.push(frame);
}

/** Calls a builtin whose arguments are not checked yet. */
function callBuiltin(s: Stack, fn: Builtin, args: Value[], span: Span): void {
  const { ctx } = s;
  pay(ctx, 1, span);
  if (fn.work.kind === 'effect') ctx.at = span;
  checkBuiltinArity(fn, args.length);
  runBuiltin(s, fn, args, span);
}

/** Runs a builtin. The caller has paid for the call and checked the number of arguments. */
export function runBuiltin(s: Stack, fn: Builtin, args: Value[], span: Span): void {
  const { ctx } = s;
  const { work } = fn;
  switch (work.kind) {
    case 'plain':
      ctx.at = span;
      ctx.callee = fn;
      s.values.push(work.run(ctx, args));
      return;
    case 'steps':
      if (isFreeNow(s, fn, args) && pushFree(s, () => drive(ctx, fn, args, span))) return;
      startBuiltin(s, fn, args, span);
      return;
    case 'effect':
      perform(s, fn, args, span);
      return;
    case 'spread':
      callValue(s, fn, args, span);
  }
}

function startBuiltin(s: Stack, fn: Builtin, args: readonly Value[], span: Span): void {
  const { ctx } = s;
  if (fn.work.kind !== 'steps') return;
  beginSteps(s, span);
  ctx.callee = fn;
  const steps = fn.work.stepper.start(ctx, args);
  continueSteps(s, { kind: 'steps', fn, steps, span }, true);
}

function startCombinator(s: Stack, fn: Combinator, args: Value[], span: Span): void {
  const { ctx } = s;
  beginSteps(s, span);
  pay(ctx, 1, span);
  const steps = newSteps();
  combinatorStepper.begin(ctx, fn, args, steps);
  continueSteps(s, { kind: 'steps', fn, steps, span }, true);
}

function beginSteps(s: Stack, span: Span): void {
  const { ctx } = s;
  ctx.at = span;
  if (ctx.depth >= ctx.limits.depth) throw tooDeep(ctx);
  ctx.depth += 1;
}

/** Continues a stepper. The result of the function that it called is on the stack. */
export function resumeSteps(s: Stack, frame: StepsFrame): void {
  const { ctx } = s;
  const result = s.values.pop() as Value;
  const { fn, steps } = frame;
  ctx.at = frame.span;
  if (fn.kind === 'combinator') combinatorStepper.resume(ctx, fn, steps, result);
  else if (fn.work.kind === 'steps') {
    ctx.callee = fn;
    fn.work.stepper.resume(ctx, steps, result);
  }
  continueSteps(s, frame, false);
}

function continueSteps(s: Stack, frame: StepsFrame, isNew: boolean): void {
  const { steps } = frame;
  if (steps.done) {
    if (!isNew) s.frames.pop();
    s.ctx.depth -= 1;
    s.values.push(steps.result);
    return;
  }
  if (isNew) s.frames.push(frame);
  callValue(s, steps.fn, steps.args, frame.span);
}
