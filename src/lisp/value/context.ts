/**
 * The running machine as builtins and compiled code see it: fuel, limits, the running call, and the
 * outside data that a program may read.
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

/** The records of a branch; those of a parallel branch are merged when it is joined. */
export interface Records {
  /** Notes of this branch, cut to their limit. */
  readonly notes: string[];
  /** Number of notes over the limit. */
  droppedNotes: number;
  /** Journal entries by printed id; a branch starts with a copy of its parent's. */
  readonly journal: Map<string, Value>;
  /** Ids added or, with undefined, removed since the branch began. */
  readonly journalChanges: Map<string, Value | undefined>;
  readonly plan: Map<string, string>;
}

/** Empty records with a copy of `journal`. */
export function newRecords(journal: ReadonlyMap<string, Value> = new Map()): Records {
  return {
    notes: [],
    droppedNotes: 0,
    journal: new Map(journal),
    journalChanges: new Map(),
    plan: new Map(),
  };
}

/** Compiled code of one node. `L` are the slots of the running function. */
export type CompiledNode = (L: Value[], ctx: Context) => Value;

/** The state of the machine for builtins and compiled code. */
export interface Context extends Meter {
  /** Units left, of the slice when there is a `reserve`. Below zero the program has ended. */
  fuel: number;
  /** Units left beyond the slice; 0 when the host does not ask for slices. */
  reserve: number;
  /** Whether what runs can be begun again: then the end of the slice abandons it. */
  restartable: boolean;
  /** Set when the slice has ended: the machine stops before the next instruction. */
  sliced: boolean;
  /** What puts back records of code that is abandoned. */
  readonly undo: (() => void)[];
  readonly limits: Limits;
  /** `limits.loopIterations`, for faster access. */
  readonly loopIterations: number;
  /** The place of the running call. */
  at: Span;
  /** The running builtin, for its error messages. */
  callee: Builtin | null;
  /** Number of waiting calls, on the machine and in compiled code together. */
  depth: number;
  /** JavaScript frames that nested compiled calls take; see `code/invoke.ts`. */
  nesting: number;
  /** Waiting calls of compiled code, innermost last: the place of each, and the called code. */
  readonly sites: Span[];
  readonly called: CodeHead[];
  /** Number of waiting calls; later entries of both arrays are stale. */
  waiting: number;
  /** The definitions of the running branch. A map that branches share is copied, never changed. */
  globals: Map<string, Value>;
  /** A new object after every change of `globals`; a cached read is valid for one epoch. */
  epoch: object;
  /** A new object after a change that can change which calls are free of effects. */
  purity: object;
  /** The function and arguments of a tail call on its way to its caller. */
  tailFn: Value;
  tailArgs: Value[];
  records: Records;
  readonly data: TreeMap;
  readonly tools: ReadonlyMap<string, ToolFace>;
  /** Milliseconds since the epoch, from the last tick. */
  now: number;
  budget: JsonObject;
  /** Notes of all branches so far, for the limit. */
  noteCount: number;
  /** The parallel form around the running branch, which `return` and `fail` cannot leave. */
  inside: 'pmap' | 'pcalls' | null;
  /** Makes the compiled code of a function. */
  compile(code: CodeHead): CompiledNode;
  /** Makes the instructions of a function. */
  assemble(code: CodeHead, forced: boolean): readonly object[];
  /** Makes the instructions of a node by itself. */
  assembleParts(node: object): readonly object[];
  /**
   * Calls `fn` on a new machine stack, when compiled code is nested too deep. For a closure, `args`
   * are its filled slots, and its call has been paid for.
   */
  readonly deep: (ctx: Context, fn: Value, args: Value[], span: Span) => Value;
}

/** The fault of a program without fuel. */
function outOfFuel(limits: Limits): Fault {
  return new Fault(
    'fuel_exceeded',
    `the program used its ${withCommas(limits.fuel)} units of fuel.\nLook at less data per program, index once with \`group-by\` instead of searching in a loop, or let a tool do the heavy part.`,
  );
}

/**
 * Units of fuel that run before the machine lets its host do something else. Recorded programs
 * depend on it.
 */
export const SLICE: number = 250_000;

/** What ends code that can be begun again, when its slice ends in the middle. */
export const SLICE_END: unique symbol = Symbol('the slice ended');

/**
 * What happens when the fuel is below zero: code that can be begun again is abandoned; else the
 * next slice is begun, which the machine sees before its next instruction; without one the program
 * ends.
 */
export function endSlice(ctx: Context, span?: Span): void {
  // eslint-disable-next-line @typescript-eslint/only-throw-error -- a mark, and no error
  if (ctx.reserve > 0 && ctx.restartable) throw SLICE_END;
  while (ctx.fuel < 0 && ctx.reserve > 0) {
    const more = ctx.reserve < SLICE ? ctx.reserve : SLICE;
    ctx.reserve -= more;
    ctx.fuel += more;
    ctx.sliced = true;
  }
  if (ctx.fuel >= 0) return;
  const fault = outOfFuel(ctx.limits);
  fault.span = span;
  throw fault;
}

/** All units that are left. */
export function fuelLeft(ctx: Context): number {
  return ctx.fuel + ctx.reserve;
}

/** Takes `units` of fuel. Fails, at `span` when given, if there is not enough. */
export function pay(ctx: Context, units: number, span?: Span): void {
  if ((ctx.fuel -= units) < 0) endSlice(ctx, span ?? ctx.at);
}

/** {@link pay} for the hot path of nodes. */
export function spend(ctx: Context, units: number, span: Span): void {
  if ((ctx.fuel -= units) < 0) endSlice(ctx, span);
}

/** Fails when a collection of `count` elements would be too large. Called before it is made. */
export function checkCount(ctx: Context, count: number): void {
  if (count <= ctx.limits.collection) return;
  throw new Fault(
    'size_exceeded',
    `a collection of ${Number.isFinite(count) ? withCommas(Math.trunc(count)) : 'endless many'} elements is over the limit of ${withCommas(ctx.limits.collection)}.`,
  );
}

/** Charges for making a text of `length` UTF-16 units and fails when it would be too long. */
export function checkText(ctx: Context, length: number): void {
  if (length > ctx.limits.textUnits) {
    throw new Fault(
      'size_exceeded',
      `a text of ${withCommas(length)} units is over the limit of ${withCommas(ctx.limits.textUnits)}.`,
    );
  }
  ctx.charge(length >>> 4);
}
