/**
 * The instruction set of the machine, and the stacks that it runs on.
 */
import type { ConstNode, Demands, FnCode, LocalNode, Node } from '../ast/core-ast.ts';
import type { Context, Run } from '../value/context.ts';
import type { Span } from '../base/source.ts';
import type { Builtin, Combinator, Steps, Value } from '../value/value.ts';

/** What the machine can do. Operands lie on the stack unless they are leaves (I1). */
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
  /** Goes on at `a`. */
  | 'jump'
  /** Goes on at `a` when the operand is nil or false. */
  | 'unless'
  /** Goes on at `a` with the operand pushed when it is nil or false. */
  | 'and'
  /** Goes on at `a` with the operand pushed when it is true. */
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
  /** Binds the operands to the slots of the loop and goes on at `a`. */
  | 'recur'
  /** Ends the function with the operand. */
  | 'return'
  /** Binds a definition to the operand. */
  | 'def'
  /** Goes on at `a` when the definition has a value, pushing its mark. */
  | 'defonce'
  /** Computes a part of a pattern. */
  | 'part'
  /** Goes on at the clause of a `case` that matches the operand. */
  | 'case'
  /** Begins walking the operand as the items of a `for`. */
  | 'walk'
  /** Binds the next item, or goes on at `a`. */
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
  /** Takes the id of a `task`; goes on at `a` with its value when the journal has it. */
  | 'task'
  /** Stores the operand as the value of the task. */
  | 'done'
  /** Runs the node as compiled code and pushes its value. */
  | 'run'
  /** Runs the node as compiled code and goes on at `a`, if that is free of effects at present. */
  | 'try';

/**
 * One instruction. All have one shape, so that the machine reads them alike.
 *
 * I1. `leaves[i]` is operand `i` when it is a constant or a local; null when it was computed and
 *     lies on the stack, in order.
 */
export interface Instruction {
  readonly op: Op;
  a: number;
  /** Fuel, paid when the instruction begins, after its operands were computed. */
  readonly cost: number;
  readonly node: Node;
  readonly leaves: readonly (LeafNode | null)[];
  /** What carries it out. */
  readonly act: Act;
  /** Compiled code of the node, for `run` and `try`. */
  run: Run | null;
  /** The instructions of the node by itself, for a `run` whose compiled code was abandoned. */
  parts: readonly Instruction[] | null;
  /** For `try`: what the node demands, and the slots that it binds. */
  demands: Demands | null;
  bound: ReadonlySet<number> | null;
  /** The addresses of the clauses of a `case`; empty elsewhere. */
  readonly targets: number[];
}

/** A node that an operator reads by itself. */
export type LeafNode = ConstNode | LocalNode;

/** Carries out one instruction. */
export type Act = (s: Stack, f: CodeFrame, i: Instruction) => void;

/** The act of every instruction. */
export type Acts = { readonly [O in Op]: Act };

/** A function that is running. */
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
  /** Where it was called; null for a top-level form, which is no call. */
  readonly span: Span | null;
}

/** A builtin or combinator that waits for a function it has called. */
export interface StepsFrame {
  readonly kind: 'steps';
  readonly fn: Builtin | Combinator;
  readonly steps: Steps;
  readonly span: Span;
}

/** One entry of a stack. */
export type Frame = CodeFrame | StepsFrame;

/** An `attempt` under way: where to go on when something inside fails. */
export interface Attempt {
  readonly frames: number;
  readonly values: number;
  readonly pc: number;
}

/** What a stack cannot do by itself. */
export interface StackHost {
  /** Asks the host for an effect, and lets the branch wait. */
  readonly perform: (fn: Value, args: readonly Value[], span: Span) => void;
  /** Binds a definition for the branch. */
  readonly define: (name: string, value: Value) => void;
}

/** A stack that the machine runs: that of a branch, or a short-lived one for deep compiled calls. */
export interface Stack {
  readonly c: Context;
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
  /** What the branch of this stack does; null for a short-lived one, on which nothing can wait. */
  host: StackHost | null;
  /** Set when the branch waits or has ended. */
  stopped: boolean;
}
