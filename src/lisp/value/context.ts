/**
 * What builtins and compiled code see of the running machine: fuel, limits, the call under way and
 * the few things outside the program that it may read.
 */
import type { JsonObject } from '../base/json.ts';
import type { Limits } from '../base/limits.ts';
import { Fault } from '../base/problem.ts';
import type { Span } from '../base/source.ts';
import { withCommas } from '../base/with-commas.ts';
import type { Meter, TreeMap, Value, Builtin, CodeHead } from './value.ts';

/** A tool as a program sees it. */
export interface ToolFace {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly schema: JsonObject;
}

/** What a branch has written down; a parallel branch has its own until it is joined. */
export interface Records {
  /** Notes of this branch, already cut to size. */
  readonly notes: string[];
  /** Notes dropped over the limit. */
  droppedNotes: number;
  /** Journal entries by printed id; a branch starts with a copy of what its parent had. */
  readonly journal: Map<string, Value>;
  /** Ids added or, with null, forgotten since the branch began. */
  readonly journalChanges: Map<string, Value | undefined>;
  readonly plan: Map<string, string>;
}

/** Compiled code of one node: from the slots of the running function to a value. */
export type Run = (L: Value[], c: Context) => Value;

/** The running machine as builtins and compiled code see it. */
export interface Context extends Meter {
  /** Units left. Below zero the program has ended. */
  fuel: number;
  readonly limits: Limits;
  /** That of the limits, nearer at hand. */
  readonly loopIterations: number;
  /** Where the call under way stands. */
  at: Span;
  /** The builtin at work, for its error messages. */
  callee: Builtin | null;
  /** Calls that wait, on the machine and in compiled code together. */
  depth: number;
  /** JavaScript frames that compiled code may still take, in nested calls; see `code/closures.ts`. */
  nesting: number;
  /** Calls of compiled code that wait, innermost last: where each was made, and what it called. */
  readonly sites: Span[];
  readonly called: CodeHead[];
  /** How many of them wait; what lies beyond is stale. */
  waiting: number;
  /** Definitions that the running branch sees. Replaced, never changed, while branches share it. */
  globals: Map<string, Value>;
  /** A fresh object after every change of `globals`: what makes cached lookups valid. */
  epoch: object;
  /** A fresh object whenever a definition changed in a way that may change what is free of effects. */
  purity: object;
  /** The function and arguments of a tail call on its way to its caller. */
  tailFn: Value;
  tailArgs: Value[];
  records: Records;
  readonly data: TreeMap;
  readonly tools: ReadonlyMap<string, ToolFace>;
  /** Milliseconds since the epoch, as the host said in the last tick. */
  now: number;
  budget: JsonObject;
  /** Notes of all branches so far, for the limit. */
  noteCount: number;
  /** The parallel form around the running branch, which `return` and `fail` cannot leave. */
  inside: 'pmap' | 'pcalls' | null;
  /** Makes the compiled code of a function. */
  compile(code: CodeHead): Run;
  /** Makes the instructions of a function. */
  assemble(code: CodeHead, forced: boolean): readonly object[];
  /**
   * Calls `fn` on a machine stack of its own, when compiled code is nested too deep. For a closure
   * `args` are its slots, filled already; its call is paid.
   */
  readonly deep: (c: Context, fn: Value, args: Value[], span: Span) => Value;
}

/** The fault of a program that has used its fuel. */
export function outOfFuel(limits: Limits): Fault {
  return new Fault(
    'fuel_exceeded',
    `the program used its ${withCommas(limits.fuel)} units of fuel.\nLook at less data per program, index once with \`group-by\` instead of searching in a loop, or let a tool do the heavy part.`,
  );
}

/** Takes `units` of fuel and ends the program, at `span` when given, if there are not enough. */
export function pay(c: Context, units: number, span?: Span): void {
  c.fuel -= units;
  if (c.fuel >= 0) return;
  const fault = outOfFuel(c.limits);
  fault.span = span ?? c.at;
  throw fault;
}

/** Takes fuel on the fast way of every node; see {@link pay}. */
export function spend(c: Context, units: number, span: Span): void {
  if ((c.fuel -= units) >= 0) return;
  const fault = outOfFuel(c.limits);
  fault.span = span;
  throw fault;
}

/** Fails when a collection of `count` elements would be too large. Called before it is made. */
export function checkCount(c: Context, count: number): void {
  if (count <= c.limits.collection) return;
  throw new Fault(
    'size_exceeded',
    `a collection of ${Number.isFinite(count) ? withCommas(Math.trunc(count)) : 'endless many'} elements is over the limit of ${withCommas(c.limits.collection)}.`,
  );
}

/** Charges for making a text of `length` UTF-16 units and fails when it would be too long. */
export function checkText(c: Context, length: number): void {
  if (length > c.limits.textUnits) {
    throw new Fault(
      'size_exceeded',
      `a text of ${withCommas(length)} units is over the limit of ${withCommas(c.limits.textUnits)}.`,
    );
  }
  c.charge(length >>> 4);
}
