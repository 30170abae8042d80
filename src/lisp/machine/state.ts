/**
 * The state of a running program. All of it is data.
 *
 * I1  A frame names its code by program and offset and holds values; its array of instructions is
 *     only a shortcut to the next instruction.
 * I2  Compiled code is never on a stack here: it runs within one instruction.
 * I3  `advance` runs until every branch waits or has ended.
 * I4  A branch never changes definitions that it shares: it replaces them by a copy.
 */
import type { Stack, StackHost } from '../code/code.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { Fault, LispError } from '../base/problem.ts';
import type { Linked } from '../analyzer/program.ts';
import type { Span } from '../base/source.ts';
import type { Value } from '../value/value.ts';
import type { Context, Records, ToolFace } from '../value/context.ts';
import type { ProgramMemory } from './coded.ts';

/** The main branch of a program, or one branch of a parallel form. */
export interface Branch {
  /** Empty for the main branch; `4/2/` for branch 2 of the form that is effect 4. */
  readonly path: string;
  readonly parent: Branch | null;
  readonly index: number;
  readonly stack: Stack;
  state: 'ready' | 'waiting' | 'done' | 'failed' | 'abandoned';
  /** Number of effects so far. */
  effects: number;
  /** The effect that it waits for. */
  waitsFor: string | null;
  /** The parallel form that it waits for. */
  parallel: Parallel | null;
  globals: Map<string, Value>;
  readonly records: Records;
  /** Waiting calls on this stack and those of its parents. */
  depth: number;
}

/** A running parallel form. */
export interface Parallel {
  readonly form: 'pmap' | 'pcalls';
  /** Path of the form with a slash: `4/`. */
  readonly path: string;
  readonly span: Span;
  readonly calls: readonly { readonly fn: Value; readonly args: readonly Value[] }[];
  /** The next call to begin. */
  next: number;
  readonly branches: (Branch | null)[];
  readonly results: (Value | undefined)[];
  failure: Failure | null;
}

/** Why a branch failed. */
export interface Failure {
  readonly index: number;
  readonly reason: string;
  readonly message: string;
  readonly details: Json;
  /** Whether `attempt` may recover from it. */
  readonly recoverable: boolean;
}

/** The arguments of a call that is an effect, and its place in the source. */
export interface EffectCall {
  readonly args: readonly Value[];
  readonly span: Span;
}

/** A request to the host. `id` is its position in the program, see {@link Branch.path}. */
export type EffectRequest =
  | {
      readonly id: string;
      readonly kind: 'tool';
      readonly name: string;
      readonly args: JsonObject;
      readonly span: Span;
    }
  | {
      readonly id: string;
      readonly kind: 'ask';
      readonly question: string;
      readonly options?: readonly string[];
      readonly free: boolean;
      readonly timeoutMs?: number;
      readonly details?: Json;
      readonly span: Span;
    }
  | { readonly id: string; readonly kind: 'sleep'; readonly ms: number; readonly span: Span };

/** The result of a request. */
export type EffectResult =
  | { readonly id: string; readonly ok: true; readonly value: Json }
  | {
      readonly id: string;
      readonly ok: false;
      readonly reason: string;
      readonly message: string;
      readonly details?: Json;
    };

/** A request and its state. */
export interface Effect {
  readonly request: EffectRequest;
  readonly branch: string;
  state: 'queued' | 'open' | 'done' | 'failed' | 'abandoned';
  since: number;
  /** For `ask`: the options as values, and the default when there is one. */
  readonly options: readonly Value[];
  readonly fallback: Value | undefined;
}

/** How a program ended. */
export type Outcome =
  | {
      readonly kind: 'value' | 'returned' | 'failed';
      readonly value: Value;
      readonly memory: ProgramMemory;
    }
  | { readonly kind: 'error'; readonly error: LispError; readonly memory: ProgramMemory };

/** The state of a form or effect. */
export type FormState = 'pending' | 'running' | 'waiting' | 'done' | 'failed';

/** A started program. Opaque to the host, which passes it to `advance` and then drops it. */
export interface Machine {
  readonly linked: Linked;
  /** Programs by id: this one, and those of stored functions. */
  readonly sources: ReadonlyMap<string, Linked>;
  readonly ctx: Context;
  readonly main: Branch;
  readonly tools: readonly ToolFace[];
  /** Names that were defined at the start. */
  readonly names: readonly string[];
  /** The memory at the start; a program that fails leaves it as it was. */
  readonly before: Before;
  readonly forced: boolean;
  /** Index of the running top-level form, and previews of the finished ones. */
  form: number;
  readonly previews: string[];
  last: Value;
  /** All effects by id, in order of request. */
  readonly effects: Map<string, Effect>;
  /** Ids of effects that are not open yet, in order of request. */
  readonly queue: string[];
  open: number;
  /** Requests to hand to the host, and effects for it to cancel. */
  requests: EffectRequest[];
  abandon: string[];
  toolCalls: number;
  outcome: Outcome | null;
  /** The services for the stack of a branch. */
  readonly hostOf: (branch: Branch) => StackHost;
  /** Faults to raise in branches before anything else runs. Empty in every snapshot. */
  readonly faults: { readonly branch: Branch; readonly fault: Fault }[];
}

/** The memory of the agent at the start of the program, as values. */
export interface Before {
  readonly globals: ReadonlyMap<string, Value>;
  readonly history: readonly Value[];
  readonly journal: ReadonlyMap<string, Value>;
  readonly plan: ReadonlyMap<string, string>;
}
