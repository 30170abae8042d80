/**
 * Destructuring: a pattern becomes bindings of single names to parts of a value.
 *
 * I1  The bound value is evaluated once: anything but a leaf is put into a slot of its own first.
 * I2  Bindings are added in source order; a default of `:or` sees the names bound before it.
 */
import type { Form, SymbolForm } from '../reader/form.ts';
import type { Span } from '../base/source.ts';
import { keyword, isKeyword, type Value } from '../value/value.ts';
import {
  analyzeBody,
  freshName,
  ifNode,
  init,
  invalid,
  letNode,
  localNode,
  type Analysis,
  type SpecialForm,
} from './analysis.ts';
import type { Init, Node, PartOp } from '../ast/core-ast.ts';
import { isLeaf, leafCount } from '../ast/node-parts.ts';
import { bindName, isInsideShort, newSlot, noteKnown, type Scope } from './scope.ts';
import { quotedValue } from './quote.ts';

type VectorForm = Form & { readonly kind: 'vector' };
type MapForm = Form & { readonly kind: 'map' };

/** Where bindings go: the scope gets the names, `inits` the values. */
export interface Bindings {
  readonly a: Analysis;
  readonly scope: Scope;
  readonly inits: Init[];
}

/** Bindings in `scope`, none so far. */
export function newBindings(a: Analysis, scope: Scope): Bindings {
  return { a, scope, inits: [] };
}

/** A `let` of the bindings around `form` as a body, which sees their names. */
export function letBody({ a, scope, inits }: Bindings, form: SpecialForm): Node {
  return letNode(
    inits,
    analyzeBody(a, { items: form.items, scope, span: form.span, tail: form.tail }),
    form.span,
  );
}

/** Binds the names of `pattern` to the parts of `value`. */
export function bindPattern(into: Bindings, pattern: Form, value: Node): void {
  switch (pattern.kind) {
    case 'symbol':
      bindSymbol(into, pattern, value);
      return;
    case 'vector':
      bindElements(into, pattern, value);
      return;
    case 'map':
      bindRecord(into, pattern, value);
      return;
    default:
      invalid(into.a, 'A binding takes a name, a vector pattern or a map pattern.', pattern.span);
  }
}

/** Whether a symbol may name a local; records a problem when not. */
export function checkBindable(a: Analysis, symbol: SymbolForm, scope: Scope): boolean {
  const { name, span } = symbol;
  // Inside `#( )`, an inner binding may hide an argument.
  if (name.startsWith('%') && !isInsideShort(scope)) {
    invalid(a, `\`${name}\` is an argument of \`#( )\` and cannot be bound.`, span);
    return false;
  }
  if (['if', 'def', 'do', 'recur'].includes(name)) {
    invalid(a, `\`${name}\` is a special form and cannot be a local.`, span);
    return false;
  }
  if (name === '&' || (name.includes('/') && name !== '/') || /^\*[123]$/.test(name)) {
    invalid(a, `\`${name}\` cannot be the name of a local.`, span);
    return false;
  }
  return true;
}

function bindSymbol(into: Bindings, symbol: SymbolForm, value: Node): void {
  const { a, scope, inits } = into;
  if (!checkBindable(a, symbol, scope)) return;
  const slot = bindName(scope, symbol.name);
  if (value.kind === 'fn' || value.kind === 'const' || value.kind === 'builtin') {
    noteKnown(scope, slot, value);
  }
  inits.push(init(slot, value, true));
}

/** `value` if it is a leaf, else a read of a new slot that is bound to it. */
function settle({ a, scope, inits }: Bindings, value: Node): Node {
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

function bindElements(into: Bindings, { items, span }: VectorForm, value: Node): void {
  const { a } = into;
  const whole = settle(into, value);
  const elements = settle(into, part('elements', whole, span));
  let at = 0;
  let position = 0;
  while (at < items.length) {
    const item = items[at] as Form;
    const next = items[at + 1];
    if (item.kind === 'symbol' && item.name === '&') {
      if (next === undefined) {
        invalid(a, '`&` in a pattern needs a name after it.', item.span);
        return;
      }
      const rest = part('rest', elements, next.span, { index: position });
      if (next.kind === 'map') bindKeywords(into, next, settle(into, rest));
      else bindPattern(into, next, rest);
      at += 2;
      const after = items[at];
      const isAs = after?.kind === 'literal' && isKeyword(after.value) && after.value.name === 'as';
      if (after !== undefined && !isAs) {
        invalid(a, 'Only `:as name` may follow the name after `&`.', after.span);
        return;
      }
    } else if (item.kind === 'literal' && isKeyword(item.value)) {
      if (item.value.name !== 'as' || next === undefined || next.kind !== 'symbol') {
        invalid(a, 'A vector pattern knows only `:as name`.', item.span);
        return;
      }
      bindSymbol(into, next, whole);
      at += 2;
    } else {
      bindPattern(into, item, part('nth', elements, item.span, { index: position }));
      position += 1;
      at += 1;
    }
  }
}

/** Binds a map pattern to the keyword arguments in `rest`, which is a leaf. */
export function bindKeywords(into: Bindings, pattern: MapForm, rest: Node): void {
  bindRecord(into, pattern, part('keywords', rest, pattern.span));
}

/** The entries of a map pattern, by their meaning. */
interface RecordPattern {
  readonly bindings: { readonly target: Form; readonly key: Value; readonly span: Span }[];
  readonly defaults: Map<string, Form>;
  as: SymbolForm | null;
  /** Whether integer keys may mean positions. */
  indexed: boolean;
}

function bindRecord(into: Bindings, { items, span }: MapForm, value: Node): void {
  const { a, scope } = into;
  const pattern = sortOut(a, items);
  const whole = settle(into, value);
  const checked = part('record', whole, span, { index: pattern.indexed ? 1 : 0 });
  const record = settle(into, checked);
  if (pattern.as !== null) bindSymbol(into, pattern.as, whole);
  for (const { target, key, span: at } of pattern.bindings) {
    const found = part('get', record, at, { key });
    const fallback = target.kind === 'symbol' ? pattern.defaults.get(target.name) : undefined;
    if (fallback === undefined) bindPattern(into, target, found);
    else {
      const otherwise = a.analyze(fallback, scope, false);
      const chosen = ifNode(part('has', record, at, { key }), found, otherwise, at);
      bindPattern(into, target, chosen);
    }
  }
}

function sortOut(a: Analysis, items: readonly Form[]): RecordPattern {
  const pattern: RecordPattern = { bindings: [], defaults: new Map(), as: null, indexed: false };
  for (let at = 0; at + 1 < items.length; at += 2) {
    const left = items[at] as Form;
    const right = items[at + 1] as Form;
    if (left.kind === 'literal' && isKeyword(left.value)) {
      const { name } = left.value;
      if (readDirective(a, pattern, name, right)) continue;
      const known = '`:keys [a]`, `:strs [a]`, `:syms [a]`, `:or {a 1}`, `:as m` and `{a :key}`';
      invalid(a, `A map pattern knows ${known}, not \`:${name}\` like this.`, left.span);
      continue;
    }
    const key = literalKey(right);
    if (key === undefined) {
      invalid(a, 'A map pattern pairs a name or pattern with a literal key.', right.span);
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

/** Adds a directive such as `:keys [a b]` to the pattern; false for an unknown one. */
function readDirective(
  a: Analysis,
  pattern: RecordPattern,
  directive: string,
  form: Form,
): boolean {
  if (directive === 'as' && form.kind === 'symbol') {
    pattern.as = form;
    return true;
  }
  if (directive === 'or' && form.kind === 'map') {
    for (let at = 0; at + 1 < form.items.length; at += 2) {
      const name = form.items[at] as Form;
      if (name.kind === 'symbol') pattern.defaults.set(name.name, form.items[at + 1] as Form);
      else invalid(a, '`:or` pairs names with defaults.', name.span);
    }
    return true;
  }
  const names = directive === 'keys' || directive === 'strs' || directive === 'syms';
  if (!names || form.kind !== 'vector') return false;
  for (const item of form.items) bindDirective(a, pattern, directive, item);
  return true;
}

function bindDirective(a: Analysis, pattern: RecordPattern, directive: string, item: Form): void {
  const named = item.kind === 'literal' && isKeyword(item.value) ? item.value.name : null;
  const name = item.kind === 'symbol' ? item.name : named;
  if (name === null) {
    invalid(a, `\`:${directive}\` takes names.`, item.span);
    return;
  }
  const target: Form = { kind: 'symbol', name, span: item.span };
  const key: Value =
    directive === 'strs' ? name : directive === 'syms' ? { kind: 'symbol', name } : keyword(name);
  pattern.bindings.push({ target, key, span: item.span });
}
