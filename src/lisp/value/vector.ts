/**
 * Persistent vectors, after Clojure's PersistentVector: a trie of 32-way nodes, and the last up to
 * 32 elements in a separate tail. `rest` shares all nodes and increases `start`.
 */
import type { Value, Vector, VectorNode } from './value.ts';

const BITS = 5;
const WIDTH = 32;
const MASK = 31;

const NO_VALUES: readonly Value[] = Object.freeze([]);
const NO_NODES: readonly VectorNode[] = Object.freeze([]);
const EMPTY_NODE: VectorNode = Object.freeze({ items: NO_VALUES, kids: NO_NODES });

/** The vector without elements. */
export const EMPTY_VECTOR: Vector = Object.freeze({
  kind: 'vector',
  start: 0,
  end: 0,
  shift: BITS,
  root: EMPTY_NODE,
  tail: NO_VALUES,
});

function vector(
  start: number,
  end: number,
  shift: number,
  root: VectorNode,
  tail: readonly Value[],
): Vector {
  return { kind: 'vector', start, end, shift, root, tail };
}

function leaf(items: readonly Value[]): VectorNode {
  return { items, kids: NO_NODES };
}

function branch(kids: readonly VectorNode[]): VectorNode {
  return { items: NO_VALUES, kids };
}

/** A vector of `items`; the array must not be changed afterwards. Linear. */
export function vectorOf(items: readonly Value[]): Vector {
  const count = items.length;
  if (count === 0) return EMPTY_VECTOR;
  if (count <= WIDTH) return vector(0, count, BITS, EMPTY_NODE, items);
  const tailStart = (count - 1) & ~MASK;
  let level: VectorNode[] = [];
  for (let at = 0; at < tailStart; at += WIDTH) level.push(leaf(items.slice(at, at + WIDTH)));
  let shift = BITS;
  while (level.length > WIDTH) {
    const above: VectorNode[] = [];
    for (let at = 0; at < level.length; at += WIDTH)
      above.push(branch(level.slice(at, at + WIDTH)));
    level = above;
    shift += BITS;
  }
  return vector(0, count, shift, branch(level), items.slice(tailStart));
}

/** The number of elements. */
export function vectorCount(v: Vector): number {
  return v.end - v.start;
}

function tailOffset(v: Vector): number {
  return v.end - v.tail.length;
}

/** The up to 32 items that contain trie position `at`. */
function chunkAt(v: Vector, at: number): readonly Value[] {
  if (at >= tailOffset(v)) return v.tail;
  let node = v.root;
  for (let level = v.shift; level > 0; level -= BITS) {
    node = node.kids[(at >>> level) & MASK] as VectorNode;
  }
  return node.items;
}

/** The element at `index`, an integer from 0 to the count less one. */
export function vectorAt(v: Vector, index: number): Value {
  const at = v.start + index;
  const chunk = chunkAt(v, at);
  return chunk[at & MASK] as Value;
}

/** The elements as an array, which may be shared. Linear. */
export function vectorItems(v: Vector): readonly Value[] {
  if (v.start === 0 && v.tail.length === v.end) return v.tail;
  return vectorSlice(v, 0, v.end - v.start);
}

/** The elements from index `from` to below `to`, both within the vector. Linear in their number. */
export function vectorSlice(v: Vector, from: number, to: number): Value[] {
  const items: Value[] = [];
  const end = v.start + to;
  let at = v.start + from;
  while (at < end) {
    const chunk = chunkAt(v, at);
    const first = at & MASK;
    const left = end - at;
    const stop = chunk.length - first < left ? chunk.length : first + left;
    for (let index = first; index < stop; index++) items.push(chunk[index] as Value);
    at = (at & ~MASK) + WIDTH;
  }
  return items;
}

/** `v` with all of `items` at the end. Linear in these, whatever the size of `v`. */
export function vectorAppend(v: Vector, items: readonly Value[]): Vector {
  if (vectorCount(v) === 0) return vectorOf(items);
  let grown = v;
  let at = 0;
  while (at < items.length) {
    const room = WIDTH - grown.tail.length;
    if (room === 0) {
      grown = vectorPush(grown, items[at] as Value);
      at += 1;
      continue;
    }
    const taken = items.slice(at, at + room);
    at += taken.length;
    const tail = grown.tail.concat(taken);
    grown = vector(grown.start, grown.end + taken.length, grown.shift, grown.root, tail);
  }
  return grown;
}

/** `v` with `item` at the end. */
export function vectorPush(v: Vector, item: Value): Vector {
  const { tail } = v;
  if (tail.length < WIDTH) {
    const grown = tail.slice();
    grown.push(item);
    return vector(v.start, v.end + 1, v.shift, v.root, grown);
  }
  const full = tailOffset(v) >>> BITS;
  if (full + 1 > 1 << v.shift) {
    const grown = branch([v.root, newPath(v.shift, leaf(tail))]);
    return vector(v.start, v.end + 1, v.shift + BITS, grown, [item]);
  }
  const root = pushLeaf(v.root, v.shift, tailOffset(v), leaf(tail));
  return vector(v.start, v.end + 1, v.shift, root, [item]);
}

function newPath(level: number, node: VectorNode): VectorNode {
  let path = node;
  for (let at = level; at > 0; at -= BITS) path = branch([path]);
  return path;
}

function pushLeaf(node: VectorNode, level: number, at: number, added: VectorNode): VectorNode {
  const slot = (at >>> level) & MASK;
  const kids = node.kids.slice();
  const below = kids[slot];
  if (level === BITS) kids[slot] = added;
  else if (below === undefined) kids[slot] = newPath(level - BITS, added);
  else kids[slot] = pushLeaf(below, level - BITS, at, added);
  return branch(kids);
}

/** `v` with `item` at `index`, from 0 to the count; at the count it is added. */
export function vectorSet(v: Vector, index: number, item: Value): Vector {
  const at = v.start + index;
  if (at === v.end) return vectorPush(v, item);
  if (at >= tailOffset(v)) {
    const tail = v.tail.slice();
    tail[at & MASK] = item;
    return vector(v.start, v.end, v.shift, v.root, tail);
  }
  return vector(v.start, v.end, v.shift, setIn(v.root, v.shift, at, item), v.tail);
}

function setIn(node: VectorNode, level: number, at: number, item: Value): VectorNode {
  if (level === 0) {
    const items = node.items.slice();
    items[at & MASK] = item;
    return leaf(items);
  }
  const slot = (at >>> level) & MASK;
  const kids = node.kids.slice();
  kids[slot] = setIn(node.kids[slot] as VectorNode, level - BITS, at, item);
  return branch(kids);
}

/** `v` without its last element, if it has one. */
export function vectorPop(v: Vector): Vector {
  if (vectorCount(v) <= 1) return EMPTY_VECTOR;
  if (v.tail.length > 1) return vector(v.start, v.end - 1, v.shift, v.root, v.tail.slice(0, -1));
  const tail = chunkAt(v, v.end - 2);
  const root = popLeaf(v.root, v.shift, v.end - 2);
  const only = root.kids[0];
  if (v.shift > BITS && root.kids.length === 1 && only !== undefined) {
    return vector(v.start, v.end - 1, v.shift - BITS, only, tail);
  }
  return vector(v.start, v.end - 1, v.shift, root, tail);
}

function popLeaf(node: VectorNode, level: number, at: number): VectorNode {
  const slot = (at >>> level) & MASK;
  if (level === BITS) return branch(node.kids.slice(0, slot));
  const below = popLeaf(node.kids[slot] as VectorNode, level - BITS, at);
  const kids = node.kids.slice(0, slot);
  if (below.kids.length > 0) kids.push(below);
  return branch(kids);
}

/** `v` without its first `count` elements; shares its nodes. */
export function vectorDrop(v: Vector, count: number): Vector {
  if (count <= 0) return v;
  if (count >= vectorCount(v)) return EMPTY_VECTOR;
  return vector(v.start + count, v.end, v.shift, v.root, v.tail);
}
