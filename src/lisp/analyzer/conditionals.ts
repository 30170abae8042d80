/**
 * Forms that choose: `if` and its kin, `cond`, `case`, `condp`, `and`, `or`.
 */
import { findBare } from '../builtins/registry.ts';
import { headOf, type Form } from '../reader/form.ts';
import type { Span } from '../base/source.ts';
import { shortText } from '../value/print.ts';
import { compareKeys } from '../value/order.ts';
import { isKeyword, UNMETERED, type Value } from '../value/value.ts';
import {
  analyzeBody,
  builtinNode,
  freshName,
  ifNode,
  init,
  letNode,
  localNode,
  problem,
  wrongShape,
  type Analysis,
} from './analysis.ts';
import { constant, leafCount, type CaseNode, type Node } from '../ast/core-ast.ts';
import { analyzeSymbol } from './names.ts';
import { quotedValue } from './quote.ts';
import { inner, newSlot, type Scope } from './scope.ts';

/** `(if test then else?)` and `if-not`. */
export function analyzeIf(
  a: Analysis,
  items: readonly Form[],
  scope: Scope,
  span: Span,
  tail: boolean,
): Node {
  const head = headOf(items);
  const [, testForm, thenForm, elseForm] = items;
  if (testForm === undefined || thenForm === undefined || items.length > 4) {
    return wrongShape(a, head, `(${head} test then else?)`, items.length - 1, span);
  }
  const test = a.analyze(testForm, scope, false);
  const then = a.analyze(thenForm, scope, tail);
  const otherwise =
    elseForm === undefined ? constant(null, span) : a.analyze(elseForm, scope, tail);
  return head === 'if' ? ifNode(test, then, otherwise, span) : ifNode(test, otherwise, then, span);
}

/** `(when test body)` and `when-not`. */
export function analyzeWhen(
  a: Analysis,
  items: readonly Form[],
  scope: Scope,
  span: Span,
  tail: boolean,
): Node {
  const head = headOf(items);
  const testForm = items[1];
  if (testForm === undefined) return wrongShape(a, head, `(${head} test body)`, 0, span);
  const test = a.analyze(testForm, scope, false);
  const body = analyzeBody(a, items.slice(2), scope, tail, span);
  const nothing = constant(null, span);
  return head === 'when' ? ifNode(test, body, nothing, span) : ifNode(test, nothing, body, span);
}

/** `(cond test value …)`. */
export function analyzeCond(
  a: Analysis,
  items: readonly Form[],
  scope: Scope,
  span: Span,
  tail: boolean,
): Node {
  if (items.length % 2 === 0) {
    return problem(
      a,
      'invalid_form',
      `\`cond\` takes pairs of test and value, got ${items.length - 1} forms.`,
      span,
    );
  }
  const pairs: { test: Node; value: Node; span: Span }[] = [];
  for (let at = 1; at + 1 < items.length; at += 2) {
    const testForm = items[at] as Form;
    const test = a.analyze(testForm, scope, false);
    const value = a.analyze(items[at + 1] as Form, scope, tail);
    pairs.push({ test, value, span: testForm.span });
  }
  let node: Node = constant(null, span);
  for (const pair of pairs.toReversed()) node = ifNode(pair.test, pair.value, node, pair.span);
  return node;
}

/** `(and …)`, `(or …)`. A bare name directly inside `or` may be unknown: then it is nil. */
export function analyzeLogic(
  a: Analysis,
  items: readonly Form[],
  scope: Scope,
  span: Span,
  tail: boolean,
): Node {
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
export function analyzeCase(
  a: Analysis,
  items: readonly Form[],
  scope: Scope,
  span: Span,
  tail: boolean,
): Node {
  const valueForm = items[1];
  if (valueForm === undefined)
    return wrongShape(a, 'case', '(case value constant result … default?)', 0, span);
  const value = a.analyze(valueForm, scope, false);
  const rest = items.slice(2);
  const clauses: { constants: Value[]; body: Node }[] = [];
  const seen: Value[] = [];
  for (let at = 0; at + 1 < rest.length; at += 2) {
    const form = rest[at] as Form;
    const constants = form.kind === 'list' ? form.items.map(quotedValue) : [caseConstant(form)];
    for (const one of constants) {
      if (seen.some((other) => compareKeys(one, other, UNMETERED) === 0)) {
        problem(
          a,
          'duplicate_key',
          `\`${shortText(one)}\` appears twice in this \`case\`.`,
          form.span,
        );
      }
      seen.push(one);
    }
    clauses.push({ constants, body: a.analyze(rest[at + 1] as Form, scope, tail) });
  }
  const lastForm = rest.length % 2 === 1 ? rest[rest.length - 1] : undefined;
  const otherwise = lastForm === undefined ? null : a.analyze(lastForm, scope, tail);
  const node: CaseNode = {
    kind: 'case',
    value,
    clauses,
    otherwise,
    span,
    cost: 1 + leafCount([value]),
  };
  return node;
}

function caseConstant(form: Form): Value {
  return form.kind === 'quote' ? quotedValue(form.form) : quotedValue(form);
}

/** `(condp p v t a … default?)`, with `t :>> f`. */
export function analyzeCondp(
  a: Analysis,
  items: readonly Form[],
  scope: Scope,
  span: Span,
  tail: boolean,
): Node {
  const [, predicateForm, valueForm, ...rest] = items;
  if (predicateForm === undefined || valueForm === undefined) {
    return wrongShape(
      a,
      'condp',
      '(condp pred value test result … default?)',
      items.length - 1,
      span,
    );
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
  const call = (fn: Node, args: readonly Node[], at: Span): Node => ({
    kind: 'call',
    fn,
    args,
    span: at,
    cost: leafCount([fn, ...args]),
    tail: false,
  });
  const chain = (at: number): Node => {
    const testForm = rest[at];
    if (testForm === undefined) return noClause(localNode(value, 'value~', span), span);
    const resultForm = rest[at + 1];
    if (resultForm === undefined) return a.analyze(testForm, inside, tail);
    const test = a.analyze(testForm, inside, false);
    const tested = call(
      localNode(predicate, 'pred~', span),
      [test, localNode(value, 'value~', span)],
      testForm.span,
    );
    const passes =
      resultForm.kind === 'literal' &&
      isKeyword(resultForm.value) &&
      resultForm.value.name === '>>';
    if (!passes) {
      return ifNode(tested, a.analyze(resultForm, inside, tail), chain(at + 2), testForm.span);
    }
    const fnForm = rest[at + 2];
    if (fnForm === undefined) {
      return problem(
        a,
        'invalid_form',
        '`:>>` in `condp` needs a function after it.',
        resultForm.span,
      );
    }
    const slot = newSlot(inside);
    const result = localNode(slot, freshName(a, 'found'), span);
    const applied = call(a.analyze(fnForm, inside, false), [result], fnForm.span);
    return letNode([init(slot, tested, false)], ifNode(result, applied, chain(at + 3), span), span);
  };
  return letNode(inits, chain(0), span);
}

function noClause(value: Node, span: Span): Node {
  const missing = findBare('no-clause~');
  return missing === undefined ? value : builtinNode(missing, [value], span);
}
