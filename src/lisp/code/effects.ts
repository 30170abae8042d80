/**
 * Which code may reach an effect.
 *
 * Statically a body only *demands*: that what it calls be free of effects. Whether a demand is met
 * depends on what definitions are bound to at present, and for a parameter or captured local on the
 * value at hand. So the answer for a function is: never free, or free when these slots hold
 * functions that are. Calls among definitions make the answers depend on each other; the greatest
 * solution is found by iteration and remembered until a definition changes what it may reach.
 */
import {
  childrenOf,
  codeOf,
  type CallNode,
  type Demand,
  type Demands,
  type Node,
  type FnCode,
} from '../ast/core-ast.ts';
import type { Context } from '../value/context.ts';
import type { Combinator, Value, Builtin } from '../value/value.ts';

/** What `node` demands. Bodies of functions in it are looked at only when they are called. */
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

/** Values whose call never leads to an effect, whatever the arguments. */
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

/** Resolves demands against the present definitions. */
interface Resolver {
  readonly c: Context;
  /** What is known about a function: settled, or approximated while an answer is being found. */
  readonly needs: (code: FnCode) => Iterable<number> | null;
}

/** Where the slots of demands are resolved: adds to needs, or asks the value at hand. */
interface Place {
  /** Null where there are no slots. */
  readonly code: FnCode | null;
  readonly slot: (slot: number) => boolean;
}

/** How deep functions made of functions are followed; deeper ones count as unknown. */
const MAX_FOLLOWED = 40;

/** The slots that must hold effect-free functions for a call of `code` to be free; null: never. */
function needsOf(c: Context, code: FnCode): readonly number[] | null {
  if (code.needsEpoch === c.purity) return code.needs;
  const met = new Map<FnCode, ReadonlySet<number> | null>([[code, new Set()]]);
  const resolver: Resolver = {
    c,
    needs: (other) => {
      if (other.needsEpoch === c.purity) return other.needs;
      const known = met.get(other);
      if (known !== undefined) return known;
      const optimistic = new Set<number>();
      met.set(other, optimistic);
      return optimistic;
    },
  };
  for (let changed = true; changed;) {
    changed = false;
    for (const [other, before] of met) {
      if (before === null) continue;
      const after = approximate(resolver, other);
      if (after !== null && after.size === before.size) continue;
      met.set(other, after);
      changed = true;
    }
  }
  for (const [other, needs] of met) {
    other.needsEpoch = c.purity;
    other.needs = needs === null ? null : [...needs];
  }
  return code.needs;
}

function approximate(resolver: Resolver, code: FnCode): ReadonlySet<number> | null {
  code.demands ??= demandsOf(code.body);
  if (code.demands.never) return null;
  const needs = new Set<number>();
  const place: Place = {
    code,
    slot: (slot) => {
      const given = slot < code.params || code.captures.some((capture) => capture.slot === slot);
      if (given) needs.add(slot);
      return given;
    },
  };
  for (const { fn, args } of code.demands.list) {
    if (!isFreeNode(resolver, place, fn, args, 0)) return null;
  }
  return needs;
}

/** Whether calling what `fn` evaluates to is free of effects. */
function isFreeNode(
  r: Resolver,
  place: Place,
  fn: Node,
  args: readonly Node[] | null,
  followed: number,
): boolean {
  if (followed > MAX_FOLLOWED) return false;
  const next = followed + 1;
  switch (fn.kind) {
    case 'const':
      return isFreeValue(r, place, fn.value, args, next);
    case 'global': {
      const value = r.c.globals.get(fn.name) ?? fn.fallback;
      return isFreeValue(r, place, value, args, next);
    }
    case 'fn':
      return isFreeCode(r, place, fn.code, args, next, (index) => {
        const capture = fn.code.captures[index];
        return capture !== undefined && isFreeSlot(r, place, capture.from, null, next);
      });
    case 'local':
      return isFreeSlot(r, place, fn.slot, args, next);
    case 'builtin':
      if (fn.builtin.name === 'constantly') return true;
      return (
        COMBINATORS.has(fn.builtin.name) &&
        fn.args.every((arg) => isFreeNode(r, place, arg, null, next))
      );
    case 'call':
      return isFreeResult(r, place, fn, args, next);
    case 'if':
      return (
        isFreeNode(r, place, fn.chosen, args, next) &&
        isFreeNode(r, place, fn.otherwise, args, next)
      );
    default:
      return false;
  }
}

/**
 * Whether calling what a call returns is free: when the called function is known and ends in a
 * function literal, such as `(adder 1)`. What the literal captures are arguments of the call.
 */
function isFreeResult(
  r: Resolver,
  place: Place,
  call: CallNode,
  args: readonly Node[] | null,
  followed: number,
): boolean {
  const code = calledCode(r, call.fn);
  const made = code === null ? null : resultOf(code.body);
  if (code === null || made?.kind !== 'fn') return false;
  return isFreeCode(r, place, made.code, args, followed, (index) => {
    const from = made.code.captures[index]?.from ?? -1;
    const given = from < code.params ? call.args[from] : undefined;
    return given !== undefined && isFreeNode(r, place, given, null, followed + 1);
  });
}

/** The code that a call runs, when that is known. */
function calledCode(r: Resolver, fn: Node): FnCode | null {
  if (fn.kind === 'fn') return fn.code;
  if (fn.kind !== 'global') return null;
  const value: Value = r.c.globals.get(fn.name) ?? null;
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

function isFreeSlot(
  r: Resolver,
  place: Place,
  slot: number,
  args: readonly Node[] | null,
  followed: number,
): boolean {
  const { code } = place;
  const known = code?.known.get(slot);
  if (known !== undefined) return isFreeNode(r, place, known, args, followed);
  if (code !== null && slot === code.self) {
    // The captured values of the function itself are the ones at hand.
    return isFreeCode(r, place, code, args, followed, (index) => {
      const capture = code.captures[index];
      return capture !== undefined && place.slot(capture.slot);
    });
  }
  return place.slot(slot);
}

function isFreeCode(
  r: Resolver,
  place: Place,
  code: FnCode,
  args: readonly Node[] | null,
  followed: number,
  captured: (index: number) => boolean,
): boolean {
  const needs = r.needs(code);
  if (needs === null) return false;
  for (const slot of needs) {
    if (slot < code.params) {
      const arg = args?.[slot];
      if (arg === undefined || !isFreeNode(r, place, arg, null, followed + 1)) return false;
    } else if (!captured(code.captures.findIndex((capture) => capture.slot === slot))) return false;
  }
  return true;
}

function isFreeValue(
  r: Resolver,
  place: Place,
  value: Value,
  args: readonly Node[] | null,
  followed: number,
): boolean {
  if (isInert(value)) return true;
  if (isEffect(value) || followed > MAX_FOLLOWED) return false;
  if (typeof value !== 'object' || value === null) return true;
  const free = (part: Value): boolean => isFreeValue(r, place, part, null, followed + 1);
  switch (value.kind) {
    case 'closure':
      return isFreeCode(r, place, codeOf(value.code), args, followed, (index) =>
        free(value.env[index] ?? null),
      );
    case 'combinator':
      return isFreeCombinator(value, free);
    case 'builtin': {
      if (args === null) return false;
      const called = value.work.kind === 'spread' ? args.slice(0, 1) : calledArguments(value, args);
      return called.every((arg) => isFreeNode(r, place, arg, null, followed + 1));
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
export function isFreeCall(c: Context, fn: Value, args: readonly Value[]): boolean {
  if (isInert(fn)) return true;
  if (isEffect(fn) || typeof fn !== 'object' || fn === null) return false;
  switch (fn.kind) {
    case 'closure': {
      const needs = needsOf(c, codeOf(fn.code));
      if (needs === null) return false;
      for (const slot of needs) {
        const value =
          slot < fn.code.params
            ? args[slot]
            : fn.env[fn.code.captures.findIndex((capture) => capture.slot === slot)];
        if (value !== undefined && !isFreeFunction(c, value)) return false;
      }
      return true;
    }
    case 'combinator':
      return isFreeFunction(c, fn);
    case 'builtin':
      return calledArguments(fn, args).every((arg) => isFreeFunction(c, arg));
    default:
      return true;
  }
}

/** Whether calling `value` with anything now is free of effects. */
export function isFreeFunction(c: Context, value: Value): boolean {
  if (isInert(value)) return true;
  if (typeof value === 'object' && value !== null && value.kind === 'closure') {
    const needs = needsOf(c, codeOf(value.code));
    if (needs === null) return false;
    if (needs.length === 0) return true;
  }
  const place: Place = { code: null, slot: () => false };
  return isFreeValue(settled(c), place, value, null, 0);
}

/** A resolver that asks for settled answers instead of approximating. */
function settled(c: Context): Resolver {
  return { c, needs: (code) => needsOf(c, code) };
}

/** Whether running `node` in the middle of `code`, with `L` as its locals, is free of effects. */
export function isFreeHere(
  c: Context,
  code: FnCode,
  demands: Demands,
  bound: ReadonlySet<number>,
  L: readonly Value[],
): boolean {
  if (demands.never) return false;
  const place: Place = {
    code,
    slot: (slot) => {
      const value = L[slot];
      return !bound.has(slot) && value !== undefined && isFreeFunction(c, value);
    },
  };
  return demands.list.every(({ fn, args }) => isFreeNode(settled(c), place, fn, args, 0));
}

/** The slots that are bound inside `node`, functions in it not counted. */
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
