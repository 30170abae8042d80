/**
 * Finds out which code may reach an effect. Only code that cannot is run as compiled code.
 *
 * I1  The text of a body gives its *demands*: calls that have to be free of effects. Demands do not
 *     depend on definitions and are computed once.
 * I2  Whether a demand is met depends on the present definitions and, for a parameter or a captured
 *     local, on the present value. So a function is either never free, or free if certain slots,
 *     its *needs*, hold free functions.
 * I3  Definitions that call each other depend on each other's needs. The iteration starts from "no
 *     needs" and only adds, so it ends with the smallest needs.
 * I4  Needs are kept until a definition changes `purity`.
 * I5  Every doubt counts as "may reach an effect": the code then runs on the machine.
 */
import {
  codeOf,
  type Demand,
  type Demands,
  type Node,
  type FnCode,
  type NodeOf,
} from '../ast/core-ast.ts';
import { childrenOf } from '../ast/node-parts.ts';
import type { Context } from '../value/context.ts';
import type { Combinator, Value, Builtin } from '../value/value.ts';

/** The demands of `node`. Functions inside it count only where they are called. */
export function demandsOf(node: Node): Demands {
  const list: Demand[] = [];
  return collect(node, list) ? { never: false, list } : { never: true, list: [] };
}

function collect(node: Node, list: Demand[]): boolean {
  if (node.kind === 'def' || node.kind === 'task') return false;
  if (node.kind === 'call') {
    if (!demandCall(node.fn, node.args, list)) return false;
  } else if (node.kind === 'builtin' && node.builtin.work.kind === 'steps') {
    for (const fn of calledArguments(node.builtin, node.args)) {
      if (!demandCall(fn, null, list)) return false;
    }
  }
  for (const child of childrenOf(node)) if (!collect(child, list)) return false;
  return true;
}

function demandCall(fn: Node, args: readonly Node[] | null, list: Demand[]): boolean {
  if (fn.kind === 'const' && isInert(fn.value)) return true;
  if (fn.kind === 'const' && isEffect(fn.value)) return false;
  list.push({ fn, args });
  return true;
}

/** Whether a call of the value never leads to an effect, for any arguments. */
function isInert(value: Value): boolean {
  if (typeof value !== 'object' || value === null) return true;
  switch (value.kind) {
    case 'closure':
    case 'combinator':
    case 'tool':
      return false;
    case 'builtin':
      return value.work.kind === 'plain';
    default:
      return true;
  }
}

function isEffect(value: Value): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value.kind === 'tool' || (value.kind === 'builtin' && value.work.kind === 'effect');
}

/** The arguments that a builtin calls. */
function calledArguments<T>(builtin: Builtin, args: readonly T[]): readonly T[] {
  if (builtin.work.kind !== 'steps') return [];
  const { calls } = builtin.work.stepper;
  return calls.includes(-1) ? args : args.filter((_, index) => calls.includes(index));
}

/** One question "is this call free of effects?" and what it may use to find the answer. */
interface Search {
  readonly ctx: Context;
  /** The needs of a function: settled, or an approximation during the iteration. */
  readonly needs: (code: FnCode) => Iterable<number> | null;
  /** The code that the slots belong to; null outside any code. */
  readonly code: FnCode | null;
  /** Whether a slot counts as free. Either it becomes a need, or its present value decides. */
  readonly slot: (slot: number) => boolean;
  /** How many functions were followed to get here. */
  readonly followed: number;
}

function deeper(search: Search): Search {
  return { ...search, followed: search.followed + 1 };
}

/** Functions made of functions are followed this deep; deeper ones count as not free. */
const MAX_FOLLOWED = 40;

/** Slots that must hold effect-free functions for a call of `code` to be free; null: none is. */
function needsOf(ctx: Context, code: FnCode): readonly number[] | null {
  if (code.needsEpoch === ctx.purity) return code.needs;
  const met = new Map<FnCode, ReadonlySet<number> | null>([[code, new Set()]]);
  const needs: Search['needs'] = (other) => {
    if (other.needsEpoch === ctx.purity) return other.needs;
    const known = met.get(other);
    if (known !== undefined) return known;
    const optimistic = new Set<number>();
    met.set(other, optimistic);
    return optimistic;
  };
  for (let changed = true; changed;) {
    changed = false;
    for (const [other, before] of met) {
      if (before === null) continue;
      const after = approximate(ctx, needs, other);
      if (after !== null && after.size === before.size) continue;
      met.set(other, after);
      changed = true;
    }
  }
  for (const [other, found] of met) {
    other.needsEpoch = ctx.purity;
    other.needs = found === null ? null : [...found];
  }
  return code.needs;
}

/** One step of the iteration: the needs of `code`, given those of the functions that it calls. */
function approximate(
  ctx: Context,
  needs: Search['needs'],
  code: FnCode,
): ReadonlySet<number> | null {
  code.demands ??= demandsOf(code.body);
  if (code.demands.never) return null;
  const found = new Set<number>();
  const slot = (index: number): boolean => {
    const given = index < code.params || code.captures.some((capture) => capture.slot === index);
    if (given) found.add(index);
    return given;
  };
  const search: Search = { ctx, needs, code, slot, followed: 0 };
  for (const { fn, args } of code.demands.list) if (!isFreeNode(search, fn, args)) return null;
  return found;
}

/** Whether calling what `fn` evaluates to is free of effects. */
function isFreeNode(search: Search, fn: Node, args: readonly Node[] | null): boolean {
  if (search.followed > MAX_FOLLOWED) return false;
  const next = deeper(search);
  switch (fn.kind) {
    case 'const':
      return isFreeValue(next, fn.value, args);
    case 'global':
      return isFreeValue(next, search.ctx.globals.get(fn.name) ?? fn.fallback, args);
    case 'fn':
      return isFreeCode(next, fn.code, args, (index) => {
        const capture = fn.code.captures[index];
        return capture !== undefined && isFreeSlot(next, capture.from, null);
      });
    case 'local':
      return isFreeSlot(next, fn.slot, args);
    case 'builtin':
      if (fn.builtin.name === 'constantly') return true;
      return (
        COMBINATORS.has(fn.builtin.name) && fn.args.every((arg) => isFreeNode(next, arg, null))
      );
    case 'call':
      return isFreeResult(next, fn, args);
    case 'if':
      return isFreeNode(next, fn.chosen, args) && isFreeNode(next, fn.otherwise, args);
    default:
      return false;
  }
}

/**
 * Whether calling the result of a call is free. It is known when the called function ends in a
 * function literal, such as `(adder 1)`; the captures of the literal are arguments of the call.
 */
function isFreeResult(search: Search, call: NodeOf<'call'>, args: readonly Node[] | null): boolean {
  const code = calledCode(search.ctx, call.fn);
  const made = code === null ? null : resultOf(code.body);
  if (code === null || made?.kind !== 'fn') return false;
  const next = deeper(search);
  return isFreeCode(search, made.code, args, (index) => {
    const from = made.code.captures[index]?.from ?? -1;
    const given = from < code.params ? call.args[from] : undefined;
    return given !== undefined && isFreeNode(next, given, null);
  });
}

/** The code that a call of `fn` runs, or null when it is not known. */
function calledCode(ctx: Context, fn: Node): FnCode | null {
  if (fn.kind === 'fn') return fn.code;
  if (fn.kind !== 'global') return null;
  const value: Value = ctx.globals.get(fn.name) ?? null;
  return typeof value === 'object' && value !== null && value.kind === 'closure'
    ? codeOf(value.code)
    : null;
}

/** The last expression of a body. */
function resultOf(node: Node): Node {
  if (node.kind === 'let') return resultOf(node.body);
  const last = node.kind === 'do' ? node.body[node.body.length - 1] : undefined;
  return last === undefined ? node : resultOf(last);
}

const COMBINATORS: ReadonlySet<string> = new Set([
  'comp',
  'partial',
  'complement',
  'every-pred',
  'some-fn',
  'juxt',
  'fnil',
]);

function isFreeSlot(search: Search, slot: number, args: readonly Node[] | null): boolean {
  const { code } = search;
  const known = code?.known.get(slot);
  if (known !== undefined) return isFreeNode(search, known, args);
  if (code !== null && slot === code.self) {
    // A function that calls itself has the same captures again.
    return isFreeCode(search, code, args, (index) => {
      const capture = code.captures[index];
      return capture !== undefined && search.slot(capture.slot);
    });
  }
  return search.slot(slot);
}

/** Whether a call of `code` is free; `captured` says whether the capture with an index is. */
function isFreeCode(
  search: Search,
  code: FnCode,
  args: readonly Node[] | null,
  captured: (index: number) => boolean,
): boolean {
  const needs = search.needs(code);
  if (needs === null) return false;
  const next = deeper(search);
  for (const slot of needs) {
    if (slot < code.params) {
      const arg = args?.[slot];
      if (arg === undefined || !isFreeNode(next, arg, null)) return false;
    } else if (!captured(code.captures.findIndex((capture) => capture.slot === slot))) return false;
  }
  return true;
}

function isFreeValue(search: Search, value: Value, args: readonly Node[] | null): boolean {
  if (isInert(value)) return true;
  if (isEffect(value) || search.followed > MAX_FOLLOWED) return false;
  if (typeof value !== 'object' || value === null) return true;
  const next = deeper(search);
  const free = (part: Value): boolean => isFreeValue(next, part, null);
  switch (value.kind) {
    case 'closure':
      return isFreeCode(search, codeOf(value.code), args, (index) =>
        free(value.env[index] ?? null),
      );
    case 'combinator':
      return isFreeCombinator(value, free);
    case 'builtin': {
      if (args === null) return false;
      const called = value.work.kind === 'spread' ? args.slice(0, 1) : calledArguments(value, args);
      return called.every((arg) => isFreeNode(next, arg, null));
    }
    default:
      return true;
  }
}

function isFreeCombinator(value: Combinator, free: (part: Value) => boolean): boolean {
  if (value.name === 'constantly') return true;
  const [fn, ...given] = value.of;
  const isSteps =
    typeof fn === 'object' && fn !== null && fn.kind === 'builtin' && fn.work.kind === 'steps';
  if (value.name !== 'partial' || !isSteps || fn.work.kind !== 'steps') return value.of.every(free);
  const { calls } = fn.work.stepper;
  return calls.every((index) => index >= 0 && index < given.length && free(given[index] ?? null));
}

/** Whether calling `fn` with `args` now is free of effects. */
export function isFreeCall(ctx: Context, fn: Value, args: readonly Value[]): boolean {
  if (isInert(fn)) return true;
  if (isEffect(fn) || typeof fn !== 'object' || fn === null) return false;
  switch (fn.kind) {
    case 'closure': {
      const needs = needsOf(ctx, codeOf(fn.code));
      if (needs === null) return false;
      for (const slot of needs) {
        const value =
          slot < fn.code.params
            ? args[slot]
            : fn.env[fn.code.captures.findIndex((capture) => capture.slot === slot)];
        if (value !== undefined && !isFreeFunction(ctx, value)) return false;
      }
      return true;
    }
    case 'combinator':
      return isFreeFunction(ctx, fn);
    case 'builtin':
      return calledArguments(fn, args).every((arg) => isFreeFunction(ctx, arg));
    default:
      return true;
  }
}

/** Whether calling `value` with any arguments now is free of effects. */
export function isFreeFunction(ctx: Context, value: Value): boolean {
  if (isInert(value)) return true;
  if (typeof value === 'object' && value !== null && value.kind === 'closure') {
    const needs = needsOf(ctx, codeOf(value.code));
    if (needs === null) return false;
    if (needs.length === 0) return true;
  }
  return isFreeValue(
    settled(ctx, null, () => false),
    value,
    null,
  );
}

/** A search that uses settled needs, not approximations. */
function settled(ctx: Context, code: FnCode | null, slot: Search['slot']): Search {
  return { ctx, needs: (other) => needsOf(ctx, other), code, slot, followed: 0 };
}

/** A node that is about to run, in running code, and may run as compiled code. */
export interface NodeToRun {
  readonly code: FnCode;
  readonly locals: readonly Value[];
  /** What the node demands. */
  readonly demands: Demands;
  /** The slots that the node itself binds. */
  readonly bound: ReadonlySet<number>;
}

/** Whether running `node` is free of effects. */
export function isFreeHere(ctx: Context, node: NodeToRun): boolean {
  const { code, locals, demands, bound } = node;
  if (demands.never) return false;
  const search = settled(ctx, code, (slot) => {
    const value = locals[slot];
    return !bound.has(slot) && value !== undefined && isFreeFunction(ctx, value);
  });
  return demands.list.every(({ fn, args }) => isFreeNode(search, fn, args));
}

/** The slots that `node` binds, except inside its functions. */
export function boundIn(node: Node, into: Set<number> = new Set()): Set<number> {
  if (node.kind === 'let' || node.kind === 'loop')
    for (const init of node.inits) into.add(init.slot);
  if (node.kind === 'for') {
    for (const level of node.levels) {
      into.add(level.item);
      for (const m of level.modifiers) if (m.kind === 'let') into.add(m.init.slot);
    }
  }
  for (const child of childrenOf(node)) boundIn(child, into);
  return into;
}
