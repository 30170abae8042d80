/**
 * The values of the language. Every one is immutable, none is cyclic, and none is a JavaScript
 * function or an object with behaviour: a program can hold nothing else.
 *
 * I1. An integer within ±(2^53−1) is a JS number; beyond, a bigint. Never the other way round, so
 *     that equal integers have one form.
 * I2. A float is always boxed, also when it is whole: `2.0` is not `2`.
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

/** Every kind of function: what `fn?` says true to. */
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

/** `'name`: inert, equal by name. */
export interface SymbolRef {
  readonly kind: 'symbol';
  readonly name: string;
}

/** The value of a definition: prints `#'name`, does nothing. */
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

/** A point or length of time; `text` is its canonical ISO form, from which it can be made again. */
export interface DateValue {
  readonly kind: 'date';
  readonly of: 'date' | 'instant' | 'duration' | 'legacy-date';
  /** Days for `date`, else whole seconds since the epoch or of the length. */
  readonly amount: number;
  /** 0 to 999,999,999, on top of `amount`. */
  readonly nanos: number;
}

/** A local of an enclosing function that a function keeps. */
export interface Capture {
  readonly name: string;
  /** Its slot in the enclosing function. */
  readonly from: number;
  /** Its slot here. */
  readonly slot: number;
}

/** What can be known of a function without its body: its name, place and shape. */
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
  /** Slots in all. */
  slots: number;
  readonly captures: Capture[];
}

/** A function made by `fn`, `defn` or `#()`: its code, and the captured locals in the code's order. */
export interface Closure {
  readonly kind: 'closure';
  readonly code: CodeHead;
  readonly env: readonly Value[];
}

/** A function made from functions, such as by `partial`: `name` says how, `of` from what. */
export interface Combinator {
  readonly kind: 'combinator';
  readonly name: CombinatorName;
  readonly of: readonly Value[];
}

/** How a {@link Combinator} was made. */
export type CombinatorName =
  'comp' | 'partial' | 'complement' | 'constantly' | 'every-pred' | 'some-fn' | 'juxt' | 'fnil';

/** `tool/name` as a value. */
export interface ToolRef {
  readonly kind: 'tool';
  readonly name: string;
}

/** One node of the trie behind a vector: 32 items, or 32 nodes. */
export interface VectorNode {
  readonly items: readonly Value[];
  readonly kids: readonly VectorNode[];
}

/** A persistent vector; see `vector.ts`. */
export interface Vector {
  readonly kind: 'vector';
  /** Elements of the trie before the first visible one; `rest` only moves it. */
  readonly start: number;
  /** Visible elements plus `start`. */
  readonly end: number;
  readonly shift: number;
  readonly root: VectorNode;
  readonly tail: readonly Value[];
}

/** One node of the tree behind maps and sets. A leaf has no kids; a branch has no vals. */
export interface MapNode {
  readonly keys: readonly Value[];
  readonly vals: readonly Value[];
  readonly kids: readonly MapNode[] | null;
}

/** A persistent map, sorted in the fixed order; see `tree.ts`. */
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

/** Pays for work while it happens; throws a fault when the program's fuel is used up. */
export interface Meter {
  charge(units: number): void;
  /** Pays for work that rules before version 2 made free; see `base/rules.ts`. */
  extra(units: number): void;
  /** Greatest nesting of a value that may be walked. */
  readonly maxNesting: number;
}

/** A meter for work on the host's side that is bounded otherwise. */
export const UNMETERED: Meter = Object.freeze({
  charge: () => undefined,
  extra: () => undefined,
  maxNesting: 2_000,
});

/** An example of the documentation: source, and what its value prints as. */
export interface Example {
  readonly source: string;
  readonly value: string;
}

/** How the fuel of a builtin grows, for documentation and the cost test. */
export type CostClass = 'constant' | 'linear' | 'sorting' | 'text' | 'callback' | 'effect';

/** A function of the language that is given. A value of programs. */
export interface Builtin {
  readonly kind: 'builtin';
  /** As written: `map`, `str/join`, `Math/abs`, `.length`. */
  readonly name: string;
  readonly min: number;
  /** Infinity for "and more". */
  readonly max: number;
  readonly doc: string;
  readonly examples: readonly Example[];
  readonly cost: CostClass;
  readonly work: Work;
}

/**
 * What a builtin does. `plain` computes at once. `steps` calls functions of the program and is
 * therefore a little state machine. `effect` is for the machine alone to carry out.
 */
export type Work =
  | { readonly kind: 'plain'; run(c: Meter, args: readonly Value[]): Value }
  | { readonly kind: 'steps'; readonly stepper: Stepper }
  | { readonly kind: 'effect'; readonly effect: EffectName }
  /** `apply`: the call it stands for is made in its place. */
  | { readonly kind: 'spread' };

/** Effects that are written as a call of a name without a namespace. */
export type EffectName = 'ask' | 'sleep' | 'pmap' | 'pcalls';

/**
 * A builtin that calls functions, as a state machine that both tiers drive. A callback from
 * JavaScript could not be suspended in the middle; the state of a stepper is plain data and can.
 *
 * The driver calls `start`, then after each wanted call `resume` with its result, until the state
 * is `done`.
 */
export interface Stepper {
  /** Which arguments are functions that will be called; others never are. −1: all of them. */
  readonly calls: readonly number[];
  start(c: Meter, args: readonly Value[]): Steps;
  resume(c: Meter, steps: Steps, result: Value): void;
}

/** What a stepper remembers: values, or arrays of values that only it can see. */
export type Cell = Value | Value[] | undefined;

/**
 * The state of a stepper. Either `done` with `result`, or `fn` is to be called with `args`. The
 * other fields belong to the stepper; every one is data.
 */
export interface Steps {
  done: boolean;
  result: Value;
  fn: Value;
  args: Value[];
  /** Where it is: an index, a phase. */
  at: number;
  phase: number;
  /** The elements that are walked; with a `source`, only the first of them. */
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

/** The integer `value` in its one form (I1). */
export function integer(value: bigint): number | bigint {
  return value >= MIN_SAFE && value <= MAX_SAFE ? Number(value) : value;
}

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);
const MIN_SAFE = BigInt(Number.MIN_SAFE_INTEGER);

/** Whether `value` counts as true: everything but nil and false does. */
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

/** Whether `value` is a date value of any class. */
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

/** The kind of `value` in the words of error messages. */
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
