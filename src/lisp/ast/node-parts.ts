/** The parts of nodes: leaves, constants, children. */
import type { Span } from '../base/source.ts';
import type { Value } from '../value/value.ts';
import type { Node, NodeOf } from './core-ast.ts';

/** Whether a node is a leaf (I1 of core-ast.ts). */
export function isLeaf(node: Node): node is NodeOf<'const' | 'local'> {
  return node.kind === 'const' || node.kind === 'local';
}

/** The number of leaves: the fuel that an operator pays for them. */
export function leafCount(nodes: readonly Node[]): number {
  let count = 0;
  for (const node of nodes) if (isLeaf(node)) count += 1;
  return count;
}

/** A constant node. */
export function constant(value: Value, span: Span): NodeOf<'const'> {
  return { kind: 'const', value, span, cost: 1 };
}

/** The children of a node in the order of evaluation; bodies of functions are left out. */
export function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'const':
    case 'local':
    case 'global':
    case 'data':
    case 'fn':
      return [];
    case 'if':
      return [node.test, node.chosen, node.otherwise];
    case 'do':
      return node.body;
    case 'let':
    case 'loop':
      return [...node.inits.map((init) => init.value), node.body];
    case 'recur':
    case 'builtin':
      return node.args;
    case 'call':
      return [node.fn, ...node.args];
    case 'vector':
    case 'map':
    case 'set':
    case 'and':
    case 'or':
      return node.items;
    case 'def':
      return [node.value];
    case 'case': {
      const bodies = node.clauses.map((clause) => clause.body);
      return [node.value, ...bodies, ...(node.otherwise === null ? [] : [node.otherwise])];
    }
    case 'for': {
      const parts = node.levels.flatMap((level) => [
        level.source,
        ...level.modifiers.map((m) => (m.kind === 'let' ? m.init.value : m.test)),
      ]);
      return [...parts, node.body];
    }
    case 'attempt':
      return [node.body];
    case 'task':
      return [node.id, node.body];
    case 'part':
      return [node.source];
  }
}
