/**
 * Compiled code of frequent arithmetic. For small integers no builtin is called.
 *
 * I1  Result, fuel and failures are those of the builtin. All other operands go to the builtin.
 * I2  One closure for each operator, written out: this is the hottest code of the language.
 */
import type { Node, NodeOf } from '../ast/core-ast.ts';
import { spend, type Context, type CompiledNode } from '../value/context.ts';
import { read, type Operand } from './operand.ts';
import type { Span } from '../base/source.ts';
import type { Value, Builtin } from '../value/value.ts';

const MAX = Number.MAX_SAFE_INTEGER;

/** Calls the builtin itself, for all other operands. */
function slow(c: Context, builtin: Builtin, args: readonly Value[], span: Span): Value {
  c.at = span;
  c.callee = builtin;
  return builtin.work.kind === 'plain' ? builtin.work.run(c, args) : null;
}

/** Code for `+ - * < > <= >= = mod inc dec` and a few tests; null for every other builtin. */
export function compileArithmetic(
  node: NodeOf<'builtin'>,
  operand: (node: Node) => Operand,
): CompiledNode | null {
  const [first, second] = node.args;
  if (first !== undefined && node.args.length === 1) return compileUnary(node, operand(first));
  if (first === undefined || second === undefined || node.args.length !== 2) return null;
  if (first.kind === 'local' && second.kind === 'const' && typeof second.value === 'number') {
    const quick = compileWithConstant(node, first.slot, second.value);
    if (quick !== null) return quick;
  }
  return compileBinary(node, operand(first), operand(second));
}

/** An operation on a local and a constant, the usual way in which loops count and compare. */
function compileWithConstant(
  node: NodeOf<'builtin'>,
  slot: number,
  b: number,
): CompiledNode | null {
  const { builtin, cost, span } = node;
  switch (builtin.name) {
    case '+':
    case '-': {
      const by = builtin.name === '+' ? b : -b;
      return (L, c) => {
        const a = L[slot] as Value;
        if ((c.fuel -= cost) < 0) spend(c, 0, span);
        if (typeof a === 'number') {
          const sum = a + by;
          if (sum <= MAX && sum >= -MAX) return sum;
        }
        return slow(c, builtin, [a, b], span);
      };
    }
    case '<':
      return (L, c) => {
        const a = L[slot] as Value;
        if ((c.fuel -= cost) < 0) spend(c, 0, span);
        return typeof a === 'number' ? a < b : slow(c, builtin, [a, b], span);
      };
    case '>':
      return (L, c) => {
        const a = L[slot] as Value;
        if ((c.fuel -= cost) < 0) spend(c, 0, span);
        return typeof a === 'number' ? a > b : slow(c, builtin, [a, b], span);
      };
    case '=':
      return (L, c) => {
        const a = L[slot] as Value;
        if ((c.fuel -= cost) < 0) spend(c, 0, span);
        return typeof a === 'number' ? a === b : slow(c, builtin, [a, b], span);
      };
    default:
      return null;
  }
}

function compileUnary(node: NodeOf<'builtin'>, x: Operand): CompiledNode | null {
  const { builtin, cost, span } = node;
  switch (builtin.name) {
    case 'inc':
      return (L, c) => {
        const a = read(x, L, c);
        if ((c.fuel -= cost) < 0) spend(c, 0, span);
        return typeof a === 'number' && a < MAX ? a + 1 : slow(c, builtin, [a], span);
      };
    case 'dec':
      return (L, c) => {
        const a = read(x, L, c);
        if ((c.fuel -= cost) < 0) spend(c, 0, span);
        return typeof a === 'number' && a > -MAX ? a - 1 : slow(c, builtin, [a], span);
      };
    case 'zero?':
      return (L, c) => {
        const a = read(x, L, c);
        if ((c.fuel -= cost) < 0) spend(c, 0, span);
        return typeof a === 'number' ? a === 0 : slow(c, builtin, [a], span);
      };
    case 'nil?':
      return (L, c) => {
        const a = read(x, L, c);
        if ((c.fuel -= cost) < 0) spend(c, 0, span);
        return a === null;
      };
    case 'not':
      return (L, c) => {
        const a = read(x, L, c);
        if ((c.fuel -= cost) < 0) spend(c, 0, span);
        return a === null || a === false;
      };
    default:
      return null;
  }
}

function compileBinary(node: NodeOf<'builtin'>, x: Operand, y: Operand): CompiledNode | null {
  const { builtin, cost, span } = node;
  switch (builtin.name) {
    case '+':
      return (L, c) => {
        const a = read(x, L, c);
        const b = read(y, L, c);
        if ((c.fuel -= cost) < 0) spend(c, 0, span);
        if (typeof a === 'number' && typeof b === 'number') {
          const sum = a + b;
          if (sum <= MAX && sum >= -MAX) return sum;
        }
        return slow(c, builtin, [a, b], span);
      };
    case '-':
      return (L, c) => {
        const a = read(x, L, c);
        const b = read(y, L, c);
        if ((c.fuel -= cost) < 0) spend(c, 0, span);
        if (typeof a === 'number' && typeof b === 'number') {
          const difference = a - b;
          if (difference <= MAX && difference >= -MAX) return difference;
        }
        return slow(c, builtin, [a, b], span);
      };
    case '*':
      return (L, c) => {
        const a = read(x, L, c);
        const b = read(y, L, c);
        if ((c.fuel -= cost) < 0) spend(c, 0, span);
        if (typeof a === 'number' && typeof b === 'number') {
          const product = a * b;
          if (product <= MAX && product >= -MAX) return product + 0;
        }
        return slow(c, builtin, [a, b], span);
      };
    case 'mod':
      return (L, c) => {
        const a = read(x, L, c);
        const b = read(y, L, c);
        if ((c.fuel -= cost) < 0) spend(c, 0, span);
        if (typeof a === 'number' && typeof b === 'number') {
          // The engine divides 32-bit integers itself; for other numbers it calls a function.
          const whole = a | 0;
          const divisor = b | 0;
          if (whole === a && divisor === b && whole >= 0 && divisor > 0) return whole % divisor;
        }
        return slow(c, builtin, [a, b], span);
      };
    default:
      return compileComparison(node, x, y);
  }
}

function compileComparison(node: NodeOf<'builtin'>, x: Operand, y: Operand): CompiledNode | null {
  const { builtin, cost, span } = node;
  switch (builtin.name) {
    case '<':
      return (L, c) => {
        const a = read(x, L, c);
        const b = read(y, L, c);
        if ((c.fuel -= cost) < 0) spend(c, 0, span);
        if (typeof a === 'number' && typeof b === 'number') return a < b;
        return slow(c, builtin, [a, b], span);
      };
    case '>':
      return (L, c) => {
        const a = read(x, L, c);
        const b = read(y, L, c);
        if ((c.fuel -= cost) < 0) spend(c, 0, span);
        if (typeof a === 'number' && typeof b === 'number') return a > b;
        return slow(c, builtin, [a, b], span);
      };
    case '<=':
      return (L, c) => {
        const a = read(x, L, c);
        const b = read(y, L, c);
        if ((c.fuel -= cost) < 0) spend(c, 0, span);
        if (typeof a === 'number' && typeof b === 'number') return a <= b;
        return slow(c, builtin, [a, b], span);
      };
    case '>=':
      return (L, c) => {
        const a = read(x, L, c);
        const b = read(y, L, c);
        if ((c.fuel -= cost) < 0) spend(c, 0, span);
        if (typeof a === 'number' && typeof b === 'number') return a >= b;
        return slow(c, builtin, [a, b], span);
      };
    case '=':
      return (L, c) => {
        const a = read(x, L, c);
        const b = read(y, L, c);
        if ((c.fuel -= cost) < 0) spend(c, 0, span);
        if (typeof a === 'number' && typeof b === 'number') return a === b;
        return slow(c, builtin, [a, b], span);
      };
    default:
      return null;
  }
}
