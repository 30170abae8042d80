/**
 * Maps and sets: a persistent B+ tree in key order (see `order.ts`).
 *
 * A hash table would have to be sorted for every walk and every print. It also needs a secret seed
 * against chosen collisions, which a deterministic program cannot have. A sorted tree is always in
 * order and has no bad case. Leaves hold up to 16 entries, so most maps are one pair of arrays.
 */
import { slots } from './slots.ts';
import { mergeSort } from './merge-sort.ts';
import { compareKeys } from './order.ts';
import type { Keyword, MapNode, Meter, TreeMap, TreeSet, Value } from './value.ts';

const WIDTH = 16;
const NO_VALUES: readonly Value[] = Object.freeze([]);
const EMPTY_LEAF: MapNode = Object.freeze({ keys: NO_VALUES, vals: NO_VALUES, kids: null });

/** The map without entries. */
export const EMPTY_MAP: TreeMap = Object.freeze({ kind: 'map', count: 0, root: EMPTY_LEAF });

/** The set without members. */
export const EMPTY_SET: TreeSet = Object.freeze({ kind: 'set', count: 0, root: EMPTY_LEAF });

function mapNode(keys: readonly Value[], vals: readonly Value[], kids: MapNode['kids']): MapNode {
  return { keys, vals, kids };
}

function map(count: number, root: MapNode): TreeMap {
  return count === 0 ? EMPTY_MAP : { kind: 'map', count, root };
}

function set(count: number, root: MapNode): TreeSet {
  return count === 0 ? EMPTY_SET : { kind: 'set', count, root };
}

/** The index of the last key that is not greater than `key`, or −1. */
function floorIndex(keys: readonly Value[], key: Value, meter: Meter): number {
  let low = 0;
  let high = keys.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const order = compareKeys(keys[middle] as Value, key, meter);
    if (order === 0) return middle;
    if (order < 0) low = middle + 1;
    else high = middle - 1;
  }
  return high;
}

function leafFor(root: MapNode, key: Value, meter: Meter): MapNode {
  let node = root;
  while (node.kids !== null) {
    const at = floorIndex(node.keys, key, meter);
    node = node.kids[at < 0 ? 0 : at] as MapNode;
  }
  return node;
}

function indexInLeaf(leaf: MapNode, key: Value, meter: Meter): number {
  const { keys } = leaf;
  if (typeof key === 'string' && keys.length <= 8) {
    meter.charge(key.length >>> 4);
    return keys.indexOf(key);
  }
  const at = floorIndex(keys, key, meter);
  return at >= 0 && compareKeys(keys[at] as Value, key, meter) === 0 ? at : -1;
}

/** The value under `key`, or undefined. */
export function treeGet(tree: TreeMap | TreeSet, key: Value, meter: Meter): Value | undefined {
  const leaf = leafFor(tree.root, key, meter);
  const at = indexInLeaf(leaf, key, meter);
  return at < 0 ? undefined : leaf.vals[at];
}

/** Whether `key` is a key or member. */
export function treeHas(tree: TreeMap | TreeSet, key: Value, meter: Meter): boolean {
  return indexInLeaf(leafFor(tree.root, key, meter), key, meter) >= 0;
}

/** The stored member or key equal to `key`, or undefined. */
export function treeMember(tree: TreeMap | TreeSet, key: Value, meter: Meter): Value | undefined {
  const leaf = leafFor(tree.root, key, meter);
  const at = indexInLeaf(leaf, key, meter);
  return at < 0 ? undefined : leaf.keys[at];
}

/** The value under a keyword in a map of one leaf, the most frequent read; else undefined. */
export function keywordInLeaf(tree: TreeMap, key: Keyword): Value | undefined {
  const { root } = tree;
  if (root.kids !== null) return undefined;
  const { keys } = root;
  const { name } = key;
  for (let index = 0; index < keys.length; index++) {
    const candidate = keys[index] as Value;
    if (candidate === key) return root.vals[index];
    if (typeof candidate === 'object' && candidate !== null) {
      if (candidate.kind === 'keyword' && candidate.name === name) return root.vals[index];
    }
  }
  return undefined;
}

interface Inserted {
  readonly node: MapNode;
  /** The right half when the node had to be split. */
  readonly right: MapNode | null;
  readonly added: boolean;
}

function insertAt<T>(items: readonly T[], at: number, item: T): T[] {
  const grown = slots<T>(items.length + 1);
  for (let index = 0; index < at; index++) grown[index] = items[index] as T;
  grown[at] = item;
  for (let index = at; index < items.length; index++) grown[index + 1] = items[index] as T;
  return grown;
}

function split(node: MapNode): { left: MapNode; right: MapNode | null } {
  if (node.keys.length <= WIDTH) return { left: node, right: null };
  const half = node.keys.length >>> 1;
  const cut = (from: number, to: number): MapNode =>
    mapNode(
      node.keys.slice(from, to),
      node.kids === null ? node.vals.slice(from, to) : NO_VALUES,
      node.kids === null ? null : node.kids.slice(from, to),
    );
  return { left: cut(0, half), right: cut(half, node.keys.length) };
}

function insert(node: MapNode, key: Value, val: Value, meter: Meter): Inserted {
  const at = floorIndex(node.keys, key, meter);
  if (node.kids === null) {
    if (at >= 0 && compareKeys(node.keys[at] as Value, key, meter) === 0) {
      if (node.vals[at] === val) return { node, right: null, added: false };
      const vals = node.vals.slice();
      vals[at] = val;
      return { node: mapNode(node.keys, vals, null), right: null, added: false };
    }
    const grown = mapNode(insertAt(node.keys, at + 1, key), insertAt(node.vals, at + 1, val), null);
    const { left, right } = split(grown);
    return { node: left, right, added: true };
  }
  const slot = at < 0 ? 0 : at;
  const below = insert(node.kids[slot] as MapNode, key, val, meter);
  const kids = node.kids.slice();
  kids[slot] = below.node;
  const first = below.node.keys[0] as Value;
  // Only a new smallest key changes a separator; otherwise the array is shared.
  const keys = node.keys[slot] === first ? node.keys : node.keys.with(slot, first);
  if (below.right === null) {
    return { node: mapNode(keys, NO_VALUES, kids), right: null, added: below.added };
  }
  const wider = mapNode(
    insertAt(keys, slot + 1, below.right.keys[0] as Value),
    NO_VALUES,
    insertAt(kids, slot + 1, below.right),
  );
  const { left, right } = split(wider);
  return { node: left, right, added: below.added };
}

function grow(root: MapNode, key: Value, val: Value, meter: Meter): Inserted {
  const done = insert(root, key, val, meter);
  if (done.right === null) return done;
  const keys = [done.node.keys[0] as Value, done.right.keys[0] as Value];
  return {
    node: mapNode(keys, NO_VALUES, [done.node, done.right]),
    right: null,
    added: done.added,
  };
}

/** `m` with `val` under `key`. An equal key in the map is kept. */
export function mapSet(m: TreeMap, key: Value, val: Value, meter: Meter): TreeMap {
  const done = grow(m.root, key, val, meter);
  return done.node === m.root ? m : map(m.count + (done.added ? 1 : 0), done.node);
}

/** `s` with the member `item`. */
export function setAdd(s: TreeSet, item: Value, meter: Meter): TreeSet {
  const done = grow(s.root, item, null, meter);
  return done.added ? set(s.count + 1, done.node) : s;
}

/** `node` without `key`: `node` itself when the key is absent, null when it becomes empty. */
function remove(node: MapNode, key: Value, meter: Meter): MapNode | null {
  const at = floorIndex(node.keys, key, meter);
  if (node.kids === null) {
    if (at < 0 || compareKeys(node.keys[at] as Value, key, meter) !== 0) return node;
    if (node.keys.length === 1) return null;
    return mapNode(node.keys.toSpliced(at, 1), node.vals.toSpliced(at, 1), null);
  }
  const slot = at < 0 ? 0 : at;
  const old = node.kids[slot] as MapNode;
  const below = remove(old, key, meter);
  if (below === old) return node;
  if (below !== null) {
    const keys = node.keys.with(slot, below.keys[0] as Value);
    return mapNode(keys, NO_VALUES, node.kids.with(slot, below));
  }
  if (node.kids.length === 1) return null;
  return mapNode(node.keys.toSpliced(slot, 1), NO_VALUES, node.kids.toSpliced(slot, 1));
}

function shrink(root: MapNode, key: Value, meter: Meter): MapNode {
  let node = remove(root, key, meter) ?? EMPTY_LEAF;
  while (node.kids !== null && node.kids.length === 1) node = node.kids[0] as MapNode;
  return node;
}

/** `m` without the entry of `key`. */
export function mapRemove(m: TreeMap, key: Value, meter: Meter): TreeMap {
  const root = shrink(m.root, key, meter);
  return root === m.root ? m : map(m.count - 1, root);
}

/** `s` without the member `item`. */
export function setRemove(s: TreeSet, item: Value, meter: Meter): TreeSet {
  const root = shrink(s.root, item, meter);
  return root === s.root ? s : set(s.count - 1, root);
}

/** The tree of `keys`, strictly ascending, with `vals` beside them. Linear. */
function bulk(keys: readonly Value[], vals: readonly Value[]): MapNode {
  if (keys.length === 0) return EMPTY_LEAF;
  if (keys.length <= WIDTH) return mapNode(keys, vals, null);
  const size = 12;
  let level: MapNode[] = [];
  for (let at = 0; at < keys.length; at += size) {
    level.push(mapNode(keys.slice(at, at + size), vals.slice(at, at + size), null));
  }
  while (level.length > 1) {
    const above: MapNode[] = [];
    for (let at = 0; at < level.length; at += size) {
      const kids = level.slice(at, at + size);
      above.push(
        mapNode(
          kids.map((kid) => kid.keys[0] as Value),
          NO_VALUES,
          kids,
        ),
      );
    }
    level = above;
  }
  return level[0] as MapNode;
}

/** The map of `keys`, strictly ascending in key order, with `vals`. Linear. */
function mapOfSorted(keys: readonly Value[], vals: readonly Value[]): TreeMap {
  return map(keys.length, bulk(keys, vals));
}

/** The set of `members`, strictly ascending in key order. Linear. */
function setOfSorted(members: readonly Value[]): TreeSet {
  const nulls = members.map(() => null);
  return set(members.length, bulk(members, nulls));
}

/** The map of `keys` and `vals` in any order. The last of equal keys wins. */
export function mapOf(keys: readonly Value[], vals: readonly Value[], meter: Meter): TreeMap {
  if (isAscending(keys, meter)) return mapOfSorted(keys, vals);
  const order = sortedPlaces(keys, meter);
  const kept: Value[] = [];
  const values: Value[] = [];
  for (const [index, place] of order.entries()) {
    const next = order[index + 1];
    const key = keys[place] as Value;
    const repeated = next !== undefined && compareKeys(key, keys[next] as Value, meter) === 0;
    if (repeated) continue;
    kept.push(key);
    values.push(vals[place] as Value);
  }
  return mapOfSorted(kept, values);
}

/** The set of `items` in any order. The first of equal items is kept. */
export function setOf(items: readonly Value[], meter: Meter): TreeSet {
  if (isAscending(items, meter)) return setOfSorted(items);
  const order = sortedPlaces(items, meter);
  const kept: Value[] = [];
  for (const place of order) {
    const item = items[place] as Value;
    const last = kept[kept.length - 1];
    if (last === undefined || compareKeys(last, item, meter) !== 0) kept.push(item);
  }
  return setOfSorted(kept);
}

function isAscending(keys: readonly Value[], meter: Meter): boolean {
  for (let index = 1; index < keys.length; index++) {
    if (compareKeys(keys[index - 1] as Value, keys[index] as Value, meter) >= 0) return false;
  }
  return true;
}

/** The indexes of `keys` in key order; stable. */
function sortedPlaces(keys: readonly Value[], meter: Meter): readonly number[] {
  const places = keys.map((_, index) => index);
  return mergeSort(places, (a, b) => compareKeys(keys[a] as Value, keys[b] as Value, meter));
}
