/**
 * Turns forms into the core tree: dispatches on the kind of form and on the name of a special form.
 * Each family of special forms has a file of its own.
 *
 * I1  Depth after expansion is at most `MAX_NESTING`, so later recursion over a tree is safe.
 * I2  A local hides a special form of the same name, except those in `FIRM`.
 */
import { compileRegex, readCost, regexSize } from '../regex/regex.ts';
import type { Form } from '../reader/form.ts';
import type { Span } from '../base/source.ts';
import { shortText } from '../value/print.ts';
import { compareKeys } from '../value/order.ts';
import { UNMETERED, type Value } from '../value/value.ts';
import {
  analyzeBody,
  invalid,
  MAX_NESTING,
  problem,
  wrongShape,
  type Analysis,
  type SpecialForm,
  withItems,
} from './analysis.ts';
import {
  analyzeDeclare,
  analyzeDef,
  analyzeDefn,
  analyzeLet,
  analyzeLoop,
  analyzeRecur,
  analyzeTestBinding,
  analyzeWhenFirst,
} from './bindings.ts';
import { analyzeCall } from './calls.ts';
import {
  analyzeCase,
  analyzeCond,
  analyzeCondp,
  analyzeIf,
  analyzeLogic,
  analyzeWhen,
} from './conditionals.ts';
import type { Node } from '../ast/core-ast.ts';
import { constant, leafCount } from '../ast/node-parts.ts';
import { analyzeFnForm, analyzeShortFn } from './functions.ts';
import { analyzeDotimes, analyzeFor } from './iteration.ts';
import { analyzeSymbol } from './names.ts';
import { literalValue, quotedValue } from './quote.ts';
import { isLocal, newSlot, type Scope } from './scope.ts';
import { analyzeAs, analyzeCondThread, analyzeSomeThread, analyzeThread } from './threading.ts';

type Special = (a: Analysis, form: SpecialForm) => Node;

const SPECIALS: ReadonlyMap<string, Special> = new Map<string, Special>([
  ['def', analyzeDef],
  ['defonce', analyzeDef],
  ['defn', analyzeDefn],
  ['defn-', analyzeDefn],
  ['declare', analyzeDeclare],
  ['fn', analyzeFnForm],
  ['let', analyzeLet],
  ['loop', analyzeLoop],
  ['recur', analyzeRecur],
  ['if', analyzeIf],
  ['if-not', analyzeIf],
  ['when', analyzeWhen],
  ['when-not', analyzeWhen],
  ['if-let', analyzeTestBinding],
  ['when-let', analyzeTestBinding],
  ['if-some', analyzeTestBinding],
  ['when-some', analyzeTestBinding],
  ['when-first', analyzeWhenFirst],
  ['cond', analyzeCond],
  ['case', analyzeCase],
  ['condp', analyzeCondp],
  ['do', (a, form) => analyzeBody(a, withItems(form, form.items.slice(1)))],
  ['comment', (_a, form) => constant(null, form.span)],
  ['and', analyzeLogic],
  ['or', analyzeLogic],
  ['->', analyzeThread],
  ['->>', analyzeThread],
  ['as->', analyzeAs],
  ['cond->', analyzeCondThread],
  ['cond->>', analyzeCondThread],
  ['some->', analyzeSomeThread],
  ['some->>', analyzeSomeThread],
  ['for', analyzeFor],
  ['doseq', analyzeFor],
  ['dotimes', analyzeDotimes],
  ['quote', analyzeQuote],
  ['attempt', analyzeAttempt],
  ['task', analyzeTask],
]);

/** Special forms that a local of the same name does not hide. */
const FIRM: ReadonlySet<string> = new Set(['if', 'def', 'do', 'recur']);

/** The core tree of one form. Problems are recorded in `a`. */
export function analyzeForm(a: Analysis, form: Form, scope: Scope, tail: boolean): Node {
  if (a.nesting >= MAX_NESTING) {
    return invalid(
      a,
      `This expression nests more than ${MAX_NESTING} deep once threading and conditions are spelled out. Split it with \`let\`.`,
      form.span,
    );
  }
  a.nesting += 1;
  const node = dispatch(a, form, scope, tail);
  a.nesting -= 1;
  return node;
}

function dispatch(a: Analysis, form: Form, scope: Scope, tail: boolean): Node {
  switch (form.kind) {
    case 'literal':
      return constant(form.value, form.span);
    case 'symbol':
      return analyzeSymbol(a, form, scope);
    case 'regex':
      return analyzeRegex(a, form.source, form.span);
    case 'quote':
      return constant(quotedValue(form.form), form.span);
    case 'var':
      return analyzeSymbol(a, form.symbol, scope);
    case 'fn':
      return analyzeShortFn(a, form, scope);
    case 'vector':
    case 'map':
    case 'set':
      return analyzeLiteral(a, form, scope);
    case 'list': {
      const [head] = form.items;
      if (head?.kind === 'symbol') {
        const special = SPECIALS.get(head.name);
        const hidden = !FIRM.has(head.name) && isLocal(scope, head.name);
        if (special !== undefined && !hidden)
          return special(a, { items: form.items, scope, span: form.span, tail });
      }
      return analyzeCall(a, form.items, scope, form.span);
    }
  }
}

/**
 * What the patterns of a program may cost together to compile, in units of fuel; about half a
 * second.
 */
const MAX_REGEX_COST = 500_000;

/**
 * The cost is compared before a pattern is compiled and kept: reading it costs by its length, and
 * what its instructions cost is known only afterwards.
 */
function analyzeRegex(a: Analysis, source: string, span: Span): Node {
  const tooMany = 'The patterns of this program are too many or too large.';
  const known = a.regexes.get(source);
  if (known === undefined) {
    if (a.regexCost > MAX_REGEX_COST) return constant(null, span);
    a.regexCost += readCost(source.length);
    if (a.regexCost > MAX_REGEX_COST) return invalid(a, tooMany, span);
  }
  const made = known ?? compileRegex(source);
  if (known === undefined) {
    a.regexes.set(source, made);
    if (made.kind === 'regex') a.regexCost += regexSize(made.regex);
    if (a.regexCost > MAX_REGEX_COST) return invalid(a, tooMany, span);
  }
  if (made.kind === 'regex') return constant({ kind: 'regex', source, regex: made.regex }, span);
  return invalid(a, `This pattern does not compile: ${made.message}`, span);
}

function analyzeLiteral(
  a: Analysis,
  form: Form & { kind: 'vector' | 'map' | 'set' },
  scope: Scope,
): Node {
  const { kind, span } = form;
  if (kind !== 'vector') checkDuplicates(a, form.items, kind);
  const items = form.items.map((item) => a.analyze(item, scope, false));
  const elements = kind === 'map' ? items.length / 2 : items.length;
  return { kind, items, span, cost: 1 + elements + leafCount(items) };
}

function checkDuplicates(a: Analysis, items: readonly Form[], kind: 'map' | 'set'): void {
  const keys = items.filter((_, index) => kind === 'set' || index % 2 === 0);
  const seen: { value: Value; form: Form }[] = [];
  for (const form of keys) {
    const value = literalValue(form);
    if (value !== undefined) seen.push({ value, form });
  }
  const sorted = seen.toSorted(
    (x, y) => compareKeys(x.value, y.value, UNMETERED) || x.form.span.start - y.form.span.start,
  );
  for (const [index, entry] of sorted.entries()) {
    const before = sorted[index - 1];
    if (before === undefined || compareKeys(before.value, entry.value, UNMETERED) !== 0) continue;
    const message = `\`${shortText(entry.value)}\` appears twice in this ${kind}.`;
    problem(a, 'duplicate_key', message, entry.form.span);
  }
}

function analyzeQuote(a: Analysis, form: SpecialForm): Node {
  const { items, span } = form;
  const [, quoted] = items;
  if (quoted === undefined || items.length !== 2) return wrongShape(a, form, '(quote form)');
  return constant(quotedValue(quoted), span);
}

function analyzeAttempt(a: Analysis, { items, scope, span }: SpecialForm): Node {
  const [, body] = items;
  if (body === undefined || items.length !== 2) {
    const message = `\`attempt\` takes 1 argument, got ${items.length - 1}.`;
    return problem(a, 'arity_error', message, span);
  }
  return { kind: 'attempt', body: a.analyze(body, scope, false), span, cost: 1 };
}

function analyzeTask(a: Analysis, form: SpecialForm): Node {
  const { items, scope, span } = form;
  const [, idForm, bodyForm] = items;
  if (idForm === undefined || bodyForm === undefined || items.length !== 3) {
    return problem(a, 'arity_error', `\`task\` takes 2 arguments, got ${items.length - 1}.`, span);
  }
  const id = a.analyze(idForm, scope, false);
  const slot = newSlot(scope);
  const body = a.analyze(bodyForm, scope, false);
  return { kind: 'task', id, slot, body, span, cost: 1 + leafCount([id]) };
}
