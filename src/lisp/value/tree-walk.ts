/**
 * Walking maps and sets in the fixed order. Apart from `tree.ts`, since ordering keys needs it.
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

/** Keys or members in the fixed order; may be shared, treat it as read-only. Linear. */
export function treeKeys(tree: TreeMap | TreeSet): readonly Value[] {
  if (tree.root.kids === null) return tree.root.keys;
  const keys: Value[] = [];
  collect(tree.root, 'keys', keys);
  return keys;
}

/** Values in the order of their keys; may be shared, treat it as read-only. Linear. */
export function treeVals(tree: TreeMap): readonly Value[] {
  if (tree.root.kids === null) return tree.root.vals;
  const vals: Value[] = [];
  collect(tree.root, 'vals', vals);
  return vals;
}
