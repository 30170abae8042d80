/**
 * Walks maps and sets in key order. It is a file of its own, since `order.ts` imports it and
 * `tree.ts` imports `order.ts`.
 */
import type { MapNode, TreeMap, TreeSet, Value } from './value.ts';

/** Adds the first `most` keys or values below `node` to those in `into`. */
function collect(node: MapNode, what: 'keys' | 'vals', into: Value[], most: number): void {
  if (node.kids === null) {
    const items = node[what];
    for (let index = 0; index < items.length && into.length < most; index++) {
      into.push(items[index] as Value);
    }
    return;
  }
  for (const kid of node.kids) {
    if (into.length >= most) return;
    collect(kid, what, into, most);
  }
}

/** The keys or members in key order, the first `most`, as a shared array. Linear in them. */
export function treeKeys(tree: TreeMap | TreeSet, most: number = tree.count): readonly Value[] {
  if (tree.root.kids === null && most >= tree.count) return tree.root.keys;
  const keys: Value[] = [];
  collect(tree.root, 'keys', keys, most);
  return keys;
}

/** The values in the order of their keys, the first `most`, as a shared array. Linear in them. */
export function treeVals(tree: TreeMap, most: number = tree.count): readonly Value[] {
  if (tree.root.kids === null && most >= tree.count) return tree.root.vals;
  const vals: Value[] = [];
  collect(tree.root, 'vals', vals, most);
  return vals;
}

/** A place in a tree: entry `at` of `leaf`, which is past the end when the leaf has none there. */
export interface TreeCursor {
  leaf: MapNode;
  at: number;
  /** The branches above, and the next kid of each. */
  readonly above: MapNode[];
  readonly next: number[];
}

/** A cursor at the first entry of a tree. */
export function cursorOf(tree: TreeMap | TreeSet): TreeCursor {
  const cursor: TreeCursor = { leaf: tree.root, at: 0, above: [], next: [] };
  descend(cursor);
  return cursor;
}

function descend(cursor: TreeCursor): void {
  while (cursor.leaf.kids !== null) {
    cursor.above.push(cursor.leaf);
    cursor.next.push(1);
    cursor.leaf = cursor.leaf.kids[0] as MapNode;
  }
}

/** Moves on by one entry. */
export function moveOn(cursor: TreeCursor): void {
  cursor.at += 1;
  if (cursor.at < cursor.leaf.keys.length) return;
  const { above, next } = cursor;
  for (let level = above.length - 1; level >= 0; level--) {
    const kid = above[level]?.kids?.[next[level] as number];
    if (kid !== undefined) {
      next[level] = (next[level] as number) + 1;
      cursor.leaf = kid;
      cursor.at = 0;
      descend(cursor);
      return;
    }
    above.pop();
    next.pop();
  }
}
