/**
 * Compiles the core tree to nested JavaScript closures: the fast tier.
 *
 * I1  Closures are made from nodes, never from text; nothing is evaluated.
 * I2  A node pays the same fuel as its instruction on the machine, at the same point: after its
 *     operands, before it acts.
 * I3  `recur` and tail calls return a mark to their caller, so they use no JavaScript stack.
 * I4  Only code that is free of effects runs here, so nothing ever waits.
 * I5  Closures stay small and read `L` (locals) and `c` (context) directly: this is the hot path.
 */
import { slots as newSlots } from '../value/slots.ts';
import type { FnCode, Node, NodeOf } from '../ast/core-ast.ts';
import { isLeaf } from '../ast/node-parts.ts';
import { closureOf, literalOf, matchCase, readData, readGlobal } from './node-values.ts';
import { partOf } from './parts.ts';
import { spend, type CompiledNode } from '../value/context.ts';
import type { Span } from '../base/source.ts';
import { type Value, truthy } from '../value/value.ts';
import { EMPTY_MAP, mapOf } from '../value/tree.ts';
import { compileArithmetic } from './arithmetic.ts';
import { compileFor } from './for-loops.ts';
import { compileInits, compileLoop, compileRecur, RECUR } from './loops.ts';
import { operandOf, read, type Operand } from './operand.ts';
import { drive, enterFrame, invoke, standsForCall, TAIL, unfoldCall } from './invoke.ts';

/** The compiled code of a whole function. */
export function compileRun(code: FnCode): CompiledNode {
  const body = compileValue(code.body);
  if (!hasFnRecur(code.body)) return body;
  return (L, c) => {
    for (;;) {
      const value = body(L, c);
      if (value !== RECUR) return value;
    }
  };
}

function hasFnRecur(node: Node): boolean {
  switch (node.kind) {
    case 'recur':
      return node.ofFn;
    case 'if':
      return hasFnRecur(node.chosen) || hasFnRecur(node.otherwise);
    case 'let':
      return hasFnRecur(node.body);
    case 'do':
      return node.body.some(hasFnRecur);
    case 'and':
    case 'or':
      return node.items.some(hasFnRecur);
    case 'case':
      return (
        node.clauses.some((clause) => hasFnRecur(clause.body)) ||
        (node.otherwise !== null && hasFnRecur(node.otherwise))
      );
    default:
      return false;
  }
}

/** `node` as an operand. If it is a leaf, the node that uses it pays for it. */
function compileOperand(node: Node): Operand {
  return operandOf(node, compileValue);
}

/** `node` as code that is not an operand: here a leaf pays for itself. */
export function compileValue(node: Node): CompiledNode {
  const { span, cost } = node;
  switch (node.kind) {
    case 'const':
    case 'local':
      return compileLeaf(node);
    case 'global':
      return (_L, c) => {
        spend(c, cost, span);
        return node.epoch === c.epoch ? node.cached : readGlobal(c, node);
      };
    case 'data':
      return (_L, c) => {
        spend(c, cost, span);
        return readData(c, node.key);
      };
    case 'fn':
      return (L, c) => {
        spend(c, cost, span);
        return closureOf(node.code, L);
      };
    case 'if':
      return compileIf(node);
    case 'do':
      return compileDo(node.body);
    case 'let':
      return compileLet(node);
    case 'loop':
      return compileLoop(node, compileValue);
    case 'recur':
      return compileRecur(node, compileValue);
    case 'call':
      return compileCall(node);
    case 'builtin':
      return compileBuiltin(node);
    case 'vector':
    case 'map':
    case 'set':
      return compileLiteral(node);
    case 'and':
    case 'or':
      return compileLogic(node.kind, node.items, span);
    case 'case':
      return compileCase(node);
    case 'for':
      return compileFor(node, compileOperand);
    case 'attempt':
      return compileAttempt(node);
    case 'part':
      return compilePart(node);
    case 'def':
    case 'task':
      // These are never free of effects, so this code never runs.
      return () => EMPTY_MAP;
  }
}

const OK: Value = Object.freeze({ kind: 'keyword', name: 'ok' });

function compileLeaf(node: NodeOf<'const' | 'local'>): CompiledNode {
  const { span } = node;
  if (node.kind === 'const') {
    const { value } = node;
    return (_L, c) => {
      spend(c, 1, span);
      return value;
    };
  }
  const { slot } = node;
  return (L, c) => {
    spend(c, 1, span);
    return L[slot] as Value;
  };
}

function compileLiteral({
  kind,
  items,
  cost,
  span,
}: NodeOf<'vector' | 'map' | 'set'>): CompiledNode {
  const operands = items.map(compileOperand);
  return (L, c) => {
    const values: Value[] = [];
    for (let index = 0; index < operands.length; index++)
      values.push(read(operands[index] as Operand, L, c));
    spend(c, cost, span);
    return literalOf(c, kind, values, span);
  };
}

function compileCase(node: NodeOf<'case'>): CompiledNode {
  const { cost, span } = node;
  const subject = compileOperand(node.value);
  const bodies = node.clauses.map((clause) => compileValue(clause.body));
  const otherwise = node.otherwise === null ? null : compileValue(node.otherwise);
  return (L, c) => {
    const value = read(subject, L, c);
    spend(c, cost, span);
    const chosen = matchCase(c, node, value);
    return chosen < 0 ? (otherwise as CompiledNode)(L, c) : (bodies[chosen] as CompiledNode)(L, c);
  };
}

/** Only tool calls fail in a way that `attempt` recovers from, and there are none in here (I4). */
function compileAttempt(node: NodeOf<'attempt'>): CompiledNode {
  const { cost, span } = node;
  const body = compileValue(node.body);
  return (L, c) => {
    spend(c, cost, span);
    return mapOf([OK], [body(L, c)], c);
  };
}

function compilePart(node: NodeOf<'part'>): CompiledNode {
  const { cost, span } = node;
  const source = compileOperand(node.source);
  return (L, c) => {
    const value = read(source, L, c);
    spend(c, cost, span);
    c.at = span;
    return partOf(c, node, value);
  };
}

function compileIf(node: NodeOf<'if'>): CompiledNode {
  const { cost, span } = node;
  const t = compileOperand(node.test);
  const a = compileValue(node.chosen);
  const b = compileValue(node.otherwise);
  return (L, c) => {
    const value = read(t, L, c);
    if ((c.fuel -= cost) < 0) spend(c, 0, span);
    return value !== null && value !== false ? a(L, c) : b(L, c);
  };
}

function compileDo(nodes: readonly Node[]): CompiledNode {
  const runs = nodes.map(compileValue);
  const last = runs.length - 1;
  return (L, c) => {
    for (let index = 0; index < last; index++) (runs[index] as CompiledNode)(L, c);
    return (runs[last] as CompiledNode)(L, c);
  };
}

function compileLet(node: NodeOf<'let'>): CompiledNode {
  let body = compileValue(node.body);
  // A few bindings become nested closures, innermost first. Each costs less than a pass of a loop.
  if (node.inits.length <= 4) {
    for (const { slot, value, cost } of node.inits.toReversed()) {
      const init = compileOperand(value);
      const rest = body;
      const { span } = value;
      body = (L, c) => {
        const bound = read(init, L, c);
        if ((c.fuel -= cost) < 0) spend(c, 0, span);
        L[slot] = bound;
        return rest(L, c);
      };
    }
    return body;
  }
  const inits = compileInits(node.inits, compileValue);
  return (L, c) => {
    inits(L, c);
    return body(L, c);
  };
}

function compileCall(node: NodeOf<'call'>): CompiledNode {
  const { span, cost, tail } = node;
  const callee = compileOperand(node.fn);
  const args = node.args.map(compileOperand);
  const count = args.length;
  if (tail) {
    return (L, c) => {
      const fn = read(callee, L, c);
      const values: Value[] = [];
      for (let index = 0; index < count; index++) values.push(read(args[index] as Operand, L, c));
      spend(c, cost, span);
      if (standsForCall(fn)) unfoldCall(c, fn, values, span);
      else {
        c.tailFn = fn;
        c.tailArgs = values;
      }
      c.at = span;
      return isClosure(c.tailFn) ? TAIL : invoke(c, c.tailFn, c.tailArgs, span);
    };
  }
  const closureCost = cost + 2 + count;
  return (L, c) => {
    const fn = read(callee, L, c);
    if (typeof fn === 'object' && fn !== null && fn.kind === 'closure') {
      const { code } = fn;
      if (code.params === count && !code.rest) {
        const frame = newSlots<Value>(code.slots);
        for (let index = 0; index < count; index++)
          frame[index] = read(args[index] as Operand, L, c);
        if ((c.fuel -= closureCost) < 0) spend(c, 0, span);
        const { captures } = code;
        for (let index = 0; index < captures.length; index++) {
          const capture = captures[index];
          if (capture !== undefined) frame[capture.slot] = fn.env[index] as Value;
        }
        if (code.self >= 0) frame[code.self] = fn;
        return enterFrame(c, fn, frame, span);
      }
    }
    const values: Value[] = [];
    for (let index = 0; index < count; index++) values.push(read(args[index] as Operand, L, c));
    spend(c, cost, span);
    return invoke(c, fn, values, span);
  };
}

function isClosure(value: Value): boolean {
  return typeof value === 'object' && value !== null && value.kind === 'closure';
}

function compileBuiltin(node: NodeOf<'builtin'>): CompiledNode {
  const quick = compileArithmetic(node, compileOperand);
  if (quick !== null) return quick;
  const { span, cost, builtin } = node;
  const { work } = builtin;
  const args = node.args.map(compileOperand);
  const [first, second] = args;
  if (work.kind !== 'plain') {
    return (L, c) => {
      const values: Value[] = [];
      for (let index = 0; index < args.length; index++)
        values.push(read(args[index] as Operand, L, c));
      spend(c, cost, span);
      return drive(c, builtin, values, span);
    };
  }
  if (args.length === 1 && first !== undefined) {
    return (L, c) => {
      const values = [read(first, L, c)];
      if ((c.fuel -= cost) < 0) spend(c, 0, span);
      c.at = span;
      c.callee = builtin;
      return work.run(c, values);
    };
  }
  if (args.length === 2 && first !== undefined && second !== undefined) {
    return (L, c) => {
      const values = [read(first, L, c), read(second, L, c)];
      if ((c.fuel -= cost) < 0) spend(c, 0, span);
      c.at = span;
      c.callee = builtin;
      return work.run(c, values);
    };
  }
  return (L, c) => {
    const values: Value[] = [];
    for (let index = 0; index < args.length; index++)
      values.push(read(args[index] as Operand, L, c));
    spend(c, cost, span);
    c.at = span;
    c.callee = builtin;
    return work.run(c, values);
  };
}

function compileLogic(kind: 'and' | 'or', items: readonly Node[], span: Span): CompiledNode {
  const tests = items.slice(0, -1).map((item) => ({
    value: compileOperand(item),
    cost: 1 + (isLeaf(item) ? 1 : 0),
  }));
  const last = compileValue(items[items.length - 1] as Node);
  const deciding = kind === 'or';
  return (L, c) => {
    for (let index = 0; index < tests.length; index++) {
      const test = tests[index];
      if (test === undefined) break;
      const value = read(test.value, L, c);
      spend(c, test.cost, span);
      if (truthy(value) === deciding) return value;
    }
    return last(L, c);
  };
}
