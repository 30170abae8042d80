/**
 * Walks maps and sets in key order. It is a file of its own, since `order.ts` imports it and
 * `tree.ts` imports `order.ts`.
 */
import type { MapNode, TreeMap, TreeSet, Value } from './value.ts';

function collect(node: MapNode, what: 'keys' | 'vals', into: Value[]): void {
  if (node.kids === null) {
    const items = node[what];
    for (let index = 0; index < items.length; index++) into.push(items[index] as Value);
    return;
  }
  for (const kid of node.kids) collect(kid, what, into);
}

/** The keys or members in key order, as a shared array. Linear. */
export function treeKeys(tree: TreeMap | TreeSet): readonly Value[] {
  if (tree.root.kids === null) return tree.root.keys;
  const keys: Value[] = [];
  collect(tree.root, 'keys', keys);
  return keys;
}

/** The values in the order of their keys, as a shared array. Linear. */
export function treeVals(tree: TreeMap): readonly Value[] {
  if (tree.root.kids === null) return tree.root.vals;
  const vals: Value[] = [];
  collect(tree.root, 'vals', vals);
  return vals;
}
