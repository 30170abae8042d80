/**
 * The state of a running program. Everything in it is data:
 *
 * I1. A frame names its code by program and offset, and holds values; an instruction array is only
 *     a way to find the next instruction fast.
 * I2. Compiled code never stands on a stack here: it runs between two instructions, or not at all.
 * I3. Only a branch that waits holds no ready work; `advance` runs until every branch waits.
 * I4. The definitions of a branch are replaced as a whole, so branches can share them.
 */
import type { Stack, StackHost } from '../code/code.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { Fault, LispError } from '../base/problem.ts';
import type { Linked } from '../analyzer/program.ts';
import type { Span } from '../base/source.ts';
import type { Value } from '../value/value.ts';
import type { Context, Records, ToolFace } from '../value/context.ts';
import type { ProgramMemory } from './coded.ts';

/** The main line of a program, or one branch of a parallel form. */
export interface Branch {
  /** `` for the main line, `4/2/` for branch 2 of the form that was effect 4. */
  readonly path: string;
  readonly parent: Branch | null;
  readonly index: number;
  readonly stack: Stack;
  state: 'ready' | 'waiting' | 'done' | 'failed' | 'abandoned';
  /** Effects so far: the next one's number less one. */
  effects: number;
  /** The effect that it waits for. */
  waitsFor: string | null;
  /** The parallel form that it waits for. */
  parallel: Parallel | null;
  globals: Map<string, Value>;
  readonly records: Records;
  /** Calls that wait, on this stack and those of its parents. */
  depth: number;
}

/** A parallel form under way. */
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

/** What the host is asked to do. `id` is its position in the program, see {@link Branch.path}. */
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

/** What came of a request. */
export type EffectResult =
  | { readonly id: string; readonly ok: true; readonly value: Json }
  | {
      readonly id: string;
      readonly ok: false;
      readonly reason: string;
      readonly message: string;
      readonly details?: Json;
    };

/** A request and what the machine must remember about it. */
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

/** How far a form or effect is. */
export type FormState = 'pending' | 'running' | 'waiting' | 'done' | 'failed';

/** A program that was started. Opaque to the host: use it with `advance`, then drop it. */
export interface Machine {
  readonly linked: Linked;
  /** Programs by id: this one, and those that stored functions came from. */
  readonly sources: ReadonlyMap<string, Linked>;
  readonly c: Context;
  readonly main: Branch;
  readonly tools: readonly ToolFace[];
  /** Names that were defined when it was started. */
  readonly names: readonly string[];
  /** What the memory was when it was started, for programs that fail. */
  readonly before: Before;
  readonly forced: boolean;
  /** The top-level form that runs, and previews of those that are done. */
  form: number;
  readonly previews: string[];
  last: Value;
  /** All effects by id, in order of request. */
  readonly effects: Map<string, Effect>;
  /** Ids that wait for a free place, in order of request. */
  readonly queue: string[];
  open: number;
  /** Requests that the host has not been told of, and effects it is to cancel. */
  requests: EffectRequest[];
  abandon: string[];
  toolCalls: number;
  outcome: Outcome | null;
  /** Faults to raise in branches before anything else runs. Empty at every block. */
  /** What the stack of a branch of this machine can do. */
  readonly hostOf: (branch: Branch) => StackHost;
  readonly faults: { readonly branch: Branch; readonly fault: Fault }[];
}

/** The memory of the agent when the program began, as values. */
export interface Before {
  readonly globals: ReadonlyMap<string, Value>;
  readonly history: readonly Value[];
  readonly journal: ReadonlyMap<string, Value>;
  readonly plan: ReadonlyMap<string, string>;
}
