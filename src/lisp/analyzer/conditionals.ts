/**
 * Conditional forms: `if`, `when`, `cond`, `case`, `condp`, `and`, `or`.
 *
 * I1  A test is never in tail position. The chosen branch is, if the form is.
 * I2  `cond`, `condp` and `when` become nested `if`s, which both tiers know.
 */
import { findBare } from '../builtins/registry.ts';
import { headOf, type Form } from '../reader/form.ts';
import type { Span } from '../base/source.ts';
import { shortText } from '../value/print.ts';
import { newKeyIndex, numberOf } from '../value/key-index.ts';
import { isKeyword, UNMETERED, type Value } from '../value/value.ts';
import {
  analyzeBody,
  builtinNode,
  freshName,
  ifNode,
  init,
  letNode,
  localNode,
  invalid,
  problem,
  wrongShape,
  type Analysis,
  type SpecialForm,
  withItems,
} from './analysis.ts';
import type { Node } from '../ast/core-ast.ts';
import { constant, leafCount } from '../ast/node-parts.ts';
import { analyzeSymbol } from './names.ts';
import { quotedValue } from './quote.ts';
import { inner, newSlot } from './scope.ts';

/** `(if test then else?)` and `if-not`. */
export function analyzeIf(a: Analysis, form: SpecialForm): Node {
  const { items, scope, span, tail } = form;
  const head = headOf(items);
  const [, testForm, thenForm, elseForm] = items;
  if (testForm === undefined || thenForm === undefined || items.length > 4) {
    return wrongShape(a, form, `(${head} test then else?)`);
  }
  const test = a.analyze(testForm, scope, false);
  const then = a.analyze(thenForm, scope, tail);
  const otherwise =
    elseForm === undefined ? constant(null, span) : a.analyze(elseForm, scope, tail);
  return head === 'if' ? ifNode(test, then, otherwise, span) : ifNode(test, otherwise, then, span);
}

/** `(when test body)` and `when-not`. */
export function analyzeWhen(a: Analysis, form: SpecialForm): Node {
  const { items, scope, span, tail } = form;
  const head = headOf(items);
  const testForm = items[1];
  if (testForm === undefined) return wrongShape(a, form, `(${head} test body)`);
  const test = a.analyze(testForm, scope, false);
  const body = analyzeBody(a, { items: items.slice(2), scope, span, tail });
  const nothing = constant(null, span);
  return head === 'when' ? ifNode(test, body, nothing, span) : ifNode(test, nothing, body, span);
}

/** The most clauses of nested `cond` and `condp` together, since each makes the tree deeper. */
const MAX_CLAUSES = 1_000;

function tooManyClauses(a: Analysis, count: number): boolean {
  return a.clauses + count > MAX_CLAUSES;
}

function manyClauses(a: Analysis, name: string, span: Span): Node {
  const message = `\`${name}\` takes at most 1,000 clauses, together with those around it. Use \`case\` or a map.`;
  return invalid(a, message, span);
}

/** `(cond test value …)`. */
export function analyzeCond(a: Analysis, form: SpecialForm): Node {
  const { items, scope, span, tail } = form;
  if (items.length % 2 === 0) {
    return invalid(
      a,
      `\`cond\` takes pairs of test and value, got ${items.length - 1} forms.`,
      span,
    );
  }
  const around = a.clauses;
  if (tooManyClauses(a, (items.length - 1) / 2)) return manyClauses(a, 'cond', span);
  const pairs: { test: Node; value: Node; span: Span }[] = [];
  for (let at = 1; at + 1 < items.length; at += 2) {
    const testForm = items[at] as Form;
    a.clauses = around + pairs.length;
    const test = a.analyze(testForm, scope, false);
    const value = a.analyze(items[at + 1] as Form, scope, tail);
    pairs.push({ test, value, span: testForm.span });
  }
  a.clauses = around;
  let node: Node = constant(null, span);
  for (const pair of pairs.toReversed()) node = ifNode(pair.test, pair.value, node, pair.span);
  return node;
}

/** `(and …)` and `(or …)`. A bare name directly inside `or` may be unknown, and is then nil. */
export function analyzeLogic(a: Analysis, form: SpecialForm): Node {
  const { items, scope, span, tail } = form;
  const kind = headOf(items) === 'and' ? 'and' : 'or';
  const last = items.length - 1;
  const nodes = items.slice(1).map((item, index) => {
    if (kind === 'or' && item.kind === 'symbol') return analyzeSymbol(a, item, scope, true);
    return a.analyze(item, scope, tail && index === last - 1);
  });
  const [only] = nodes;
  if (only === undefined) return constant(kind === 'and' ? true : null, span);
  return nodes.length === 1 ? only : { kind, items: nodes, span, cost: 1 };
}

/** `(case v c a … default?)`. */
export function analyzeCase(a: Analysis, form: SpecialForm): Node {
  const { items, scope, span, tail } = form;
  const valueForm = items[1];
  if (valueForm === undefined)
    return wrongShape(a, form, '(case value constant result … default?)');
  const value = a.analyze(valueForm, scope, false);
  const rest = items.slice(2);
  const clauses: { constants: Value[]; body: Node }[] = [];
  const seen = newKeyIndex();
  for (let at = 0; at + 1 < rest.length; at += 2) {
    const label = rest[at] as Form;
    const constants =
      label.kind === 'list'
        ? label.items.map(quotedValue)
        : [quotedValue(label.kind === 'quote' ? label.form : label)];
    for (const one of constants) {
      const before = seen.keys.length;
      if (numberOf(seen, one, UNMETERED) < before) {
        const message = `\`${shortText(one)}\` appears twice in this \`case\`.`;
        problem(a, 'duplicate_key', message, label.span);
      }
    }
    clauses.push({ constants, body: a.analyze(rest[at + 1] as Form, scope, tail) });
  }
  const lastForm = rest.length % 2 === 1 ? rest[rest.length - 1] : undefined;
  const otherwise = lastForm === undefined ? null : a.analyze(lastForm, scope, tail);
  return { kind: 'case', value, clauses, otherwise, span, cost: 1 + leafCount([value]) };
}

/** `(condp p v t a … default?)`, with `t :>> f`. */
export function analyzeCondp(a: Analysis, form: SpecialForm): Node {
  const { items, scope, span } = form;
  const [, predicateForm, valueForm, ...rest] = items;
  if (predicateForm === undefined || valueForm === undefined) {
    return wrongShape(a, form, '(condp pred value test result … default?)');
  }
  const inside = inner(scope);
  const predicate = newSlot(inside);
  const value = newSlot(inside);
  const predicateNode = a.analyze(predicateForm, inside, false);
  const inits = [
    init(predicate, predicateNode, false),
    init(value, a.analyze(valueForm, inside, false), false),
  ];
  if (predicateNode.kind === 'const' || predicateNode.kind === 'fn') {
    scope.fn.code.known.set(predicate, predicateNode);
  }
  const around = a.clauses;
  // A clause has two forms, or three with `:>>`: this is the smallest number that there can be.
  if (tooManyClauses(a, (rest.length - 1) / 3)) return manyClauses(a, 'condp', span);
  const clauses = { ...form, items: rest, scope: inside };
  const chain = condpChain(a, clauses, { predicate, value });
  a.clauses = around;
  return letNode(inits, chain, span);
}

function callNode(fn: Node, args: readonly Node[], span: Span): Node {
  return { kind: 'call', fn, args, span, cost: leafCount([fn, ...args]), tail: false };
}

/** The clauses of a `condp` as nested `if`s; the slots hold its predicate and its value. */
function condpChain(
  a: Analysis,
  form: SpecialForm,
  slots: { readonly predicate: number; readonly value: number },
): Node {
  const { items, scope, span, tail } = form;
  const [testForm, resultForm, fnForm] = items;
  const value = localNode(slots.value, 'value~', span);
  if (testForm === undefined) return noClause(value, span);
  if (resultForm === undefined) return a.analyze(testForm, scope, tail);
  const rest = (from: number): Node => condpChain(a, withItems(form, items.slice(from)), slots);
  const test = a.analyze(testForm, scope, false);
  const predicate = localNode(slots.predicate, 'pred~', span);
  const tested = callNode(predicate, [test, value], testForm.span);
  const passes =
    resultForm.kind === 'literal' && isKeyword(resultForm.value) && resultForm.value.name === '>>';
  // With `:>>` a clause is a `let` around a call and an `if`.
  a.clauses += passes ? 3 : 1;
  if (tooManyClauses(a, 0)) return manyClauses(a, 'condp', span);
  if (!passes) {
    return ifNode(tested, a.analyze(resultForm, scope, tail), rest(2), testForm.span);
  }
  if (fnForm === undefined) {
    return invalid(a, '`:>>` in `condp` needs a function after it.', resultForm.span);
  }
  const slot = newSlot(scope);
  const result = localNode(slot, freshName(a, 'found'), span);
  const applied = callNode(a.analyze(fnForm, scope, false), [result], fnForm.span);
  return letNode([init(slot, tested, false)], ifNode(result, applied, rest(3), span), span);
}

function noClause(value: Node, span: Span): Node {
  const missing = findBare('no-clause~');
  return missing === undefined ? value : builtinNode(missing, [value], span);
}
