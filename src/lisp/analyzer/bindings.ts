/**
 * Forms that bind: definitions, `let`, `loop`, `recur`, and tests that bind what they test.
 */
import { findBare } from '../builtins/registry.ts';
import { headOf, type Form, type SymbolForm } from '../reader/form.ts';
import type { Span } from '../base/source.ts';
import {
  analyzeBody,
  builtinNode,
  ifNode,
  init,
  letNode,
  localNode,
  problem,
  wrongShape,
  type Analysis,
} from './analysis.ts';
import { constant, isLeaf, leafCount, type Init, type Node } from '../ast/core-ast.ts';
import { analyzeFn, severalArities } from './functions.ts';
import { bindPattern } from './patterns.ts';
import { inner, newSlot, type RecurTarget, type Scope } from './scope.ts';

function definable(
  a: Analysis,
  form: Form | undefined,
  head: string,
  span: Span,
): SymbolForm | null {
  if (form?.kind !== 'symbol' || (form.name.includes('/') && form.name !== '/')) {
    problem(a, 'invalid_form', `\`${head}\` takes a plain name to define.`, form?.span ?? span);
    return null;
  }
  if (form.name.startsWith('%') || form.name.startsWith('.') || form.name === '&') {
    problem(a, 'invalid_form', `\`${form.name}\` cannot be defined.`, form.span);
    return null;
  }
  if (findBare(form.name) !== undefined) {
    const message = `This definition hides the builtin \`${form.name}\`.`;
    a.warnings.push({ reason: 'invalid_form', message, span: form.span });
  }
  if (a.parallel > 0) {
    const message = `\`${form.name}\` is defined inside a parallel branch: the definition ends with the branch.`;
    a.warnings.push({ reason: 'invalid_form', message, span: form.span });
  }
  return form;
}

function defNode(name: string, value: Node, once: boolean, span: Span): Node {
  return { kind: 'def', name, value, once, span, cost: 1 + leafCount([value]) };
}

/** `(def n v)`, `(def n "doc" v)`, `(defonce n v)`. */
export function analyzeDef(a: Analysis, items: readonly Form[], scope: Scope, span: Span): Node {
  const once = headOf(items) === 'defonce';
  const head = once ? 'defonce' : 'def';
  const count = items.length - 1;
  if (count === 1) {
    return problem(
      a,
      'arity_error',
      `\`${head}\` takes a name and a value, got only the name.`,
      span,
    );
  }
  const second = items[2];
  const hasDoc = count === 3 && second?.kind === 'literal' && typeof second.value === 'string';
  if (count !== 2 && !hasDoc) return wrongShape(a, head, `(${head} name value)`, count, span);
  const name = definable(a, items[1], head, span);
  const valueForm = items[items.length - 1] as Form;
  const value = analyzeNamed(a, valueForm, name?.name ?? null, scope);
  return name === null ? value : defNode(name.name, value, once, span);
}

/** A function literal that a `def` names prints under that name. */
function analyzeNamed(a: Analysis, form: Form, name: string | null, scope: Scope): Node {
  if (name === null || form.kind !== 'list') return a.analyze(form, scope, false);
  const [head, params] = form.items;
  if (head?.kind !== 'symbol' || head.name !== 'fn' || params?.kind !== 'vector') {
    return a.analyze(form, scope, false);
  }
  const body = form.items.slice(2);
  return analyzeFn(a, { name, selfNamed: false, params, body, span: form.span }, scope);
}

/** `(defn n "doc"? [params] body)` and `defn-`. */
export function analyzeDefn(a: Analysis, items: readonly Form[], scope: Scope, span: Span): Node {
  const head = headOf(items);
  const name = definable(a, items[1], head, span);
  const third = items[2];
  const hasDoc = third?.kind === 'literal' && typeof third.value === 'string';
  const params = hasDoc ? items[3] : third;
  if (params?.kind === 'list') return severalArities(a, head, span);
  if (params?.kind !== 'vector') {
    return wrongShape(a, head, `(${head} name [params] body)`, items.length - 1, span);
  }
  const body = items.slice(hasDoc ? 4 : 3);
  const parts = { name: name?.name ?? null, selfNamed: false, params, body, span };
  const fn = analyzeFn(a, parts, scope);
  return name === null ? fn : defNode(name.name, fn, false, span);
}

/** `(declare n…)`. */
export function analyzeDeclare(
  a: Analysis,
  items: readonly Form[],
  _scope: Scope,
  span: Span,
): Node {
  for (const item of items.slice(1)) definable(a, item, 'declare', span);
  return constant(null, span);
}

/** The pairs of a binding vector, or null after a problem. */
export function bindingPairs(
  a: Analysis,
  form: Form | undefined,
  head: string,
  span: Span,
): readonly (readonly [Form, Form])[] | null {
  if (form?.kind !== 'vector') {
    problem(
      a,
      'invalid_form',
      `\`${head}\` takes its bindings in a vector: \`(${head} [name value] …)\`.`,
      form?.span ?? span,
    );
    return null;
  }
  if (form.items.length % 2 !== 0) {
    problem(
      a,
      'invalid_form',
      `\`${head}\` needs a value for every name: ${form.items.length} forms are no pairs.`,
      form.span,
    );
    return null;
  }
  const pairs: (readonly [Form, Form])[] = [];
  for (let at = 0; at + 1 < form.items.length; at += 2) {
    pairs.push([form.items[at] as Form, form.items[at + 1] as Form]);
  }
  return pairs;
}

/** `(let [pat v …] body)`. */
export function analyzeLet(
  a: Analysis,
  items: readonly Form[],
  scope: Scope,
  span: Span,
  tail: boolean,
): Node {
  const pairs = bindingPairs(a, items[1], 'let', span);
  if (pairs === null) return constant(null, span);
  const inside = inner(scope);
  const inits: Init[] = [];
  for (const [pattern, value] of pairs) {
    bindPattern(a, pattern, a.analyze(value, inside, false), inside, inits);
  }
  return letNode(inits, analyzeBody(a, items.slice(2), inside, tail, span), span);
}

/** `(loop [pat v …] body)`. Patterns are taken apart at every jump, inside the loop. */
export function analyzeLoop(a: Analysis, items: readonly Form[], scope: Scope, span: Span): Node {
  const pairs = bindingPairs(a, items[1], 'loop', span);
  if (pairs === null) return constant(null, span);
  const entry = inner(scope);
  const inits: Init[] = [];
  const slots: number[] = [];
  const apart: { readonly pattern: Form; readonly slot: number }[] = [];
  for (const [pattern, value] of pairs) {
    const given = a.analyze(value, entry, false);
    if (pattern.kind === 'symbol') {
      const from = inits.length;
      bindPattern(a, pattern, given, entry, inits);
      const bound = inits[from];
      slots.push(bound?.slot ?? newSlot(entry));
      if (bound !== undefined) scope.fn.code.known.delete(bound.slot);
      continue;
    }
    const slot = newSlot(entry);
    inits.push(init(slot, given, false));
    slots.push(slot);
    apart.push({ pattern, slot });
    // Later initial values may use the names of this pattern.
    bindPattern(a, pattern, localNode(slot, 'loop~', pattern.span), entry, inits);
  }
  const counter = newSlot(entry);
  const target: RecurTarget = { slots, counter, ofFn: false, span };
  const inside = inner(entry, target);
  const again: Init[] = [];
  for (const { pattern, slot } of apart) {
    bindPattern(a, pattern, localNode(slot, 'loop~', pattern.span), inside, again);
  }
  const body = letNode(again, analyzeBody(a, items.slice(2), inside, true, span), span);
  return { kind: 'loop', inits, counter, body, span, cost: 0 };
}

/** `(recur v…)`. */
export function analyzeRecur(
  a: Analysis,
  items: readonly Form[],
  scope: Scope,
  span: Span,
  tail: boolean,
): Node {
  const { target } = scope;
  const args = items.slice(1).map((item) => a.analyze(item, scope, false));
  if (target === null || !tail) {
    return problem(
      a,
      'invalid_form',
      '`recur` must be the last thing that its loop or function does.',
      span,
    );
  }
  if (args.length !== target.slots.length) {
    const wanted = target.slots.length === 1 ? '1 value' : `${target.slots.length} values`;
    return problem(
      a,
      'invalid_form',
      `This \`recur\` must give ${wanted}, one for each name, got ${args.length}.`,
      span,
    );
  }
  const { slots, counter, ofFn } = target;
  const cost = 2 + args.length + leafCount(args);
  return { kind: 'recur', slots, counter, args, ofFn, target: target.span, span, cost };
}

/** `if-let`, `when-let`, `if-some`, `when-some`: the test is the value before it is taken apart. */
export function analyzeTestBinding(
  a: Analysis,
  items: readonly Form[],
  scope: Scope,
  span: Span,
  tail: boolean,
): Node {
  const head = headOf(items);
  const isWhen = head.startsWith('when');
  const count = items.length - 1;
  if (!isWhen && (count < 2 || count > 3)) {
    return wrongShape(a, head, `(${head} [pattern value] then else?)`, count, span);
  }
  const pairs = bindingPairs(a, items[1], head, span);
  if (pairs === null) return constant(null, span);
  const [pair] = pairs;
  if (pair === undefined || pairs.length !== 1) {
    return problem(
      a,
      'invalid_form',
      `\`${head}\` takes exactly one binding, got ${pairs.length}.`,
      span,
    );
  }
  const given = a.analyze(pair[1], scope, false);
  const inits: Init[] = [];
  let tested = given;
  if (!isLeaf(given)) {
    const slot = newSlot(scope);
    inits.push(init(slot, given, false));
    tested = localNode(slot, 'test~', pair[1].span);
  }
  const some = findBare('some?');
  const test =
    head.endsWith('some') && some !== undefined ? builtinNode(some, [tested], span) : tested;
  const inside = inner(scope);
  const bound: Init[] = [];
  bindPattern(a, pair[0], tested, inside, bound);
  const thenForms = isWhen ? items.slice(2) : items.slice(2, 3);
  const then = letNode(bound, analyzeBody(a, thenForms, inside, tail, span), span);
  const elseForm = isWhen ? undefined : items[3];
  const otherwise =
    elseForm === undefined ? constant(null, span) : a.analyze(elseForm, scope, tail);
  return letNode(inits, ifNode(test, then, otherwise, span), span);
}

/** `(when-first [pat coll] body)`. */
export function analyzeWhenFirst(
  a: Analysis,
  items: readonly Form[],
  scope: Scope,
  span: Span,
  tail: boolean,
): Node {
  const pairs = bindingPairs(a, items[1], 'when-first', span);
  if (pairs === null) return constant(null, span);
  const [pair] = pairs;
  const seq = findBare('seq');
  const nth = findBare('nth');
  if (pair === undefined || pairs.length !== 1 || seq === undefined || nth === undefined) {
    return problem(a, 'invalid_form', '`when-first` takes exactly one binding.', span);
  }
  const slot = newSlot(scope);
  const elements = builtinNode(seq, [a.analyze(pair[1], scope, false)], span);
  const tested = localNode(slot, 'test~', pair[1].span);
  const inside = inner(scope);
  const bound: Init[] = [];
  bindPattern(a, pair[0], builtinNode(nth, [tested, constant(0, span)], span), inside, bound);
  const then = letNode(bound, analyzeBody(a, items.slice(2), inside, tail, span), span);
  const test = ifNode(tested, then, constant(null, span), span);
  return letNode([init(slot, elements, false)], test, span);
}
