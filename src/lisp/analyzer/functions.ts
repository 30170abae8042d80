/**
 * Function literals: `fn`, `#( )`, and the functions of `defn`.
 *
 * I1  Slots of a function, in order: parameters, the rest parameter, the function itself where its
 *     name is bound inside, the counter of its `recur`; after them what the body binds or captures.
 * I2  Every function is in `Analysis.codes` under its offset; a snapshot refers to it by this
 *     offset.
 * I3  `tail` is set exactly on the calls whose value is the value of the function.
 */
import type { Form } from '../reader/form.ts';
import type { Span } from '../base/source.ts';
import { invalid, localNode, wrongShape, type Analysis, type SpecialForm } from './analysis.ts';
import type { Node, FnCode, NodeOf } from '../ast/core-ast.ts';
import { childrenOf, constant } from '../ast/node-parts.ts';
import { signatureOf } from './definitions.ts';
import { bindKeywords, bindPattern, checkBindable, letBody, newBindings } from './patterns.ts';
import { fnScope, isInsideShort, newSlot, type FnScope, type Scope } from './scope.ts';

const MAX_SHORT_PARAMS = 20;

/** The code of a function whose body is not yet set. */
export function newCode(
  programId: string,
  span: Span,
  shape: { name: string | null; params: number; rest: boolean; signature: string },
): FnCode {
  return {
    programId,
    offset: span.start,
    span,
    name: shape.name,
    params: shape.params,
    rest: shape.rest,
    signature: shape.signature,
    self: -1,
    slots: shape.params + (shape.rest ? 1 : 0),
    captures: [],
    body: constant(null, span),
    depth: 1,
    known: new Map(),
    instructions: null,
    forced: null,
    run: null,
    demands: null,
    needsEpoch: null,
    needs: null,
  };
}

/** The parts of a function literal. */
export interface FnParts {
  readonly name: string | null;
  /**
   * Whether the body sees the name as a local. In a `defn`, the name is looked up as a definition.
   */
  readonly selfNamed: boolean;
  readonly params: Form & { readonly kind: 'vector' };
  readonly body: readonly Form[];
  readonly span: Span;
}

/** The function that `parts` describe. */
export function analyzeFn(a: Analysis, parts: FnParts, scope: Scope): NodeOf<'fn'> {
  const { items } = parts.params;
  const amp = items.findIndex((item) => item.kind === 'symbol' && item.name === '&');
  const fixed = amp < 0 ? items : items.slice(0, amp);
  const restForm = amp < 0 ? undefined : items[amp + 1];
  if (amp >= 0 && (restForm === undefined || items.length !== amp + 2)) {
    invalid(a, 'After `&` exactly one name or pattern stands.', parts.params.span);
  }
  const bare = newCode(a.programId, parts.span, {
    name: parts.name,
    params: fixed.length,
    rest: amp >= 0,
    signature: signatureOf(items),
  });
  const selfSlot = parts.selfNamed && parts.name !== null ? bare.slots : -1;
  const code: FnCode = selfSlot < 0 ? bare : { ...bare, self: selfSlot, slots: bare.slots + 1 };
  const fn: FnScope = { code, outer: scope, top: new Map(), short: false };
  if (selfSlot >= 0 && parts.name !== null) fn.top.set(parts.name, selfSlot);
  const paramSlots = fixed.map((_, index) => index);
  if (code.rest) paramSlots.push(code.params);
  const counter = code.slots;
  code.slots += 1;
  const inside = fnScope(fn, { slots: paramSlots, counter, ofFn: true, span: parts.span });
  const into = newBindings(a, inside);
  const patterns = restForm === undefined ? fixed : [...fixed, restForm];
  for (const [slot, pattern] of patterns.entries()) {
    if (pattern.kind === 'symbol') {
      if (checkBindable(a, pattern, scope)) fn.top.set(pattern.name, slot);
    }
  }
  for (const [slot, pattern] of patterns.entries()) {
    if (pattern.kind === 'symbol') continue;
    const given = localNode(slot, `arg~${slot}`, pattern.span);
    if (slot === code.params && pattern.kind === 'map') bindKeywords(into, pattern, given);
    else bindPattern(into, pattern, given);
  }
  const { body, span } = parts;
  finish(code, letBody(into, { items: body, scope: inside, span, tail: true }));
  a.codes.set(code.offset, code);
  return { kind: 'fn', code, span: parts.span, cost: 1 };
}

/** Gives `code` its body and marks its tail calls. */
export function finish(code: FnCode, body: Node): void {
  markTails(body);
  code.body = body;
  code.depth = depthOf(body);
}

function markTails(node: Node): void {
  switch (node.kind) {
    case 'call':
    case 'builtin':
      node.tail = true;
      return;
    case 'if':
      markTails(node.chosen);
      markTails(node.otherwise);
      return;
    case 'let':
    case 'loop':
      markTails(node.body);
      return;
    case 'do': {
      const last = node.body[node.body.length - 1];
      if (last !== undefined) markTails(last);
      return;
    }
    case 'and':
    case 'or': {
      const last = node.items[node.items.length - 1];
      if (last !== undefined) markTails(last);
      return;
    }
    case 'case':
      for (const clause of node.clauses) markTails(clause.body);
      if (node.otherwise !== null) markTails(node.otherwise);
      return;
    default:
  }
}

/**
 * The depth of a tree in frames of compiled code; functions inside count as leaves. Each binding of
 * a `for` is a frame of its own.
 */
function depthOf(node: Node): number {
  let deepest = 0;
  for (const child of childrenOf(node)) deepest = Math.max(deepest, depthOf(child));
  return deepest + (node.kind === 'for' ? node.levels.length : 1);
}

const FN_USAGE = '(fn name? [params] body)';

/** `(fn name? [params] body)`. */
export function analyzeFnForm(a: Analysis, form: SpecialForm): Node {
  const { items, scope, span } = form;
  const [, first] = items;
  const named = first?.kind === 'symbol';
  const params = named ? items[2] : first;
  if (params?.kind === 'list') return severalArities(a, 'fn', span);
  if (params?.kind !== 'vector') return wrongShape(a, form, FN_USAGE);
  const name = first?.kind === 'symbol' ? first.name : null;
  const body = items.slice(named ? 3 : 2);
  return analyzeFn(a, { name, selfNamed: true, params, body, span }, scope);
}

/** The problem of a function with several parameter lists. */
export function severalArities(a: Analysis, name: string, span: Span): Node {
  return invalid(
    a,
    `\`${name}\` takes one parameter vector: functions have one arity here. Use \`& rest\` for optional arguments.`,
    span,
  );
}

/** `#( … )`. */
export function analyzeShortFn(a: Analysis, form: Form & { kind: 'fn' }, scope: Scope): Node {
  if (isInsideShort(scope)) {
    return invalid(a, '`#( )` cannot stand inside another: use `fn` for one of them.', form.span);
  }
  const use = { highest: 0, rest: false };
  for (const item of form.items) findArguments(item, use);
  if (use.highest > MAX_SHORT_PARAMS) {
    return invalid(a, `\`#( )\` takes at most ${MAX_SHORT_PARAMS} arguments.`, form.span);
  }
  const names = Array.from({ length: use.highest }, (_, index) => `%${index + 1}`);
  const signature = `(${[...names, ...(use.rest ? ['& %&'] : [])].join(' ')})`;
  const shape = { name: null, params: use.highest, rest: use.rest, signature };
  const code = newCode(a.programId, form.span, shape);
  const fn: FnScope = { code, outer: scope, top: new Map(), short: true };
  for (const [slot, name] of names.entries()) fn.top.set(name, slot);
  if (use.highest > 0) fn.top.set('%', 0);
  if (use.rest) fn.top.set('%&', use.highest);
  const counter = newSlot(fnScope(fn, null));
  const slots = Array.from({ length: use.highest + (use.rest ? 1 : 0) }, (_, index) => index);
  const inside = fnScope(fn, { slots, counter, ofFn: true, span: form.span });
  const call: Form = { kind: 'list', items: form.items, span: form.span };
  finish(code, a.analyze(call, inside, true));
  a.codes.set(code.offset, code);
  return { kind: 'fn', code, span: form.span, cost: 1 };
}

/** Collects which of `%`, `%1` … and `%&` the form mentions. */
function findArguments(form: Form, use: { highest: number; rest: boolean }): void {
  if (form.kind === 'symbol') {
    if (form.name === '%&') use.rest = true;
    else if (form.name === '%') use.highest = Math.max(use.highest, 1);
    else if (/^%[1-9][0-9]*$/.test(form.name)) {
      use.highest = Math.max(use.highest, Number(form.name.slice(1)));
    }
    return;
  }
  if (
    form.kind === 'quote' ||
    form.kind === 'literal' ||
    form.kind === 'regex' ||
    form.kind === 'var'
  )
    return;
  for (const item of form.items) findArguments(item, use);
}
