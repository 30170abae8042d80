/**
 * Calls: arity checks, the argument checks of tools, and the special cases of single builtins.
 *
 * I1  The head is analyzed before the arguments.
 * I2  If the head of a call is unknown, only the head is reported.
 * I3  Only calls whose callee is known before the run are checked here; the machine checks the
 *     others.
 */
import { findBare } from '../builtins/registry.ts';
import type { Form } from '../reader/form.ts';
import type { Span } from '../base/source.ts';
import { isKeyword, type Builtin } from '../value/value.ts';
import { endlessHint } from './absent-names.ts';
import { arityMessage, closureArity } from '../base/arity.ts';
import {
  builtinNode,
  invalid,
  problem,
  report,
  type Analysis,
  type Definition,
  type SpecialForm,
} from './analysis.ts';
import type { Node, NodeOf } from '../ast/core-ast.ts';
import { leafCount } from '../ast/node-parts.ts';
import { analyzeSymbol } from './names.ts';
import type { Scope } from './scope.ts';
import { checkToolArguments } from './tool-arguments.ts';

/** A call of any value. */
export function analyzeCall(a: Analysis, items: readonly Form[], scope: Scope, span: Span): Node {
  const [head, ...argForms] = items;
  if (head === undefined) return invalid(a, '`()` calls nothing.', span);
  const problemsBefore = a.problems.length;
  const fn = head.kind === 'symbol' ? analyzeSymbol(a, head, scope) : a.analyze(head, scope, false);
  const unknown =
    head.kind === 'symbol' &&
    (a.problems.length > problemsBefore || isReported(a, head, scope, fn));
  if (unknown) return fn;
  if (fn.kind === 'builtin' && head.kind === 'symbol') {
    // `budget/remaining` means the same with and without parentheses.
    if (argForms.length === 0) return fn;
    return problem(a, 'arity_error', arityMessage(head.name, 0, 0, argForms.length), span);
  }
  const stepped = takeOfRange(a, fn, { items, scope, span });
  if (stepped !== null) return stepped;
  const parallel = fn.kind === 'const' && isParallel(fn.value);
  if (parallel) a.parallel += 1;
  const args = argForms.map((form) => a.analyze(form, scope, false));
  if (parallel) a.parallel -= 1;
  return callOf(a, fn, args, { items, span });
}

function isReported(a: Analysis, head: Form, scope: Scope, fn: Node): boolean {
  return (
    head.kind === 'symbol' &&
    a.reported.has(head.name) &&
    fn.kind === 'const' &&
    fn.value === null &&
    !scope.names.has(head.name)
  );
}

function isParallel(value: unknown): boolean {
  const builtin = value as { readonly kind?: string; readonly name?: string } | null;
  return builtin?.kind === 'builtin' && (builtin.name === 'pmap' || builtin.name === 'pcalls');
}

/** The call of `fn`, checked as far as its callee is known; `at` is the source of the call. */
function callOf(
  a: Analysis,
  fn: Node,
  args: readonly Node[],
  at: { readonly items: readonly Form[]; readonly span: Span },
): Node {
  const { span } = at;
  const call: NodeOf<'call'> = {
    kind: 'call',
    fn,
    args,
    span,
    cost: leafCount([fn, ...args]),
    tail: false,
  };
  if (fn.kind === 'const') {
    const { value } = fn;
    if (isKeyword(value)) {
      if (args.length < 1 || args.length > 2) {
        return problem(a, 'arity_error', arityMessage(`:${value.name}`, 1, 2, args.length), span);
      }
      return call;
    }
    if (typeof value !== 'object' || value === null) return call;
    if (value.kind === 'tool') {
      checkToolArguments(a, value.name, at.items.slice(1), span);
      return call;
    }
    if (value.kind === 'builtin') return builtinCall(a, value, call);
    return call;
  }
  if (fn.kind === 'data') {
    const name = `data/${fn.key}`;
    const message = `\`${name}\` is data, not a function: write it without parentheses.`;
    return problem(a, 'not_callable', message, span);
  }
  if (fn.kind === 'fn') {
    checkArity(a, call, fn.code.name ?? 'fn', fn.code);
  }
  if (fn.kind === 'global') {
    const definition = a.definitions.get(fn.name);
    const once = definition?.count === 1 && !a.memory.has(fn.name) ? definition.arity : null;
    if (once !== null && once !== undefined) checkArity(a, call, fn.name, once);
  }
  return call;
}

function checkArity(
  a: Analysis,
  { args, span }: NodeOf<'call'>,
  name: string,
  arity: NonNullable<Definition['arity']>,
): void {
  const got = args.length;
  if (got === arity.params || (arity.rest && got > arity.params)) return;
  problem(a, 'arity_error', closureArity(name, arity, got), span);
}

function builtinCall(a: Analysis, builtin: Builtin, call: NodeOf<'call'>): Node {
  const { name, min, max, work } = builtin;
  const { args, span } = call;
  if (args.length < min || args.length > max) {
    const message = arityMessage(name, min, max, args.length);
    const hint = endlessHint(name, args.length);
    if (hint === undefined) return problem(a, 'arity_error', message, span);
    return report(a, { reason: 'arity_error', message, span, hint });
  }
  return work.kind === 'plain' || work.kind === 'steps' ? builtinNode(builtin, args, span) : call;
}

/** `(take n (range a b step))` in exactly this form; only here `step` may be zero. */
function takeOfRange(
  a: Analysis,
  fn: Node,
  { items, scope, span }: Omit<SpecialForm, 'tail'>,
): Node | null {
  const argForms = items.slice(1);
  if (fn.kind !== 'const' || fn.value !== findBare('take') || argForms.length !== 2) return null;
  const [count, range] = argForms;
  if (count === undefined || range?.kind !== 'list' || range.items.length !== 4) return null;
  const [head, ...bounds] = range.items;
  if (head?.kind !== 'symbol' || !/^(core\/|clojure\.core\/)?range$/.test(head.name)) return null;
  const called = analyzeSymbol(a, head, scope);
  const stepped = findBare('take-range~');
  if (called.kind !== 'const' || called.value !== findBare('range') || stepped === undefined)
    return null;
  const args = [count, ...bounds].map((form) => a.analyze(form, scope, false));
  return builtinNode(stepped, args, span);
}
