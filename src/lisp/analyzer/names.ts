/**
 * Resolves symbols: to a local, a definition, a builtin, or a member of a namespace.
 *
 * I1  Locals come first, then definitions, then builtins.
 * I2  A form at top level sees only earlier definitions; a function sees those below it as well.
 * I3  An unknown name is reported at its place, with the nearest known names.
 */
import {
  bareNames,
  findBare,
  findMember,
  isNamespace,
  memberNames,
  NAMESPACES,
} from '../builtins/registry.ts';
import type { SymbolForm } from '../reader/form.ts';
import type { Span } from '../base/source.ts';
import { float, type Builtin, type Value } from '../value/value.ts';
import { absentHint } from './absent-names.ts';
import {
  builtinNode,
  invalid,
  localNode,
  problem,
  report,
  suggestion,
  type Analysis,
} from './analysis.ts';
import type { Node } from '../ast/core-ast.ts';
import { constant } from '../ast/node-parts.ts';
import { findLocal, isInsideShort, localNames, type Scope } from './scope.ts';

const CONSTANTS: ReadonlyMap<string, number> = new Map([
  ['Double/POSITIVE_INFINITY', Infinity],
  ['Double/NEGATIVE_INFINITY', -Infinity],
  ['Double/NaN', Number.NaN],
]);

/** The node of a symbol. With `orNil` (directly inside `or`) an unknown name is nil. */
export function analyzeSymbol(a: Analysis, form: SymbolForm, scope: Scope, orNil = false): Node {
  const { name, span } = form;
  const slot = findLocal(scope, name);
  if (slot !== undefined) return localNode(slot, name, span);
  if (name.startsWith('%')) {
    const what = isInsideShort(scope)
      ? `\`#( )\` has \`%\`, \`%1\` to \`%20\` and \`%&\``
      : `\`${name}\` has a meaning only inside \`#( )\``;
    return invalid(a, `${what}.`, span);
  }
  if (name === '&') return invalid(a, '`&` stands only in parameter vectors and patterns.', span);
  const slash = name.indexOf('/');
  if (slash > 0) return analyzeMember(a, form, name.slice(0, slash), name.slice(slash + 1));
  if (/^\*[123]$/.test(name)) return globalNode(name, form, null, true);
  const builtin = findBare(name) ?? null;
  if (isDefined(a, name, form, scope)) {
    return globalNode(name, form, builtin, orNil);
  }
  if (builtin !== null) return builtinValue(a, builtin, span);
  if (name.startsWith('.')) {
    const near = suggestion(a, name, () => bareNames().filter((one) => one.startsWith('.')));
    return invalid(a, `There is no method \`${name}\`.${near}`, span);
  }
  if (orNil) return globalNode(name, form, null, true);
  return unbound(a, form, scope);
}

/** A builtin as a value. `ask` is refused if the host does not support it. */
function builtinValue(a: Analysis, builtin: Builtin, span: Span): Node {
  if (builtin.name !== 'ask' || a.world.asking) return constant(builtin, span);
  return problem(a, 'unknown_tool', 'There is nobody to ask: `ask` is not available here.', span);
}

function globalNode(
  name: string,
  form: SymbolForm,
  fallback: ReturnType<typeof findBare> | null,
  orNil: boolean,
): Node {
  return {
    kind: 'global',
    name,
    fallback: fallback ?? null,
    orNil,
    cached: null,
    epoch: null,
    span: form.span,
    cost: 1,
  };
}

/** Whether a definition of `name` is visible here (I2). */
function isDefined(a: Analysis, name: string, form: SymbolForm, scope: Scope): boolean {
  if (a.memory.has(name)) return true;
  const definition = a.definitions.get(name);
  if (definition === undefined) return false;
  return scope.fn.outer !== null || definition.end <= form.span.start;
}

function unbound(a: Analysis, form: SymbolForm, scope: Scope): Node {
  const { name, span } = form;
  const tool = findTool(a.tools, name);
  if (tool !== undefined) {
    const message = `\`${name}\` is not defined. Did you mean \`tool/${tool}\`?`;
    return problem(a, 'unbound_var', message, span);
  }
  const hint = absentHint(name);
  if (hint !== undefined) {
    if (a.reported.has(name)) return constant(null, span);
    a.reported.add(name);
    const message = `\`${name}\` is not defined.`;
    return report(a, { reason: 'unbound_var', message, span, hint });
  }
  if (SPECIAL_NAMES.has(name)) {
    return invalid(a, `\`${name}\` is a special form: it can be called, not passed on.`, span);
  }
  const candidates = (): readonly string[] => [
    ...localNames(scope).filter((local) => !local.includes('~')),
    ...a.definitions.keys(),
    ...a.memory,
    ...bareNames(),
    ...SPECIAL_NAMES,
  ];
  const tools = (): readonly string[] => a.world.tools.map((one) => one.name);
  const near = suggestion(a, name, candidates) || suggestion(a, name, tools, 'tool/');
  return problem(a, 'unbound_var', `\`${name}\` is not defined.${near}`, span);
}

/** Heads of special forms. */
const SPECIAL_NAMES: ReadonlySet<string> = new Set(
  (
    'def defonce defn defn- declare fn let loop recur if if-not when when-not if-let when-let if-some when-some ' +
    'when-first cond case condp do comment and or -> ->> as-> cond-> cond->> some-> some->> for doseq dotimes ' +
    'quote attempt task'
  ).split(' '),
);

function analyzeMember(a: Analysis, form: SymbolForm, namespace: string, member: string): Node {
  const { name, span } = form;
  if (namespace === 'data') {
    warnUnknownData(a, member, form);
    return { kind: 'data', key: member, span, cost: 1 };
  }
  if (namespace === 'tool') return analyzeTool(a, form, member);
  const value = CONSTANTS.get(name);
  if (value !== undefined) return constant(float(value), span);
  const builtin = findMember(namespace, member);
  if (builtin !== undefined) {
    if (builtin.name === 'budget/remaining') return builtinNode(builtin, [], span);
    return builtinValue(a, builtin, span);
  }
  if (!isNamespace(namespace)) {
    const near = suggestion(a, namespace, () => NAMESPACES);
    const known = NAMESPACES.map((one) => `${one}`).join(', ');
    return invalid(
      a,
      `There is no namespace \`${namespace}/\`.${near} Namespaces: ${known}.`,
      span,
    );
  }
  const near = suggestion(a, member, () => memberNames(namespace), `${namespace}/`);
  return invalid(a, `\`${member}\` is not in \`${namespace}/\`.${near}`, span);
}

function warnUnknownData(a: Analysis, key: string, form: SymbolForm): void {
  const known = a.world.dataKeys;
  if (known === undefined) return;
  if (known.includes(key) || known.includes(key.replaceAll('-', '_'))) return;
  const near = suggestion(a, key, () => known);
  const message = `The context has no \`${key}\`: \`data/${key}\` is nil.${near}`;
  a.warnings.push({ reason: 'unbound_var', message, span: form.span });
}

/** The agent's name for the tool that a program calls `written`, or undefined. */
function findTool(tools: { has(name: string): boolean }, written: string): string | undefined {
  if (tools.has(written)) return written;
  const underscored = written.replaceAll('-', '_');
  return tools.has(underscored) ? underscored : undefined;
}

function analyzeTool(a: Analysis, form: SymbolForm, written: string): Node {
  const name = findTool(a.tools, written);
  if (name !== undefined) {
    const value: Value = { kind: 'tool', name };
    return constant(value, form.span);
  }
  const names = a.world.tools.map((tool) => tool.name);
  const list = names.length === 0 ? ' There are no tools.' : ` Tools: ${names.join(', ')}.`;
  const message = `There is no tool \`${written}\`.${suggestion(a, written, () => names)}${list}`;
  return problem(a, 'unknown_tool', message, form.span);
}
