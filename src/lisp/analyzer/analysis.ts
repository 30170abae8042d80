/**
 * The state of one analysis, and the helpers that every family of forms uses.
 *
 * I1  The nodes of a program are made here and in the files that import this one; each node gets
 *     its cost when it is made, so both tiers charge the same fuel.
 * I2  A form with a problem becomes nil and its neighbours are still analyzed, so that one check
 *     finds all problems. A tree with a problem is never run.
 */
import type { Builtin } from '../value/value.ts';
import type { Json } from '../base/json.ts';
import type { CompiledRegex } from '../regex/regex.ts';
import { nearNames } from '../base/suggest.ts';
import type { ToolFace } from '../value/context.ts';
import type { Problem, Reason } from '../base/problem.ts';
import { headOf, type Form } from '../reader/form.ts';
import type { Span } from '../base/source.ts';
import type { Init, Node, FnCode } from '../ast/core-ast.ts';
import { constant, leafCount } from '../ast/node-parts.ts';
import type { Scope } from './scope.ts';

/** Greatest depth after expansion; it bounds every later recursion over the tree. */
export const MAX_NESTING = 400;

/** What a program may refer to. */
export interface World {
  readonly tools: readonly ToolFace[];
  /** Names that the agent has defined in earlier programs. */
  readonly memory: readonly string[];
  /** Keys of the context; a program that reads another key gets a warning. */
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

/** How often a program defines a name, and the arity of its value if that is known. */
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

/** The state of one analysis. */
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
  /** Nesting depth of the current form after macros such as `->` are expanded. */
  nesting: number;
  /** Counter for {@link freshName}. */
  fresh: number;
  /** How many suggestions the problems have, see {@link suggestion}. */
  suggestions: number;
  /**
   * Clauses of `cond` and `condp` around the current form, each of which nests in the one before.
   */
  clauses: number;
  /** Patterns that were compiled, by source, and what that cost. */
  readonly regexes: Map<string, CompiledRegex>;
  regexCost: number;
  /** Absent names that have been reported; each is reported once. */
  readonly reported: Set<string>;
  /** How many `pmap` branches enclose the current form. */
  parallel: number;
  readonly analyze: (form: Form, scope: Scope, tail: boolean) => Node;
}

/** A list whose head names a special form, or a body: its items and their place. */
export interface SpecialForm {
  readonly items: readonly Form[];
  readonly scope: Scope;
  readonly span: Span;
  /** Whether the value of the form is the value of its function or loop. */
  readonly tail: boolean;
}

/** The form with other items. Copied field by field: this runs for most forms of a program. */
export function withItems({ scope, span, tail }: SpecialForm, items: readonly Form[]): SpecialForm {
  return { items, scope, span, tail };
}

/** Records a problem. The form becomes nil. */
export function report(a: Analysis, found: Problem): Node {
  a.problems.push(found);
  return constant(null, found.span);
}

/** {@link report} for a problem without a hint. */
export function problem(a: Analysis, reason: Reason, message: string, span: Span): Node {
  return report(a, { reason, message, span });
}

/** {@link problem} with the most frequent reason. */
export function invalid(a: Analysis, message: string, span: Span): Node {
  return report(a, { reason: 'invalid_form', message, span });
}

/**
 * Records the wrong shape of a special form: `` `if` takes (if test then else?), got 4 forms. ``
 */
export function wrongShape(a: Analysis, { items, span }: SpecialForm, usage: string): Node {
  const count = items.length - 1;
  const forms = count === 1 ? '1 form' : `${count} forms`;
  return invalid(a, `\`${headOf(items)}\` takes ${usage}, got ${forms}.`, span);
}

/** All items as a body: an implicit `do`. */
export function analyzeBody(a: Analysis, { items, scope, span, tail }: SpecialForm): Node {
  const [only] = items;
  if (only === undefined) return constant(null, span);
  const last = items.length - 1;
  if (last === 0) return a.analyze(only, scope, tail);
  const body = items.map((item, index) => a.analyze(item, scope, tail && index === last));
  return { kind: 'do', body, span, cost: 0 };
}

/** A binding of `slot` to `value`. A binding with a name in the source costs one more. */
export function init(slot: number, value: Node, named: boolean): Init {
  return { slot, value, cost: (named ? 1 : 0) + leafCount([value]) };
}

/** `if`. */
export function ifNode(test: Node, chosen: Node, otherwise: Node, span: Span): Node {
  return { kind: 'if', test, chosen, otherwise, span, cost: 1 + leafCount([test]) };
}

/** `let`, or only its body when nothing is bound. */
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

/** A name for an intermediate value; programs cannot write it. */
export function freshName(a: Analysis, what: string): string {
  a.fresh += 1;
  return `${what}~${a.fresh}`;
}

/** A program has at most so many suggestions: more are not read, and each compares many names. */
const MAX_SUGGESTIONS = 20;

/**
 * ` Did you mean …?` for a name, or nothing; `names` are made only if they are needed, and shown
 * after `prefix`.
 */
export function suggestion(
  a: Analysis,
  name: string,
  names: () => Iterable<string>,
  prefix = '',
): string {
  if (a.suggestions >= MAX_SUGGESTIONS) return '';
  a.suggestions += 1;
  const near = nearNames(name, names()).map((one) => `\`${prefix}${one}\``);
  return near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
}
