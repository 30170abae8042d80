/**
 * Destructuring: patterns come down to bindings of parts.
 */
import type { Form, SymbolForm } from '../reader/form.ts';
import type { Span } from '../base/source.ts';
import { keyword, isKeyword, type Value } from '../value/value.ts';
import { freshName, ifNode, init, localNode, problem, type Analysis } from './analysis.ts';
import { isLeaf, leafCount, type Init, type Node, type PartOp } from '../ast/core-ast.ts';
import { bindName, isInsideShort, newSlot, noteKnown, type Scope } from './scope.ts';
import { quotedValue } from './quote.ts';

/** Binds the names of `pattern` to the parts of `value`; adds to `inits` and to the scope. */
export function bindPattern(
  a: Analysis,
  pattern: Form,
  value: Node,
  scope: Scope,
  inits: Init[],
): void {
  switch (pattern.kind) {
    case 'symbol':
      bindSymbol(a, pattern, value, scope, inits);
      return;
    case 'vector':
      bindElements(a, pattern.items, value, scope, inits, pattern.span);
      return;
    case 'map':
      bindRecord(a, pattern.items, value, scope, inits, pattern.span);
      return;
    default:
      problem(
        a,
        'invalid_form',
        'A binding takes a name, a vector pattern or a map pattern.',
        pattern.span,
      );
  }
}

/** Whether a symbol may name a local; records a problem when not. */
export function checkBindable(a: Analysis, symbol: SymbolForm, scope: Scope): boolean {
  const { name, span } = symbol;
  // Inside `#( )` these are names like others, and an inner binding hides the argument.
  if (name.startsWith('%') && !isInsideShort(scope)) {
    problem(a, 'invalid_form', `\`${name}\` is an argument of \`#( )\` and cannot be bound.`, span);
    return false;
  }
  if (['if', 'def', 'do', 'recur'].includes(name)) {
    problem(a, 'invalid_form', `\`${name}\` is a special form and cannot be a local.`, span);
    return false;
  }
  if (name === '&' || (name.includes('/') && name !== '/') || /^\*[123]$/.test(name)) {
    problem(a, 'invalid_form', `\`${name}\` cannot be the name of a local.`, span);
    return false;
  }
  return true;
}

function bindSymbol(
  a: Analysis,
  symbol: SymbolForm,
  value: Node,
  scope: Scope,
  inits: Init[],
): void {
  if (!checkBindable(a, symbol, scope)) return;
  const slot = bindName(scope, symbol.name);
  if (value.kind === 'fn' || value.kind === 'const' || value.kind === 'builtin') {
    noteKnown(scope, slot, value);
  }
  inits.push(init(slot, value, true));
}

/** Puts `value` into a slot of its own unless it is there already. */
function settle(a: Analysis, value: Node, scope: Scope, inits: Init[]): Node {
  if (isLeaf(value)) return value;
  const slot = newSlot(scope);
  inits.push(init(slot, value, false));
  return localNode(slot, freshName(a, 'part'), value.span);
}

function part(
  op: PartOp,
  source: Node,
  span: Span,
  at: { index?: number; key?: Value } = {},
): Node {
  const { index = 0, key = null } = at;
  return { kind: 'part', op, source, index, key, span, cost: leafCount([source]) };
}

function bindElements(
  a: Analysis,
  items: readonly Form[],
  value: Node,
  scope: Scope,
  inits: Init[],
  span: Span,
): void {
  const whole = settle(a, value, scope, inits);
  const elements = settle(a, part('elements', whole, span), scope, inits);
  let at = 0;
  let position = 0;
  while (at < items.length) {
    const item = items[at] as Form;
    const next = items[at + 1];
    if (item.kind === 'symbol' && item.name === '&') {
      if (next === undefined) {
        problem(a, 'invalid_form', '`&` in a pattern needs a name after it.', item.span);
        return;
      }
      const rest = part('rest', elements, next.span, { index: position });
      if (next.kind === 'map') bindKeywords(a, next, rest, scope, inits);
      else bindPattern(a, next, rest, scope, inits);
      at += 2;
      const after = items[at];
      const isAs = after?.kind === 'literal' && isKeyword(after.value) && after.value.name === 'as';
      if (after !== undefined && !isAs) {
        problem(a, 'invalid_form', 'Only `:as name` may follow the name after `&`.', after.span);
        return;
      }
    } else if (item.kind === 'literal' && isKeyword(item.value)) {
      if (item.value.name !== 'as' || next === undefined || next.kind !== 'symbol') {
        problem(a, 'invalid_form', 'A vector pattern knows only `:as name`.', item.span);
        return;
      }
      bindSymbol(a, next, whole, scope, inits);
      at += 2;
    } else {
      bindPattern(a, item, part('nth', elements, item.span, { index: position }), scope, inits);
      position += 1;
      at += 1;
    }
  }
}

function bindKeywords(
  a: Analysis,
  pattern: Form & { kind: 'map' },
  rest: Node,
  scope: Scope,
  inits: Init[],
): void {
  const given = settle(a, rest, scope, inits);
  bindRecord(a, pattern.items, part('keywords', given, pattern.span), scope, inits, pattern.span);
}

/** The entries of a map pattern, sorted out. */
interface RecordPattern {
  readonly bindings: { readonly target: Form; readonly key: Value; readonly span: Span }[];
  readonly defaults: Map<string, Form>;
  as: SymbolForm | null;
  /** Whether integer keys may mean positions. */
  indexed: boolean;
}

function bindRecord(
  a: Analysis,
  items: readonly Form[],
  value: Node,
  scope: Scope,
  inits: Init[],
  span: Span,
): void {
  const pattern = sortOut(a, items);
  const whole = settle(a, value, scope, inits);
  const checked = part('record', whole, span, { index: pattern.indexed ? 1 : 0 });
  const record = settle(a, checked, scope, inits);
  if (pattern.as !== null) bindSymbol(a, pattern.as, whole, scope, inits);
  for (const { target, key, span: at } of pattern.bindings) {
    const found = part('get', record, at, { key });
    const fallback = target.kind === 'symbol' ? pattern.defaults.get(target.name) : undefined;
    if (fallback === undefined) bindPattern(a, target, found, scope, inits);
    else {
      const otherwise = a.analyze(fallback, scope, false);
      const chosen = ifNode(part('has', record, at, { key }), found, otherwise, at);
      bindPattern(a, target, chosen, scope, inits);
    }
  }
}

function sortOut(a: Analysis, items: readonly Form[]): RecordPattern {
  const pattern: RecordPattern = { bindings: [], defaults: new Map(), as: null, indexed: false };
  for (let at = 0; at + 1 < items.length; at += 2) {
    const left = items[at] as Form;
    const right = items[at + 1] as Form;
    if (left.kind === 'literal' && isKeyword(left.value)) {
      readDirective(a, pattern, left.value.name, right, left.span);
      continue;
    }
    const key = literalKey(right);
    if (key === undefined) {
      problem(
        a,
        'invalid_form',
        'A map pattern pairs a name or pattern with a literal key.',
        right.span,
      );
      continue;
    }
    if (typeof key === 'number') pattern.indexed = true;
    pattern.bindings.push({ target: left, key, span: left.span });
  }
  return pattern;
}

function literalKey(form: Form): Value | undefined {
  if (form.kind === 'literal') return form.value;
  return form.kind === 'quote' ? quotedValue(form.form) : undefined;
}

function readDirective(
  a: Analysis,
  pattern: RecordPattern,
  directive: string,
  form: Form,
  span: Span,
): void {
  if (directive === 'as' && form.kind === 'symbol') pattern.as = form;
  else if (directive === 'or' && form.kind === 'map') {
    for (let at = 0; at + 1 < form.items.length; at += 2) {
      const name = form.items[at] as Form;
      if (name.kind === 'symbol') pattern.defaults.set(name.name, form.items[at + 1] as Form);
      else problem(a, 'invalid_form', '`:or` pairs names with defaults.', name.span);
    }
  } else if (
    (directive === 'keys' || directive === 'strs' || directive === 'syms') &&
    form.kind === 'vector'
  ) {
    for (const item of form.items) bindDirective(a, pattern, directive, item);
  } else {
    problem(
      a,
      'invalid_form',
      `A map pattern knows \`:keys [a]\`, \`:strs [a]\`, \`:syms [a]\`, \`:or {a 1}\`, \`:as m\` and \`{a :key}\`, not \`:${directive}\` like this.`,
      span,
    );
  }
}

function bindDirective(a: Analysis, pattern: RecordPattern, directive: string, item: Form): void {
  const named = item.kind === 'literal' && isKeyword(item.value) ? item.value.name : null;
  const name = item.kind === 'symbol' ? item.name : named;
  if (name === null) {
    problem(a, 'invalid_form', `\`:${directive}\` takes names.`, item.span);
    return;
  }
  const target: Form = { kind: 'symbol', name, span: item.span };
  const key: Value =
    directive === 'strs' ? name : directive === 'syms' ? { kind: 'symbol', name } : keyword(name);
  pattern.bindings.push({ target, key, span: item.span });
}
