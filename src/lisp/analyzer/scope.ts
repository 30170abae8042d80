/**
 * Scopes: the slots of names.
 *
 * I1  A function has numbered slots for its parameters, its captures and each local of its body.
 * I2  A slot belongs to one binding in the source, so an inner local never reuses a slot.
 * I3  A local of an enclosing function is captured once per function and then has a slot here.
 */
import type { Span } from '../base/source.ts';
import type { Node, FnCode } from '../ast/core-ast.ts';

/** Where a `recur` goes. */
export interface RecurTarget {
  readonly slots: readonly number[];
  readonly counter: number;
  readonly ofFn: boolean;
  readonly span: Span;
}

/** The names that are visible at a place of the source. */
export interface Scope {
  readonly names: Map<string, number>;
  readonly parent: Scope | null;
  readonly fn: FnScope;
  /** Null where `recur` has no target. */
  readonly target: RecurTarget | null;
}

/** A function under analysis. */
export interface FnScope {
  readonly code: FnCode;
  /** The scope around the function literal; null for a top-level form. */
  readonly outer: Scope | null;
  /** The slots of parameters, captures and, if it has one, of the function's own name. */
  readonly top: Map<string, number>;
  /** Whether this is a `#( … )`. */
  readonly short: boolean;
}

/** The scope at the top of a function. */
export function fnScope(fn: FnScope, target: RecurTarget | null): Scope {
  return { names: fn.top, parent: null, fn, target };
}

/** A scope inside `scope`. It keeps the target of `recur` unless another one is given. */
export function inner(scope: Scope, target: RecurTarget | null = scope.target): Scope {
  return { names: new Map(), parent: scope, fn: scope.fn, target };
}

/** A fresh slot of the function. */
export function newSlot(scope: Scope): number {
  const { code } = scope.fn;
  const slot = code.slots;
  code.slots += 1;
  return slot;
}

/** Binds `name` to a fresh slot. */
export function bindName(scope: Scope, name: string): number {
  const slot = newSlot(scope);
  scope.names.set(name, slot);
  return slot;
}

/** The slot of a local, or undefined. A local of an enclosing function is captured. */
export function findLocal(scope: Scope, name: string): number | undefined {
  for (let at: Scope | null = scope; at !== null; at = at.parent) {
    const slot = at.names.get(name);
    if (slot !== undefined) return slot;
  }
  const { outer, code, top } = scope.fn;
  if (outer === null) return undefined;
  const from = findLocal(outer, name);
  if (from === undefined) return undefined;
  const slot = code.slots;
  code.slots += 1;
  code.captures.push({ name, from, slot });
  top.set(name, slot);
  return slot;
}

/** Whether `name` is a local here, without capturing it. */
export function isLocal(scope: Scope, name: string): boolean {
  for (let at: Scope | null = scope; at !== null; at = at.parent) {
    if (at.names.has(name)) return true;
  }
  return scope.fn.outer !== null && isLocal(scope.fn.outer, name);
}

/** All visible locals, for suggestions. */
export function localNames(scope: Scope): readonly string[] {
  const names: string[] = [];
  for (let at: Scope | null = scope; at !== null; at = at.parent) names.push(...at.names.keys());
  const { outer } = scope.fn;
  return outer === null ? names : [...names, ...localNames(outer)];
}

/** Records the value that a slot is bound to, for the analysis of effects. */
export function noteKnown(scope: Scope, slot: number, value: Node): void {
  scope.fn.code.known.set(slot, value);
}

/** Whether the scope is inside a `#( … )`. */
export function isInsideShort(scope: Scope): boolean {
  for (let fn: FnScope | null = scope.fn; fn !== null; fn = fn.outer?.fn ?? null) {
    if (fn.short) return true;
  }
  return false;
}
