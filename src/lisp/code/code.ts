/**
 * The instruction set of the machine, and the stacks that it runs on.
 *
 * I1  `leaves[k]` is operand `k` of an instruction when it is a constant or a local. It is null for
 *     a computed operand, which is on the stack, in order.
 * I2  All instructions have the same shape, so the machine's reads of them stay monomorphic.
 * I3  An instruction pays when it begins, after its operands are computed.
 * I4  Instructions can be made again from the source, so a snapshot holds addresses and no code.
 * I5  A stack without a host cannot wait: only code that is free of effects runs on it.
 */
import type { Demands, FnCode, Node, NodeOf } from '../ast/core-ast.ts';
import type { Context, CompiledNode } from '../value/context.ts';
import type { Span } from '../base/source.ts';
import type { Builtin, Combinator, Steps, Value } from '../value/value.ts';

/** The instructions. Operands are on the stack unless they are leaves (I1). */
export type Op =
  /** Pushes the leaf in `leaves`. */
  | 'leaf'
  /** Pushes the value of a definition. */
  | 'global'
  /** Pushes a value of the context. */
  | 'data'
  /** Drops the top. */
  | 'drop'
  /** Moves the operand into slot `a`. */
  | 'set'
  /** Jumps to `a`. */
  | 'jump'
  /** Jumps to `a` if the operand is nil or false. */
  | 'unless'
  /** If the operand is nil or false, pushes it and jumps to `a`. */
  | 'and'
  /** If the operand is true, pushes it and jumps to `a`. */
  | 'or'
  /** Makes a vector, map or set of the operands. */
  | 'vector'
  | 'map'
  | 'set-literal'
  /** Makes a closure. */
  | 'fn'
  /** Calls the first operand with the others. */
  | 'call'
  /** Calls a known builtin with the operands. */
  | 'builtin'
  /** Sets the jump counter in slot `a` to zero. */
  | 'enter'
  /** Binds the operands to the slots of the loop and jumps to `a`. */
  | 'recur'
  /** Ends the function with the operand. */
  | 'return'
  /** Binds a definition to the operand. */
  | 'def'
  /** If the definition has a value, pushes its mark and jumps to `a`. */
  | 'defonce'
  /** Computes a part of a pattern. */
  | 'part'
  /** Jumps to the clause of a `case` that matches the operand. */
  | 'case'
  /** Begins walking the operand as the items of a `for`. */
  | 'walk'
  /** Binds the next item, or jumps to `a` after the last one. */
  | 'next'
  /** Begins the result of a `for`. */
  | 'gather'
  /** Adds the operand to the result of a `for`. */
  | 'keep'
  /** Pushes the result of a `for`, or nil. */
  | 'gathered'
  /** Begins an `attempt` that ends at `a`. */
  | 'attempt'
  /** Ends an `attempt` in which nothing failed. */
  | 'attempted'
  /** Takes the id of a `task`. If the journal has its value, pushes it and jumps to `a`. */
  | 'task'
  /** Stores the operand as the value of the task. */
  | 'done'
  /** Runs the node as compiled code and pushes its value. */
  | 'run'
  /** If the node is now free of effects, runs it as compiled code and jumps to `a`. */
  | 'try';

/** One instruction (I2). */
export interface Instruction {
  readonly op: Op;
  a: number;
  /** Fuel (I3). */
  readonly cost: number;
  readonly node: Node;
  readonly leaves: readonly (LeafNode | null)[];
  /** Executes the instruction. */
  readonly act: Act;
  /** Compiled code of the node, for `run` and `try`. */
  run: CompiledNode | null;
  /** The instructions of the node by itself, for a `run` whose compiled code was abandoned. */
  parts: readonly Instruction[] | null;
  /** For `try`: the demands of the node, and the slots that it binds. */
  demands: Demands | null;
  bound: ReadonlySet<number> | null;
  /** The addresses of the clauses of a `case`; empty elsewhere. */
  readonly targets: number[];
}

/** A node that the instruction using it reads directly. */
export type LeafNode = NodeOf<'const' | 'local'>;

/** Executes one instruction. */
export type Act = (s: Stack, frame: CodeFrame, instruction: Instruction) => void;

/** The act for every op. */
export type Acts = { readonly [O in Op]: Act };

/** A running function. */
export interface CodeFrame {
  readonly kind: 'code';
  code: FnCode;
  ops: readonly Instruction[];
  /**
   * The address of the `run` in the function's own instructions whose parts these are, −1 for the
   * function itself: see `machine/slice.ts`.
   */
  part: number;
  /** The next instruction. */
  pc: number;
  L: Value[];
  /** The call in the source; null for a top-level form. */
  readonly span: Span | null;
}

/** A builtin or combinator that waits for a function that it called. */
export interface StepsFrame {
  readonly kind: 'steps';
  readonly fn: Builtin | Combinator;
  readonly steps: Steps;
  readonly span: Span;
}

/** One entry of a stack. */
export type Frame = CodeFrame | StepsFrame;

/** A running `attempt`: the heights of the stacks at its start, and where to go when it fails. */
export interface Attempt {
  readonly frames: number;
  readonly values: number;
  readonly pc: number;
}

/** The services of a branch for its stack. */
export interface StackHost {
  /** Requests an effect; the branch waits for it. */
  readonly perform: (fn: Value, args: readonly Value[], span: Span) => void;
  /** Binds a definition for the branch. */
  readonly define: (name: string, value: Value) => void;
}

/** A stack that the machine runs: of a branch, or a short-lived one for deep compiled calls. */
export interface Stack {
  readonly ctx: Context;
  readonly frames: Frame[];
  /** Operands. */
  readonly values: Value[];
  readonly attempts: Attempt[];
  /** Whether compiled code must not be used. */
  readonly forced: boolean;
  /**
   * While there are at least so many frames, compiled code is not used, since it was abandoned at
   * the end of a slice; else Infinity.
   */
  slow: number;
  /** The branch; null for a short-lived stack (I5). */
  host: StackHost | null;
  /** True while the branch waits and after it has ended. */
  stopped: boolean;
}
