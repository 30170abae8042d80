/**
 * The code of a function and the instruction set of the machine.
 *
 * One function (or one top-level form) is one {@link FnCode}: its core tree, and what is made from
 * the tree when it is first needed: instructions for the machine, a closure for the fast tier, and
 * what is known about its effects. All of it can be made again from the source, so none of it is
 * part of a snapshot: a frame names its code by program and offset.
 */
import type { ConstNode, LocalNode, Node } from '../analyzer/core-ast.ts';
import type { Context } from '../machine/context.ts';
import type { CodeFrame, Stack } from '../machine/state.ts';
import type { Span } from '../source.ts';
import type { Value } from '../value/value.ts';
import type { Demands } from './effects.ts';

/** A local of an enclosing function that a function keeps. */
export interface Capture {
  readonly name: string;
  /** Its slot in the enclosing function. */
  readonly from: number;
  /** Its slot here. */
  readonly slot: number;
}

/** Compiled code of one node: from the slots of the running function to a value. */
export type Run = (L: Value[], c: Context) => Value;

/** One function literal or top-level form. */
export interface FnCode {
  /** `l1:` and 32 hexadecimal digits. */
  readonly programId: string;
  /** UTF-16 offset of its opening delimiter. */
  readonly offset: number;
  readonly span: Span;
  readonly name: string | null;
  /** Parameters before `&`, in slots from 0. */
  readonly params: number;
  /** Whether more arguments are collected, into slot `params`. */
  readonly rest: boolean;
  /** The parameters as written, for messages: `(w h)`. */
  readonly signature: string;
  /** The slot of the function itself under its own name, or −1. */
  readonly self: number;
  /** Slots in all. */
  slots: number;
  readonly captures: Capture[];
  body: Node;
  /** Depth of the core tree: JavaScript frames that one activation may take. */
  depth: number;
  /** Slots that a `let` binds once, with what they are bound to: see `effects.ts`. */
  readonly known: Map<number, Node>;
  /** For the machine with compiled parts. */
  instructions: readonly Instruction[] | null;
  /** For the machine alone. */
  forced: readonly Instruction[] | null;
  run: Run | null;
  demands: Demands | null;
  /** The state of definitions for which `needs` was computed. */
  needsEpoch: object | null;
  /** Slots that must hold effect-free functions for a call to be effect-free; null: never is. */
  needs: readonly number[] | null;
}

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
