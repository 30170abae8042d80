/**
 * `for`, `doseq` and `dotimes`.
 */
import type { Form } from '../reader/form.ts';
import type { Span } from '../base/source.ts';
import { isKeyword } from '../value/value.ts';
import { analyzeBody, localNode, problem, type Analysis } from './analysis.ts';
import { bindingPairs } from './bindings.ts';
import {
  constant,
  leafCount,
  type ForLevel,
  type ForModifier,
  type Init,
  type Node,
} from '../ast/core-ast.ts';
import { bindPattern } from './patterns.ts';
import { inner, newSlot, type Scope } from './scope.ts';

/** `(for [pat coll mods…] body)` and `doseq`. */
export function analyzeFor(a: Analysis, items: readonly Form[], scope: Scope, span: Span): Node {
  const [headForm] = items;
  const head = headForm?.kind === 'symbol' ? headForm.name : 'for';
  const pairs = bindingPairs(a, items[1], head, span);
  if (pairs === null) return constant(null, span);
  const inside = inner(scope, null);
  const levels: { level: ForLevel; modifiers: ForModifier[] }[] = [];
  for (const [left, right] of pairs) {
    if (left.kind === 'literal' && isKeyword(left.value)) {
      const current = levels[levels.length - 1];
      if (current === undefined) {
        return problem(
          a,
          'invalid_form',
          `\`${head}\` begins with a binding, not with \`:${left.value.name}\`.`,
          left.span,
        );
      }
      readModifier(a, head, left.value.name, right, inside, current.modifiers, left.span);
      continue;
    }
    const source = a.analyze(right, inside, false);
    levels.push(newLevel(a, left, source, inside));
  }
  if (levels.length === 0)
    return problem(a, 'invalid_form', `\`${head}\` needs at least one binding.`, span);
  const gather = head === 'for' ? newSlot(inside) : -1;
  const body = analyzeBody(a, items.slice(2), inside, false, span);
  return forNode(
    levels.map(({ level }) => level),
    gather,
    body,
    false,
    span,
  );
}

function forNode(
  levels: readonly ForLevel[],
  gather: number,
  body: Node,
  counts: boolean,
  span: Span,
): Node {
  return { kind: 'for', levels, gather, body, counts, span, cost: 1 };
}

function newLevel(
  a: Analysis,
  pattern: Form,
  source: Node,
  scope: Scope,
): { level: ForLevel; modifiers: ForModifier[] } {
  const modifiers: ForModifier[] = [];
  const item = newSlot(scope);
  const level = { source, item, items: newSlot(scope), index: newSlot(scope), modifiers };
  const inits: Init[] = [];
  // A plain name is the slot of the item itself.
  if (pattern.kind === 'symbol') scope.names.set(pattern.name, item);
  else {
    bindPattern(a, pattern, localNode(item, 'item~', pattern.span), scope, inits);
    for (const one of inits) modifiers.push({ kind: 'let', init: one });
  }
  return { level, modifiers };
}

function readModifier(
  a: Analysis,
  head: string,
  name: string,
  form: Form,
  scope: Scope,
  modifiers: ForModifier[],
  span: Span,
): void {
  if (name === 'let') {
    const inits: Init[] = [];
    for (const [pattern, value] of bindingPairs(a, form, ':let', span) ?? []) {
      bindPattern(a, pattern, a.analyze(value, scope, false), scope, inits);
    }
    for (const one of inits) modifiers.push({ kind: 'let', init: one });
  } else if (name === 'when' || name === 'while') {
    const test = a.analyze(form, scope, false);
    modifiers.push({ kind: name, test, cost: 1 + leafCount([test]) });
  } else {
    problem(
      a,
      'invalid_form',
      `\`${head}\` knows \`:when\`, \`:let\` and \`:while\`, not \`:${name}\`.`,
      span,
    );
  }
}

/** `(dotimes [i n] body)`. */
export function analyzeDotimes(
  a: Analysis,
  items: readonly Form[],
  scope: Scope,
  span: Span,
): Node {
  const pairs = bindingPairs(a, items[1], 'dotimes', span);
  if (pairs === null) return constant(null, span);
  const [pair] = pairs;
  if (pair === undefined || pairs.length !== 1 || pair[0].kind !== 'symbol') {
    return problem(
      a,
      'invalid_form',
      '`dotimes` takes one name and a count: `(dotimes [i n] body)`.',
      span,
    );
  }
  const inside = inner(scope, null);
  const source = a.analyze(pair[1], scope, false);
  const { level } = newLevel(a, pair[0], source, inside);
  const body = analyzeBody(a, items.slice(2), inside, false, span);
  return forNode([level], -1, body, true, span);
}
