/**
 * `for`, `doseq` and `dotimes`.
 *
 * I1  A level of a loop keeps its collection, its index and its item in slots of their own, so a
 *     snapshot can be taken between any two items.
 * I2  A binding nests what follows it as a form would, so it counts towards `MAX_NESTING`.
 */
import { headOf, type Form } from '../reader/form.ts';
import type { Span } from '../base/source.ts';
import { isKeyword, type Keyword } from '../value/value.ts';
import {
  analyzeBody,
  invalid,
  localNode,
  MAX_NESTING,
  type Analysis,
  type SpecialForm,
} from './analysis.ts';
import { bindingPairs } from './bindings.ts';
import type { ForLevel, ForModifier, Node } from '../ast/core-ast.ts';
import { constant, leafCount } from '../ast/node-parts.ts';
import { bindPattern, newBindings, type Bindings } from './patterns.ts';
import { inner, newSlot, type Scope } from './scope.ts';

/** `(for [pat coll mods…] body)` and `doseq`. */
export function analyzeFor(a: Analysis, form: SpecialForm): Node {
  const { items, span } = form;
  const head = headOf(items);
  const pairs = bindingPairs(a, items[1], head, span);
  if (pairs === null) return constant(null, span);
  const depth = pairs.filter(([left]) => !isModifier(left)).length;
  if (a.nesting + depth > MAX_NESTING) {
    const message = `\`${head}\` has ${depth} bindings, each of which nests in the one before: together with the forms around them at most ${MAX_NESTING}. Loop over one collection, or use \`let\`.`;
    return invalid(a, message, span);
  }
  a.nesting += depth;
  const node = analyzeLevels(a, form, head, pairs);
  a.nesting -= depth;
  return node;
}

type Modifier = Form & { readonly kind: 'literal'; readonly value: Keyword };

function isModifier(form: Form): form is Modifier {
  return form.kind === 'literal' && isKeyword(form.value);
}

function analyzeLevels(
  a: Analysis,
  { items, scope, span }: SpecialForm,
  head: string,
  pairs: readonly (readonly [Form, Form])[],
): Node {
  const inside = inner(scope, null);
  const levels: { level: ForLevel; modifiers: ForModifier[] }[] = [];
  for (const [left, right] of pairs) {
    if (isModifier(left)) {
      const current = levels[levels.length - 1];
      if (current === undefined) {
        return invalid(
          a,
          `\`${head}\` begins with a binding, not with \`:${left.value.name}\`.`,
          left.span,
        );
      }
      const word = { head, name: left.value.name, span: left.span };
      current.modifiers.push(...readModifier(newBindings(a, inside), word, right));
      continue;
    }
    const source = a.analyze(right, inside, false);
    levels.push(newLevel(a, left, source, inside));
  }
  if (levels.length === 0) return invalid(a, `\`${head}\` needs at least one binding.`, span);
  const gather = head === 'for' ? newSlot(inside) : -1;
  const body = analyzeBody(a, { items: items.slice(2), scope: inside, span, tail: false });
  const found = levels.map(({ level }) => level);
  return { kind: 'for', levels: found, gather, body, counts: false, span, cost: 1 };
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
  // A plain name is bound to the slot of the item.
  if (pattern.kind === 'symbol') scope.names.set(pattern.name, item);
  else {
    const into = newBindings(a, scope);
    bindPattern(into, pattern, localNode(item, 'item~', pattern.span));
    modifiers.push(...letModifiers(into));
  }
  return { level, modifiers };
}

function letModifiers({ inits }: Bindings): readonly ForModifier[] {
  return inits.map((init) => ({ kind: 'let', init }));
}

/** The modifiers for `:name form` in a `head` form such as `for`. */
function readModifier(
  into: Bindings,
  { head, name, span }: { readonly head: string; readonly name: string; readonly span: Span },
  form: Form,
): readonly ForModifier[] {
  const { a, scope } = into;
  if (name === 'let') {
    for (const [pattern, value] of bindingPairs(a, form, ':let', span) ?? []) {
      bindPattern(into, pattern, a.analyze(value, scope, false));
    }
    return letModifiers(into);
  }
  if (name === 'when' || name === 'while') {
    const test = a.analyze(form, scope, false);
    return [{ kind: name, test, cost: 1 + leafCount([test]) }];
  }
  invalid(a, `\`${head}\` knows \`:when\`, \`:let\` and \`:while\`, not \`:${name}\`.`, span);
  return [];
}

/** `(dotimes [i n] body)`. */
export function analyzeDotimes(a: Analysis, form: SpecialForm): Node {
  const { items, scope, span } = form;
  const pairs = bindingPairs(a, items[1], 'dotimes', span);
  if (pairs === null) return constant(null, span);
  const [pair] = pairs;
  if (pair === undefined || pairs.length !== 1 || pair[0].kind !== 'symbol') {
    return invalid(a, '`dotimes` takes one name and a count: `(dotimes [i n] body)`.', span);
  }
  const inside = inner(scope, null);
  const source = a.analyze(pair[1], scope, false);
  const { level } = newLevel(a, pair[0], source, inside);
  const body = analyzeBody(a, { items: items.slice(2), scope: inside, span, tail: false });
  return { kind: 'for', levels: [level], gather: -1, body, counts: true, span, cost: 1 };
}
