/**
 * The values of the language.
 *
 * I1  An integer within ±(2^53−1) is a JavaScript number, any other integer a bigint, so equal
 *     integers have one form.
 * I2  A float is always boxed, even when it is whole: `2.0` is not `2`.
 * I3  Values are immutable and acyclic. None is a JavaScript function or an object with methods, so
 *     a program holds nothing but data.
 */
import type { Regex } from '../regex/program.ts';

/** Any value of a program. */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Float
  | Keyword
  | SymbolRef
  | VarMark
  | Reduced
  | Vector
  | TreeMap
  | TreeSet
  | RegexValue
  | DateValue
  | FnValue;

/** Every kind of function: the values for which `fn?` is true. */
export type FnValue = Closure | Builtin | Combinator | ToolRef;

/** An IEEE double. */
export interface Float {
  readonly kind: 'float';
  readonly value: number;
}

/** `:name`. */
export interface Keyword {
  readonly kind: 'keyword';
  readonly name: string;
}

/** `'name`: data, equal by name. */
export interface SymbolRef {
  readonly kind: 'symbol';
  readonly name: string;
}

/** The value of a `def` form: prints as `#'name`. */
export interface VarMark {
  readonly kind: 'var';
  readonly name: string;
}

/** The value that ends a `reduce` early. */
export interface Reduced {
  readonly kind: 'reduced';
  readonly value: Value;
}

/** A compiled pattern; equal by source. */
export interface RegexValue {
  readonly kind: 'regex';
  readonly source: string;
  readonly regex: Regex;
}

/** A point in time or a duration. */
export interface DateValue {
  readonly kind: 'date';
  readonly of: 'date' | 'instant' | 'duration' | 'legacy-date';
  /** Days since the epoch for `date`, else whole seconds since the epoch or of the duration. */
  readonly amount: number;
  /** 0 to 999,999,999, added to `amount`. */
  readonly nanos: number;
}

/** A local of an enclosing function that a function uses. */
export interface Capture {
  readonly name: string;
  /** Its slot in the enclosing function. */
  readonly from: number;
  /** Its slot here. */
  readonly slot: number;
}

/** A function without its body: its name, place and parameters. */
export interface CodeHead {
  /** `l1:` and 32 hexadecimal digits. */
  readonly programId: string;
  /** UTF-16 offset of its opening delimiter; −1, −2, … for the top-level forms. */
  readonly offset: number;
  readonly name: string | null;
  /** Parameters before `&`, in slots from 0. */
  readonly params: number;
  /** Whether more arguments are collected, into slot `params`. */
  readonly rest: boolean;
  /** The parameters as written, for messages: `(w h)`. */
  readonly signature: string;
  /** The slot of the function itself under its own name, or −1. */
  readonly self: number;
  /** Number of slots. */
  slots: number;
  readonly captures: Capture[];
}

/** A function made by `fn`, `defn` or `#()`: its code and the captured locals, in order. */
export interface Closure {
  readonly kind: 'closure';
  readonly code: CodeHead;
  readonly env: readonly Value[];
}

/** A function made from others, such as by `partial`. */
export interface Combinator {
  readonly kind: 'combinator';
  readonly name: CombinatorName;
  readonly of: readonly Value[];
}

/** The builtin that made a {@link Combinator}. */
export type CombinatorName =
  'comp' | 'partial' | 'complement' | 'constantly' | 'every-pred' | 'some-fn' | 'juxt' | 'fnil';

/** `tool/name` as a value. */
export interface ToolRef {
  readonly kind: 'tool';
  readonly name: string;
}

/** One node of the trie of a vector: up to 32 items or 32 nodes. */
export interface VectorNode {
  readonly items: readonly Value[];
  readonly kids: readonly VectorNode[];
}

/** A persistent vector; see `vector.ts`. */
export interface Vector {
  readonly kind: 'vector';
  /** Number of hidden elements at the start; `rest` only increases it. */
  readonly start: number;
  /** Visible elements plus `start`. */
  readonly end: number;
  readonly shift: number;
  readonly root: VectorNode;
  readonly tail: readonly Value[];
}

/** One node of the tree of a map or set. A leaf has no kids; a branch has no vals. */
export interface MapNode {
  readonly keys: readonly Value[];
  readonly vals: readonly Value[];
  readonly kids: readonly MapNode[] | null;
}

/** A persistent map in key order; see `tree.ts`. */
export interface TreeMap {
  readonly kind: 'map';
  readonly count: number;
  readonly root: MapNode;
}

/** A persistent set: a tree whose vals are all null. */
export interface TreeSet {
  readonly kind: 'set';
  readonly count: number;
  readonly root: MapNode;
}

/** Charges fuel for work; throws a fault when there is not enough. */
export interface Meter {
  charge(units: number): void;
  /** Greatest nesting of a value that may be walked. */
  readonly maxNesting: number;
}

/** A meter without a limit, for work that is bounded in another way. */
export const UNMETERED: Meter = Object.freeze({
  charge: () => undefined,
  maxNesting: 2_000,
});

/** An example in the documentation: source and the printed value. */
export interface Example {
  readonly source: string;
  readonly value: string;
}

/** How the fuel of a builtin grows, for the documentation and its test. */
export type CostClass = 'constant' | 'linear' | 'sorting' | 'text' | 'callback' | 'effect';

/** A built-in function. */
export interface Builtin {
  readonly kind: 'builtin';
  /** As written: `map`, `str/join`, `Math/abs`, `.length`. */
  readonly name: string;
  readonly min: number;
  /** Infinity if there is no upper bound. */
  readonly max: number;
  readonly doc: string;
  readonly examples: readonly Example[];
  readonly cost: CostClass;
  readonly work: BuiltinWork;
}

/**
 * The work of a builtin. `plain` computes at once. `steps` is a state machine, because it calls
 * functions of the program. `effect` runs only on the machine.
 */
export type BuiltinWork =
  | { readonly kind: 'plain'; run(ctx: Meter, args: readonly Value[]): Value }
  | { readonly kind: 'steps'; readonly stepper: Stepper }
  | { readonly kind: 'effect'; readonly effect: EffectName }
  /** `apply`: becomes a call of its first argument. */
  | { readonly kind: 'spread' };

/** Effects other than tool calls. */
export type EffectName = 'ask' | 'sleep' | 'pmap' | 'pcalls';

/**
 * A builtin that calls functions, as a state machine that both tiers drive. A JavaScript callback
 * cannot be suspended and saved; the state of a stepper can, since it is data.
 *
 * The driver calls `start`. While the state is not `done`, it makes the requested call and passes
 * the result to `resume`.
 */
export interface Stepper {
  /** The indexes of the arguments that may be called; −1 means all. */
  readonly calls: readonly number[];
  start(ctx: Meter, args: readonly Value[]): Steps;
  resume(ctx: Meter, steps: Steps, result: Value): void;
}

/** One field of a stepper's state: a value, or an array of values that no other code sees. */
export type Cell = Value | Value[] | undefined;

/**
 * The state of a stepper. It is `done` with `result`, or requests the call of `fn` with `args`. The
 * other fields belong to the stepper; all are data.
 */
export interface Steps {
  done: boolean;
  result: Value;
  fn: Value;
  args: Value[];
  /** The position: an index and a phase. */
  at: number;
  phase: number;
  /** The elements to walk; with a `source`, only the first of them. */
  items: readonly Value[];
  /** What `items` are taken from while more are there; else nil. Never in a snapshot. */
  source: Value;
  out: Value[];
  acc: Value;
  extra: Cell;
}

/** A float value. */
export function float(value: number): Float {
  return { kind: 'float', value };
}

/** The keyword `:name`. */
export function keyword(name: string): Keyword {
  return { kind: 'keyword', name };
}

/** The integer `value` in its only form (I1). */
export function integer(value: bigint): number | bigint {
  return value >= MIN_SAFE && value <= MAX_SAFE ? Number(value) : value;
}

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);
const MIN_SAFE = BigInt(Number.MIN_SAFE_INTEGER);

/** Whether `value` counts as true: all values but nil and false. */
export function truthy(value: Value): boolean {
  return value !== null && value !== false;
}

/** Whether `value` is an integer of any size. */
export function isInteger(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** Whether `value` is a float. */
export function isFloat(value: Value): value is Float {
  return typeof value === 'object' && value !== null && value.kind === 'float';
}

/** Whether `value` is an integer or a float. */
export function isNumber(value: Value): value is number | bigint | Float {
  return isInteger(value) || isFloat(value);
}

/** Whether `value` is a vector. */
export function isVector(value: Value): value is Vector {
  return typeof value === 'object' && value !== null && value.kind === 'vector';
}

/** Whether `value` is a map. */
export function isMap(value: Value): value is TreeMap {
  return typeof value === 'object' && value !== null && value.kind === 'map';
}

/** Whether `value` is a set. */
export function isSet(value: Value): value is TreeSet {
  return typeof value === 'object' && value !== null && value.kind === 'set';
}

/** Whether `value` is a keyword. */
export function isKeyword(value: Value): value is Keyword {
  return typeof value === 'object' && value !== null && value.kind === 'keyword';
}

/** Whether `value` is a regular expression. */
export function isRegex(value: Value): value is RegexValue {
  return typeof value === 'object' && value !== null && value.kind === 'regex';
}

/** Whether `value` is a date, an instant or a duration. */
export function isDate(value: Value): value is DateValue {
  return typeof value === 'object' && value !== null && value.kind === 'date';
}

/** Whether `value` is a function of any kind. */
export function isFn(value: Value): value is FnValue {
  if (typeof value !== 'object' || value === null) return false;
  const { kind } = value;
  return kind === 'closure' || kind === 'builtin' || kind === 'combinator' || kind === 'tool';
}

/** Whether `value` may be called: functions, keywords, maps, sets and vectors. */
export function isCallable(value: Value): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { kind } = value;
  return kind === 'keyword' || kind === 'map' || kind === 'set' || kind === 'vector' || isFn(value);
}

/** The name of the type of `value`, for error messages. */
export function typeName(value: Value): string {
  if (value === null) return 'nil';
  if (typeof value === 'boolean') return 'boolean';
  if (isInteger(value)) return 'integer';
  if (typeof value === 'string') return 'string';
  switch (value.kind) {
    case 'closure':
    case 'builtin':
    case 'combinator':
    case 'tool':
      return 'function';
    case 'var':
    case 'reduced':
    case 'symbol':
      return 'symbol';
    default:
      return value.kind;
  }
}
