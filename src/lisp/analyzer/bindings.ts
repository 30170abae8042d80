/**
 * Forms that bind names: definitions, `let`, `loop`, `recur`, and tests that bind the tested value.
 *
 * I1  A local gets its slot here or in `patterns.ts`; no slot is bound at two places of the source.
 * I2  A `recur` is accepted only in tail position, with one value for each name of its target.
 */
import { findBare } from '../builtins/registry.ts';
import { headOf, type Form, type SymbolForm } from '../reader/form.ts';
import type { Span } from '../base/source.ts';
import {
  builtinNode,
  ifNode,
  init,
  invalid,
  letNode,
  localNode,
  problem,
  wrongShape,
  type Analysis,
  type SpecialForm,
  withItems,
} from './analysis.ts';
import type { Init, Node } from '../ast/core-ast.ts';
import { constant, isLeaf, leafCount } from '../ast/node-parts.ts';
import { analyzeFn, severalArities } from './functions.ts';
import { bindPattern, letBody, newBindings } from './patterns.ts';
import { inner, newSlot, type RecurTarget, type Scope } from './scope.ts';

function definable(
  a: Analysis,
  form: Form | undefined,
  head: string,
  span: Span,
): SymbolForm | null {
  if (form?.kind !== 'symbol' || (form.name.includes('/') && form.name !== '/')) {
    invalid(a, `\`${head}\` takes a plain name to define.`, form?.span ?? span);
    return null;
  }
  if (form.name.startsWith('%') || form.name.startsWith('.') || form.name === '&') {
    invalid(a, `\`${form.name}\` cannot be defined.`, form.span);
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
export function analyzeDef(a: Analysis, form: SpecialForm): Node {
  const { items, scope, span } = form;
  const once = headOf(items) === 'defonce';
  const head = once ? 'defonce' : 'def';
  const count = items.length - 1;
  if (count === 1) {
    const message = `\`${head}\` takes a name and a value, got only the name.`;
    return problem(a, 'arity_error', message, span);
  }
  const second = items[2];
  const hasDoc = count === 3 && second?.kind === 'literal' && typeof second.value === 'string';
  if (count !== 2 && !hasDoc) return wrongShape(a, form, `(${head} name value)`);
  const name = definable(a, items[1], head, span);
  const valueForm = items[items.length - 1] as Form;
  const value = analyzeNamed(a, valueForm, name?.name ?? null, scope);
  return name === null ? value : defNode(name.name, value, once, span);
}

/** The value of a `def`. A function literal takes the name of the definition. */
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
export function analyzeDefn(a: Analysis, form: SpecialForm): Node {
  const { items, scope, span } = form;
  const head = headOf(items);
  const name = definable(a, items[1], head, span);
  const third = items[2];
  const hasDoc = third?.kind === 'literal' && typeof third.value === 'string';
  const params = hasDoc ? items[3] : third;
  if (params?.kind === 'list') return severalArities(a, head, span);
  if (params?.kind !== 'vector') {
    return wrongShape(a, form, `(${head} name [params] body)`);
  }
  const body = items.slice(hasDoc ? 4 : 3);
  const parts = { name: name?.name ?? null, selfNamed: false, params, body, span };
  const fn = analyzeFn(a, parts, scope);
  return name === null ? fn : defNode(name.name, fn, false, span);
}

/** `(declare n…)`. */
export function analyzeDeclare(a: Analysis, form: SpecialForm): Node {
  const { items, span } = form;
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
    invalid(
      a,
      `\`${head}\` takes its bindings in a vector: \`(${head} [name value] …)\`.`,
      form?.span ?? span,
    );
    return null;
  }
  if (form.items.length % 2 !== 0) {
    invalid(
      a,
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
export function analyzeLet(a: Analysis, form: SpecialForm): Node {
  const { items, scope, span } = form;
  const pairs = bindingPairs(a, items[1], 'let', span);
  if (pairs === null) return constant(null, span);
  const into = newBindings(a, inner(scope));
  for (const [pattern, value] of pairs) {
    bindPattern(into, pattern, a.analyze(value, into.scope, false));
  }
  return letBody(into, withItems(form, items.slice(2)));
}

/** `(loop [pat v …] body)`. Patterns are destructured inside the loop, once per iteration. */
export function analyzeLoop(a: Analysis, form: SpecialForm): Node {
  const { items, scope, span } = form;
  const pairs = bindingPairs(a, items[1], 'loop', span);
  if (pairs === null) return constant(null, span);
  const entry = newBindings(a, inner(scope));
  const { inits } = entry;
  const slots: number[] = [];
  const apart: { readonly pattern: Form; readonly slot: number }[] = [];
  for (const [pattern, value] of pairs) {
    const given = a.analyze(value, entry.scope, false);
    if (pattern.kind === 'symbol') {
      const from = inits.length;
      bindPattern(entry, pattern, given);
      const bound = inits[from];
      slots.push(bound?.slot ?? newSlot(entry.scope));
      if (bound !== undefined) scope.fn.code.known.delete(bound.slot);
      continue;
    }
    const slot = newSlot(entry.scope);
    inits.push(init(slot, given, false));
    slots.push(slot);
    apart.push({ pattern, slot });
    // Later initial values may use the names of this pattern.
    bindPattern(entry, pattern, localNode(slot, 'loop~', pattern.span));
  }
  const counter = newSlot(entry.scope);
  const target: RecurTarget = { slots, counter, ofFn: false, span };
  const inside = newBindings(a, inner(entry.scope, target));
  for (const { pattern, slot } of apart) {
    bindPattern(inside, pattern, localNode(slot, 'loop~', pattern.span));
  }
  const body = letBody(inside, { ...form, items: items.slice(2), tail: true });
  return { kind: 'loop', inits, counter, body, span, cost: 0 };
}

/** `(recur v…)`. */
export function analyzeRecur(a: Analysis, form: SpecialForm): Node {
  const { items, scope, span, tail } = form;
  const { target } = scope;
  const args = items.slice(1).map((item) => a.analyze(item, scope, false));
  if (target === null || !tail) {
    return invalid(a, '`recur` must be the last thing that its loop or function does.', span);
  }
  if (args.length !== target.slots.length) {
    const wanted = target.slots.length === 1 ? '1 value' : `${target.slots.length} values`;
    return invalid(
      a,
      `This \`recur\` must give ${wanted}, one for each name, got ${args.length}.`,
      span,
    );
  }
  const { slots, counter, ofFn } = target;
  const cost = 2 + args.length + leafCount(args);
  return { kind: 'recur', slots, counter, args, ofFn, target: target.span, span, cost };
}

/** `if-let`, `when-let`, `if-some`, `when-some`: the whole value is tested, then destructured. */
export function analyzeTestBinding(a: Analysis, form: SpecialForm): Node {
  const { items, scope, span, tail } = form;
  const head = headOf(items);
  const isWhen = head.startsWith('when');
  const count = items.length - 1;
  if (!isWhen && (count < 2 || count > 3)) {
    return wrongShape(a, form, `(${head} [pattern value] then else?)`);
  }
  const pairs = bindingPairs(a, items[1], head, span);
  if (pairs === null) return constant(null, span);
  const [pair] = pairs;
  if (pair === undefined || pairs.length !== 1) {
    return invalid(a, `\`${head}\` takes exactly one binding, got ${pairs.length}.`, span);
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
  const bound = newBindings(a, inner(scope));
  bindPattern(bound, pair[0], tested);
  const then = letBody(bound, withItems(form, isWhen ? items.slice(2) : items.slice(2, 3)));
  const elseForm = isWhen ? undefined : items[3];
  const otherwise =
    elseForm === undefined ? constant(null, span) : a.analyze(elseForm, scope, tail);
  return letNode(inits, ifNode(test, then, otherwise, span), span);
}

/** `(when-first [pat coll] body)`. */
export function analyzeWhenFirst(a: Analysis, form: SpecialForm): Node {
  const { items, scope, span } = form;
  const pairs = bindingPairs(a, items[1], 'when-first', span);
  if (pairs === null) return constant(null, span);
  const [pair] = pairs;
  const seq = findBare('seq');
  const nth = findBare('nth');
  if (pair === undefined || pairs.length !== 1 || seq === undefined || nth === undefined) {
    return invalid(a, '`when-first` takes exactly one binding.', span);
  }
  const slot = newSlot(scope);
  const elements = builtinNode(seq, [a.analyze(pair[1], scope, false)], span);
  const tested = localNode(slot, 'test~', pair[1].span);
  const bound = newBindings(a, inner(scope));
  bindPattern(bound, pair[0], builtinNode(nth, [tested, constant(0, span)], span));
  const then = letBody(bound, withItems(form, items.slice(2)));
  const test = ifNode(tested, then, constant(null, span), span);
  return letNode([init(slot, elements, false)], test, span);
}
