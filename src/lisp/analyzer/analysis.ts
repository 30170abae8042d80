/**
 * The state of one analysis, and what every family of forms needs from it.
 */
import type { Builtin } from '../value/value.ts';
import type { Json } from '../base/json.ts';
import type { ToolFace } from '../value/context.ts';
import type { Problem, Reason } from '../base/problem.ts';
import type { Form } from '../reader/form.ts';
import type { Span } from '../base/source.ts';
import { constant, leafCount, type Init, type Node, type FnCode } from '../ast/core-ast.ts';
import type { Scope } from './scope.ts';

/** What a program may refer to. */
export interface World {
  readonly tools: readonly ToolFace[];
  /** Names that the agent has defined in earlier programs. */
  readonly memory: readonly string[];
  /** Keys of the context, for warnings. */
  readonly dataKeys?: readonly string[];
  /** Whether `(ask …)` is allowed. */
  readonly asking: boolean;
}

/** A literal value in the arguments of a tool call, for the host to check against the schema. */
export interface LiteralArgument {
  readonly tool: string;
  readonly path: readonly (string | number)[];
  readonly value: Json;
  readonly span: Span;
}

/** How often a program defines a name, and what arity it has if that is known. */
export interface Definition {
  count: number;
  /** The offset where the first definition ends: the text after it knows the name. */
  readonly end: number;
  readonly arity: {
    readonly params: number;
    readonly rest: boolean;
    readonly signature: string;
  } | null;
}

/** One analysis under way. */
export interface Analysis {
  readonly programId: string;
  readonly world: World;
  readonly tools: ReadonlyMap<string, ToolFace>;
  readonly memory: ReadonlySet<string>;
  readonly definitions: ReadonlyMap<string, Definition>;
  readonly problems: Problem[];
  readonly warnings: Problem[];
  readonly literals: LiteralArgument[];
  /** Every function of the program by the offset of its opening delimiter. */
  readonly codes: Map<number, FnCode>;
  /** How deep the form at hand is nested once abbreviations are spelled out. */
  nesting: number;
  /** Numbers for names that no program can write. */
  fresh: number;
  /** Names of the absent that were reported, so that each is reported once. */
  readonly reported: Set<string>;
  /** How many `pmap` branches enclose the form at hand. */
  parallel: number;
  readonly analyze: (form: Form, scope: Scope, tail: boolean) => Node;
}

/** Records a problem and stands in nil for the form. */
export function problem(
  a: Analysis,
  reason: Reason,
  message: string,
  span: Span,
  hint?: string,
): Node {
  a.problems.push(hint === undefined ? { reason, message, span } : { reason, message, span, hint });
  return constant(null, span);
}

/** Records the wrong shape of a special form: `` `if` takes (if test then else?), got 4 forms. `` */
export function wrongShape(
  a: Analysis,
  name: string,
  usage: string,
  count: number,
  span: Span,
): Node {
  const forms = count === 1 ? '1 form' : `${count} forms`;
  return problem(a, 'invalid_form', `\`${name}\` takes ${usage}, got ${forms}.`, span);
}

/** The forms as a body: an implicit `do`. */
export function analyzeBody(
  a: Analysis,
  forms: readonly Form[],
  scope: Scope,
  tail: boolean,
  span: Span,
): Node {
  const [only] = forms;
  if (only === undefined) return constant(null, span);
  if (forms.length === 1) return a.analyze(only, scope, tail);
  const body = forms.map((form, index) =>
    a.analyze(form, scope, tail && index === forms.length - 1),
  );
  return { kind: 'do', body, span, cost: 0 };
}

/** A binding of `slot` to `value`; `named` ones pay for the name. */
export function init(slot: number, value: Node, named: boolean): Init {
  return { slot, value, cost: (named ? 1 : 0) + leafCount([value]) };
}

/** `if`. */
export function ifNode(test: Node, chosen: Node, otherwise: Node, span: Span): Node {
  return { kind: 'if', test, chosen, otherwise, span, cost: 1 + leafCount([test]) };
}

/** `let`, or its body alone when nothing is bound. */
export function letNode(inits: readonly Init[], body: Node, span: Span): Node {
  return inits.length === 0 ? body : { kind: 'let', inits, body, span, cost: 0 };
}

/** A read of `slot`. */
export function localNode(slot: number, name: string, span: Span): Node {
  return { kind: 'local', slot, name, span, cost: 1 };
}

/** A call of a builtin that is known to take these arguments. */
export function builtinNode(builtin: Builtin, args: readonly Node[], span: Span): Node {
  return { kind: 'builtin', builtin, args, span, cost: 1 + leafCount(args), tail: false };
}

/** A name for a value that has none, which no program can write. */
export function freshName(a: Analysis, what: string): string {
  a.fresh += 1;
  return `${what}~${a.fresh}`;
}
