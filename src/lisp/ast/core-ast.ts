/**
 * The core tree: the nodes that all forms are reduced to. Both tiers are compiled from it.
 *
 * I1  `cost` is the fuel of a node when it acts, including its operands that are leaves (constants
 *     and locals). A leaf that is not an operand, such as the last expression of a body, pays for
 *     itself.
 * I2  `cost` is set once, by the analyzer, so both tiers charge the same.
 */
import type { CompiledNode } from '../value/context.ts';
import type { Span } from '../base/source.ts';
import type { Builtin, CodeHead, Value } from '../value/value.ts';

/** A node of the core language. */
export type Node =
  | ConstNode
  | LocalNode
  | GlobalNode
  | DataNode
  | IfNode
  | DoNode
  | LetNode
  | LoopNode
  | RecurNode
  | FnNode
  | CallNode
  | BuiltinNode
  | LiteralNode
  | DefNode
  | LogicNode
  | CaseNode
  | ForNode
  | AttemptNode
  | TaskNode
  | PartNode;

/** The nodes of one kind, or of several. */
export type NodeOf<Kind extends Node['kind']> = Extract<Node, { readonly kind: Kind }>;

interface At {
  readonly span: Span;
  readonly cost: number;
}

/** A constant. */
interface ConstNode extends At {
  readonly kind: 'const';
  readonly value: Value;
}

/** A local of the running function. */
interface LocalNode extends At {
  readonly kind: 'local';
  readonly slot: number;
  readonly name: string;
}

/**
 * A definition. `fallback` is the builtin of the same name; with `orNil`, a missing value is nil.
 */
interface GlobalNode extends At {
  readonly kind: 'global';
  readonly name: string;
  readonly fallback: Builtin | null;
  readonly orNil: boolean;
  /** The last value found, and the epoch of definitions for which it is valid. */
  cached: Value;
  epoch: object | null;
}

/** `data/key`. */
interface DataNode extends At {
  readonly kind: 'data';
  readonly key: string;
}

/** `if`. */
interface IfNode extends At {
  readonly kind: 'if';
  readonly test: Node;
  readonly chosen: Node;
  readonly otherwise: Node;
}

/** A sequence; its value is that of the last node. */
interface DoNode extends At {
  readonly kind: 'do';
  readonly body: readonly Node[];
}

/** One binding of a `let`, with its own cost. */
export interface Init {
  readonly slot: number;
  readonly value: Node;
  readonly cost: number;
}

/** `let`. */
interface LetNode extends At {
  readonly kind: 'let';
  readonly inits: readonly Init[];
  readonly body: Node;
}

/** `loop`. `counter` is the slot that counts its jumps. */
interface LoopNode extends At {
  readonly kind: 'loop';
  readonly inits: readonly Init[];
  readonly counter: number;
  readonly body: Node;
}

/** `recur` to the innermost loop, or to the function when `ofFn`. */
interface RecurNode extends At {
  readonly kind: 'recur';
  readonly slots: readonly number[];
  readonly counter: number;
  readonly args: readonly Node[];
  readonly ofFn: boolean;
  /** The place of the loop, for the error of the limit. */
  readonly target: Span;
}

/** A function literal. */
interface FnNode extends At {
  readonly kind: 'fn';
  readonly code: FnCode;
}

/** A call of any value. */
interface CallNode extends At {
  readonly kind: 'call';
  readonly fn: Node;
  readonly args: readonly Node[];
  /** Whether its value is the value of the function. Set once, after analysis. */
  tail: boolean;
}

/** A call of a builtin that is known before the run. */
interface BuiltinNode extends At {
  readonly kind: 'builtin';
  readonly builtin: Builtin;
  readonly args: readonly Node[];
  tail: boolean;
}

/** A vector, map or set literal; a map's items alternate. */
interface LiteralNode extends At {
  readonly kind: 'vector' | 'map' | 'set';
  readonly items: readonly Node[];
}

/** `def`, `defn` and `defonce`. */
interface DefNode extends At {
  readonly kind: 'def';
  readonly name: string;
  readonly value: Node;
  /** `defonce`. */
  readonly once: boolean;
}

/** `and` or `or` with at least two items. Evaluating any item but the last costs `cost`. */
interface LogicNode extends At {
  readonly kind: 'and' | 'or';
  readonly items: readonly Node[];
}

/** `case`. */
interface CaseNode extends At {
  readonly kind: 'case';
  readonly value: Node;
  readonly clauses: readonly { readonly constants: readonly Value[]; readonly body: Node }[];
  readonly otherwise: Node | null;
}

/** One binding of a `for`: walks `source`, then applies the modifiers to each item. */
export interface ForLevel {
  readonly source: Node;
  /** Slots of the item, the array of items, and the index in it. */
  readonly item: number;
  readonly items: number;
  readonly index: number;
  readonly modifiers: readonly ForModifier[];
}

/** Whether a level may end before its last item: then a copy of all would not be paid by a walk. */
export function endsEarly({ modifiers }: ForLevel): boolean {
  return modifiers.some((modifier) => modifier.kind === 'while');
}

/** `:let`, `:when` or `:while`, in the order written; patterns of the item come first as `:let`. */
export type ForModifier =
  | { readonly kind: 'let'; readonly init: Init }
  | { readonly kind: 'when' | 'while'; readonly test: Node; readonly cost: number };

/** `for`, `doseq`, `dotimes`. `gather` is the slot of the results, or −1. */
interface ForNode extends At {
  readonly kind: 'for';
  readonly levels: readonly ForLevel[];
  readonly gather: number;
  readonly body: Node;
  /** `dotimes` walks a count. */
  readonly counts: boolean;
}

/** `attempt`. */
interface AttemptNode extends At {
  readonly kind: 'attempt';
  readonly body: Node;
}

/** `task`. `slot` holds the printed id. */
interface TaskNode extends At {
  readonly kind: 'task';
  readonly id: Node;
  readonly slot: number;
  readonly body: Node;
}

/** The operations of destructuring. */
export type PartOp =
  /** A vector of the elements of a vector, text or nil. */
  | 'elements'
  /** The element at `index` of such a vector, or nil. */
  | 'nth'
  /** The elements from `index` on, or nil. */
  | 'rest'
  /** A map, nil, or, for index keys, a vector. */
  | 'record'
  /** The map of keyword arguments in a rest vector. */
  | 'keywords'
  /** The value under `key`, or nil. */
  | 'get'
  /** Whether there is a value under `key`. */
  | 'has';

/** One step of destructuring. */
interface PartNode extends At {
  readonly kind: 'part';
  readonly op: PartOp;
  readonly source: Node;
  readonly index: number;
  readonly key: Value;
}

/** A call that must be free of effects. `args` is null when the arguments are not known. */
export interface Demand {
  readonly fn: Node;
  readonly args: readonly Node[] | null;
}

/** The demands of a body. `never` is set when it has an effect itself. */
export interface Demands {
  readonly never: boolean;
  readonly list: readonly Demand[];
}

/**
 * One function literal or top-level form: its core tree, and the code that is made from it on first
 * use. All of it can be made again from the source, so none of it is in a snapshot.
 */
export interface FnCode extends CodeHead {
  readonly span: Span;
  body: Node;
  /** Depth of the core tree: the JavaScript frames that one call may take. */
  depth: number;
  /** Slots with a value that is known before the run; see `code/effects.ts`. */
  readonly known: Map<number, Node>;
  /** Instructions with compiled parts; see `machine/instructions.ts`. */
  instructions: readonly object[] | null;
  /** Instructions without compiled parts. */
  forced: readonly object[] | null;
  /** Compiled code. */
  run: CompiledNode | null;
  demands: Demands | null;
  /** The `purity` for which `needs` was computed. */
  needsEpoch: object | null;
  /** Slots that must hold effect-free functions for a call to be effect-free; null: no call is. */
  needs: readonly number[] | null;
}

/** The code of a closure; the type of values knows only its head. */
export function codeOf(head: CodeHead): FnCode {
  return head as FnCode;
}
