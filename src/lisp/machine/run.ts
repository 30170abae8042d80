/**
 * Runs one stack, instruction by instruction, until it waits, ends or fails.
 *
 * I1  The loop keeps no state of its own: after each instruction, the stack alone determines what
 *     comes next.
 * I2  `pc` is the address of the next instruction; it advances before the instruction acts.
 * I3  Fuel is charged before an instruction acts; running out is a fault like any other.
 * I4  A stepper frame on top means that the function it called has returned.
 * I5  A deep compiled call runs on a short-lived stack with `forced` code and never waits.
 */
import { codeOf, type Node } from '../ast/core-ast.ts';
import { compileRun } from '../code/closures.ts';
import { compileInstructions, compileParts } from '../code/compile.ts';
import type { Instruction, Frame, Stack } from '../code/code.ts';
import { Fault } from '../base/problem.ts';
import type { Span } from '../base/source.ts';
import type { Value, CodeHead } from '../value/value.ts';
import { callValue, pushFrame, resumeSteps } from './call.ts';
import { spend, type Context, type CompiledNode } from '../value/context.ts';
import { ACTS } from './step.ts';

/** Runs until the stack has no frames, waits or ends, or the slice is over. Throws faults. */
export function runStack(s: Stack): void {
  const { ctx, frames } = s;
  while (!s.stopped) {
    if (ctx.sliced && s.host !== null) return;
    const frame = frames[frames.length - 1];
    if (frame === undefined) return;
    if (frame.kind === 'steps') {
      resumeSteps(s, frame);
      continue;
    }
    const instruction = frame.ops[frame.pc] as Instruction;
    frame.pc += 1;
    const { cost } = instruction;
    if (cost !== 0 && (ctx.fuel -= cost) < 0) spend(ctx, 0, instruction.node.span);
    instruction.act(s, frame, instruction);
  }
}

/** An empty stack. */
export function newStack(ctx: Context, forced: boolean): Stack {
  return {
    ctx,
    frames: [],
    values: [],
    attempts: [],
    forced,
    slow: Infinity,
    host: null,
    stopped: false,
  };
}

/** `Context.deep`: runs a call that would nest compiled code too deep. */
export function runDeep(ctx: Context, fn: Value, args: Value[], span: Span): Value {
  const s = newStack(ctx, true);
  try {
    if (typeof fn === 'object' && fn !== null && fn.kind === 'closure')
      pushFrame(s, fn, args, span);
    else callValue(s, fn, args, span);
    runStack(s);
  } catch (thrown) {
    if (thrown instanceof Fault) thrown.trace ??= traceOf(ctx, s.frames, []);
    throw thrown;
  }
  return s.values.pop() as Value;
}

/** `Context.compile`. */
export function compile(code: CodeHead): CompiledNode {
  return compileRun(codeOf(code));
}

/** `Context.assemble`. */
export function assemble(code: CodeHead, forced: boolean): readonly Instruction[] {
  return compileInstructions(codeOf(code), forced, ACTS);
}

/** Makes the instructions of a node by itself; given to the context. */
export function assembleParts(node: object): readonly Instruction[] {
  return compileParts(node as Node, ACTS);
}

const MAX_TRACE = 5;

/** The running functions, innermost first: `` in `area`, called at line 9 ``. */
export function traceOf(
  ctx: Context,
  deep: readonly Frame[],
  outer: readonly Frame[],
): readonly string[] {
  const lines: string[] = [];
  const add = (name: string | null, span: Span | null | undefined): void => {
    if (span === null || span === undefined || lines.length >= MAX_TRACE) return;
    lines.push(`in ${name === null ? 'a function' : `\`${name}\``}, called at line ${span.line}`);
  };
  const addFrames = (frames: readonly Frame[]): void => {
    for (let index = frames.length - 1; index >= 0 && lines.length < MAX_TRACE; index--) {
      const frame = frames[index];
      if (frame?.kind === 'code') add(frame.code.name, frame.span);
    }
  };
  addFrames(deep);
  for (let index = ctx.waiting - 1; index >= 0 && lines.length < MAX_TRACE; index--) {
    add(ctx.called[index]?.name ?? null, ctx.sites[index]);
  }
  addFrames(outer);
  return lines;
}
