/**
 * Compiled code of `for`, `doseq` and `dotimes`.
 *
 * I1  Levels are nested as written; the rightmost binding changes fastest.
 * I2  An item costs 1 before its modifiers run, on both tiers.
 */
import { endsEarly, type Node, type NodeOf } from '../ast/core-ast.ts';
import { isLeaf } from '../ast/node-parts.ts';
import { checkCount, spend, type Context, type CompiledNode } from '../value/context.ts';
import { walkItems } from './node-values.ts';
import { isVector, type Value } from '../value/value.ts';
import { vectorAt, vectorCount, vectorOf } from '../value/vector.ts';
import { read, type Operand } from './operand.ts';

const NO_ITEMS: readonly Value[] = Object.freeze([]);

/** Walks one level and adds the values of the body to `out`. */
type Level = (L: Value[], c: Context, out: Value[]) => void;

/** Compiled code of a `for`, `doseq` or `dotimes`. */
export function compileFor(node: NodeOf<'for'>, operand: (node: Node) => Operand): CompiledNode {
  const { cost, span, gather } = node;
  const walk = compileLevel(node, 0, operand);
  return (L, c) => {
    spend(c, cost, span);
    const out: Value[] = [];
    walk(L, c, out);
    return gather < 0 ? null : vectorOf(out);
  };
}

function compileLevel(node: NodeOf<'for'>, at: number, operand: (node: Node) => Operand): Level {
  const level = node.levels[at];
  const { span, gather } = node;
  if (level === undefined) {
    const body = operand(node.body);
    const cost = isLeaf(node.body) ? 1 : 0;
    return (L, c, out) => {
      const value = read(body, L, c);
      spend(c, cost, span);
      if (gather < 0) return;
      c.at = span;
      checkCount(c, out.length + 1);
      out.push(value);
    };
  }
  const source = operand(level.source);
  const sourceCost = isLeaf(level.source) ? 1 : 0;
  const modifiers = level.modifiers.map((modifier) =>
    modifier.kind === 'let'
      ? {
          kind: 'let' as const,
          value: operand(modifier.init.value),
          slot: modifier.init.slot,
          cost: modifier.init.cost,
          span: modifier.init.value.span,
        }
      : {
          kind: modifier.kind,
          value: operand(modifier.test),
          slot: -1,
          cost: modifier.cost,
          span: modifier.test.span,
        },
  );
  const inside = compileLevel(node, at + 1, operand);
  const { item } = level;
  const early = endsEarly(level);
  return (L, c, out) => {
    const value = read(source, L, c);
    spend(c, sourceCost, span);
    c.at = span;
    const vector = early && isVector(value) ? value : null;
    const items = vector === null ? walkItems(c, value, node.counts, early) : NO_ITEMS;
    const count = vector === null ? items.length : vectorCount(vector);
    walking: for (let index = 0; index < count; index++) {
      spend(c, 1, span);
      L[item] = vector === null ? (items[index] as Value) : vectorAt(vector, index);
      for (let step = 0; step < modifiers.length; step++) {
        const modifier = modifiers[step];
        if (modifier === undefined) break;
        const result = read(modifier.value, L, c);
        spend(c, modifier.cost, modifier.span);
        if (modifier.kind === 'let') L[modifier.slot] = result;
        else if (result === null || result === false) {
          if (modifier.kind === 'while') break walking;
          continue walking;
        }
      }
      inside(L, c, out);
    }
  };
}
