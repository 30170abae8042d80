/**
 * Threading forms. The value so far is spliced into the next step as a form, before the step is
 * analyzed.
 *
 * I1  A step may be a special form or a threading form itself.
 * I2  In `cond->` and `some->` each intermediate value has its own slot and is evaluated once.
 */
import { findBare } from '../builtins/registry.ts';
import { headOf, type Form, type SymbolForm } from '../reader/form.ts';
import type { Span } from '../base/source.ts';
import {
  builtinNode,
  freshName,
  ifNode,
  init,
  invalid,
  letNode,
  localNode,
  wrongShape,
  type Analysis,
  type SpecialForm,
} from './analysis.ts';
import type { Node } from '../ast/core-ast.ts';
import { constant } from '../ast/node-parts.ts';
import { bindPattern, newBindings } from './patterns.ts';
import { inner, newSlot, type Scope } from './scope.ts';

/** The most steps of a form whose steps each become several nodes. */
const MAX_STEPS = 1_000;

/** A problem if `form` has too many steps after its first `before` items. */
function tooManySteps(a: Analysis, { items, span }: SpecialForm, before: number): Node | undefined {
  if (items.length - before <= MAX_STEPS) return undefined;
  const message = `\`${headOf(items)}\` takes at most 1,000 steps, got ${items.length - before}. Use \`reduce\` over a list of functions.`;
  return invalid(a, message, span);
}

function splice(step: Form, value: Form, last: boolean): Form {
  if (step.kind !== 'list') return { kind: 'list', items: [step, value], span: step.span };
  const [head, ...args] = step.items;
  if (head === undefined) return value;
  const items = last ? [head, ...args, value] : [head, value, ...args];
  return { kind: 'list', items, span: step.span };
}

/** `->` and `->>`. */
export function analyzeThread(a: Analysis, form: SpecialForm): Node {
  const { items, scope, tail } = form;
  const head = headOf(items);
  const first = items[1];
  if (first === undefined) return wrongShape(a, form, `(${head} value step …)`);
  let threaded = first;
  for (const step of items.slice(2)) threaded = splice(step, threaded, head === '->>');
  return a.analyze(threaded, scope, tail);
}

/** `(as-> value name form …)`. */
export function analyzeAs(a: Analysis, form: SpecialForm): Node {
  const { items, scope, span, tail } = form;
  const [, first, name, ...steps] = items;
  const refused = tooManySteps(a, form, 3);
  if (refused !== undefined) return refused;
  if (first === undefined || name === undefined) {
    return wrongShape(a, form, '(as-> value name form …)');
  }
  // One scope for all steps: each binds the name anew, as `let` does.
  const into = newBindings(a, inner(scope));
  bindPattern(into, name, a.analyze(first, scope, false));
  for (const step of steps.slice(0, -1)) {
    const value = a.analyze(step, into.scope, false);
    bindPattern(into, name, value);
  }
  const last = steps[steps.length - 1] ?? name;
  return letNode(into.inits, a.analyze(last, into.scope, tail), span);
}

/** A slot for the value so far, and a name for it that can be spliced into steps. */
function holder(a: Analysis, scope: Scope, span: Span): { symbol: SymbolForm; slot: number } {
  const name = freshName(a, 'step');
  const slot = newSlot(scope);
  scope.names.set(name, slot);
  return { symbol: { kind: 'symbol', name, span }, slot };
}

/** `cond->` and `cond->>`. */
export function analyzeCondThread(a: Analysis, form: SpecialForm): Node {
  const { items, scope, span } = form;
  const head = headOf(items);
  const first = items[1];
  if (first === undefined || items.length % 2 !== 0) {
    return invalid(
      a,
      `\`${head}\` takes a value and pairs of test and step, got ${items.length - 1} forms.`,
      span,
    );
  }
  const refused = tooManySteps(a, form, 2);
  if (refused !== undefined) return refused;
  const inside = inner(scope, null);
  let held = holder(a, inside, first.span);
  const inits = [init(held.slot, a.analyze(first, scope, false), false)];
  for (let at = 2; at + 1 < items.length; at += 2) {
    const test = a.analyze(items[at] as Form, inside, false);
    const stepForm = items[at + 1] as Form;
    const step = a.analyze(splice(stepForm, held.symbol, head === 'cond->>'), inside, false);
    const kept = localNode(held.slot, held.symbol.name, stepForm.span);
    held = holder(a, inside, stepForm.span);
    inits.push(init(held.slot, ifNode(test, step, kept, stepForm.span), false));
  }
  return letNode(inits, localNode(held.slot, held.symbol.name, span), span);
}

/** `some->` and `some->>`: stop at nil. */
export function analyzeSomeThread(a: Analysis, form: SpecialForm): Node {
  const { items, scope, span } = form;
  const head = headOf(items);
  const first = items[1];
  const isNil = findBare('nil?');
  if (first === undefined || isNil === undefined) {
    return wrongShape(a, form, `(${head} value step …)`);
  }
  const refused = tooManySteps(a, form, 2);
  if (refused !== undefined) return refused;
  const inside = inner(scope, null);
  let held = holder(a, inside, first.span);
  const inits = [init(held.slot, a.analyze(first, scope, false), false)];
  for (const stepForm of items.slice(2)) {
    const step = a.analyze(splice(stepForm, held.symbol, head === 'some->>'), inside, false);
    const kept = localNode(held.slot, held.symbol.name, stepForm.span);
    const test = builtinNode(isNil, [kept], stepForm.span);
    held = holder(a, inside, stepForm.span);
    inits.push(init(held.slot, ifNode(test, constant(null, span), step, stepForm.span), false));
  }
  return letNode(inits, localNode(held.slot, held.symbol.name, span), span);
}
