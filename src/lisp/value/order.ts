/**
 * Equality and the two orders of values.
 *
 * I1  The natural order is that of `compare` and `sort`; not every two values have one.
 * I2  The key order is total. Maps and sets are stored, walked and printed in it.
 * I3  Nothing depends on a hash, a locale or the JavaScript engine.
 */
import { Fault } from '../base/problem.ts';
import { checkNesting } from './nesting.ts';
import { describeValue } from './print.ts';
import { cursorOf, moveOn } from './tree-walk.ts';
import {
  isNumber,
  type DateValue,
  type Float,
  type Meter,
  type TreeMap,
  type TreeSet,
  type Value,
} from './value.ts';
import { vectorAt, vectorCount } from './vector.ts';

/** −1, 0 or 1: less, equal, greater. */
export type Order = -1 | 0 | 1;

function sign(difference: number): Order {
  return difference < 0 ? -1 : difference > 0 ? 1 : 0;
}

/** Orders text by code point. JavaScript's `<` orders by code unit, which differs above U+FFFF. */
function compareText(a: string, b: string): Order {
  if (a === b) return 0;
  const shared = a.length < b.length ? a.length : b.length;
  for (let index = 0; index < shared; index++) {
    const x = a.charCodeAt(index);
    const y = b.charCodeAt(index);
    if (x === y) continue;
    // A surrogate belongs to a code point that is greater than every code point of one unit.
    const highX = (x & 0xf800) === 0xd800;
    const highY = (y & 0xf800) === 0xd800;
    if (highX !== highY) return highX ? 1 : -1;
    return x < y ? -1 : 1;
  }
  return sign(a.length - b.length);
}

/** The JavaScript number of a value; comparing two of them is exact for integers of any size. */
export function magnitude(value: number | bigint | Float): number | bigint {
  return typeof value === 'object' ? value.value : value;
}

/** Names of at most so many units are compared for nothing: nearly all are. */
export const FREE_NAME = 64;

/** Charges for comparing two names. */
function chargeNames(a: string, b: string, meter: Meter): void {
  const shared = a.length < b.length ? a.length : b.length;
  if (shared > FREE_NAME) meter.charge(shared >>> 4);
}

/** Whether two values are `=`: numbers by value, collections by content, functions by identity. */
export function equalValues(a: Value, b: Value, meter: Meter, nesting = 0): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a === b;
  if (typeof a === 'string' && typeof b === 'string') {
    // Texts of different lengths differ without a comparison.
    if (a.length === b.length) meter.charge(a.length >>> 4);
    return a === b;
  }
  // `==` compares a number and a bigint by value. NaN does not equal itself.
  if (isNumber(a) && isNumber(b)) return magnitude(a) == magnitude(b);
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a.kind !== b.kind) return false;
  checkNesting(nesting, meter);
  switch (a.kind) {
    case 'keyword':
    case 'symbol':
    case 'var': {
      const { name } = b as { readonly name: string };
      chargeNames(a.name, name, meter);
      return a.name === name;
    }
    case 'vector': {
      const other = b as typeof a;
      const count = vectorCount(a);
      if (count !== vectorCount(other)) return false;
      for (let index = 0; index < count; index++) {
        meter.charge(1);
        const same = equalValues(vectorAt(a, index), vectorAt(other, index), meter, nesting + 1);
        if (!same) return false;
      }
      return true;
    }
    case 'map':
      return equalMaps(a, b as typeof a, meter, nesting);
    case 'set': {
      const other = b as typeof a;
      return a.count === other.count && compareTrees(a, other, meter, nesting) === 0;
    }
    case 'reduced':
      return equalValues(a.value, (b as typeof a).value, meter, nesting + 1);
    case 'date':
    case 'regex':
      return compareKeys(a, b, meter, nesting) === 0;
    case 'tool':
    case 'builtin':
      return a.name === (b as { readonly name: string }).name;
    default:
      return false;
  }
}

function equalMaps(a: TreeMap, b: TreeMap, meter: Meter, nesting: number): boolean {
  if (a.count !== b.count) return false;
  const x = cursorOf(a);
  const y = cursorOf(b);
  for (let index = 0; index < a.count; index++) {
    meter.charge(2);
    const keyA = x.leaf.keys[x.at] as Value;
    const order = compareKeys(keyA, y.leaf.keys[y.at] as Value, meter, nesting + 1);
    if (order !== 0) return false;
    const valA = x.leaf.vals[x.at] as Value;
    if (!equalValues(valA, y.leaf.vals[y.at] as Value, meter, nesting + 1)) return false;
    moveOn(x);
    moveOn(y);
  }
  return true;
}

/** The rank of each kind in the key order. */
function rank(value: Value): number {
  if (value === null) return 1;
  switch (typeof value) {
    case 'number':
    case 'bigint':
      return 0;
    case 'boolean':
      return value ? 3 : 2;
    case 'string':
      return 16;
    default:
  }
  switch (value.kind) {
    case 'float':
      return 0;
    case 'keyword':
      return 4;
    case 'symbol':
      return 5;
    case 'var':
      return 6;
    case 'reduced':
      return 7;
    case 'date':
      return 8;
    case 'closure':
    case 'builtin':
    case 'combinator':
    case 'tool':
      return 9;
    case 'regex':
      return 10;
    case 'map':
      return 11;
    case 'set':
      return 12;
    case 'vector':
      return 13;
  }
}

/** Numbers as keys: by value, an integer before an equal float, 0.0 the same as -0.0, NaN last. */
function compareNumberKeys(a: number | bigint | Float, b: number | bigint | Float): Order {
  const x = magnitude(a);
  const y = magnitude(b);
  if (x < y) return -1;
  if (x > y) return 1;
  const nanX = x !== x;
  const nanY = y !== y;
  if (nanX || nanY) return nanX && nanY ? 0 : nanX ? 1 : -1;
  const floatX = typeof a === 'object';
  const floatY = typeof b === 'object';
  return floatX === floatY ? 0 : floatX ? 1 : -1;
}

/** Compares in the key order. 0 means that both are the same key. */
export function compareKeys(a: Value, b: Value, meter: Meter, nesting = 0): Order {
  if (typeof a === 'string' && typeof b === 'string') {
    meter.charge(Math.min(a.length, b.length) >>> 4);
    return compareText(a, b);
  }
  if (a === b) return 0;
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : 1;
  const rankA = rank(a);
  const rankB = rank(b);
  if (rankA !== rankB) return rankA < rankB ? -1 : 1;
  if (isNumber(a)) return compareNumberKeys(a, b as number | bigint | Float);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return 0;
  switch (a.kind) {
    case 'keyword':
    case 'symbol':
    case 'var': {
      const { name } = b as { readonly name: string };
      chargeNames(a.name, name, meter);
      return a.name === name ? 0 : a.name < name ? -1 : 1;
    }
    case 'date':
      return compareDates(a, b as DateValue);
    case 'regex':
      return compareText(a.source, (b as typeof a).source);
    case 'reduced':
      checkNesting(nesting, meter);
      return compareKeys(a.value, (b as typeof a).value, meter, nesting + 1);
    case 'map':
    case 'set':
      checkNesting(nesting, meter);
      return compareTrees(a, b as typeof a, meter, nesting);
    case 'vector': {
      checkNesting(nesting, meter);
      const other = b as typeof a;
      const count = vectorCount(a);
      if (count !== vectorCount(other)) return sign(count - vectorCount(other));
      for (let index = 0; index < count; index++) {
        meter.charge(1);
        const x = vectorAt(a, index);
        const order = compareKeys(x, vectorAt(other, index), meter, nesting + 1);
        if (order !== 0) return order;
      }
      return 0;
    }
    default:
      return compareFunctions(a, b, meter, nesting);
  }
}

function compareTrees(
  a: TreeMap | TreeSet,
  b: TreeMap | TreeSet,
  meter: Meter,
  nesting: number,
): Order {
  if (a.count !== b.count) return sign(a.count - b.count);
  const x = cursorOf(a);
  const y = cursorOf(b);
  for (let index = 0; index < a.count; index++) {
    meter.charge(1);
    const keyA = x.leaf.keys[x.at] as Value;
    const order = compareKeys(keyA, y.leaf.keys[y.at] as Value, meter, nesting + 1);
    if (order !== 0) return order;
    if (a.kind === 'map') {
      meter.charge(1);
      const valA = x.leaf.vals[x.at] as Value;
      const vals = compareKeys(valA, y.leaf.vals[y.at] as Value, meter, nesting + 1);
      if (vals !== 0) return vals;
    }
    moveOn(x);
    moveOn(y);
  }
  return 0;
}

function compareDates(a: DateValue, b: DateValue): Order {
  if (a.of !== b.of) return a.of < b.of ? -1 : 1;
  return sign(a.amount - b.amount) || sign(a.nanos - b.nanos);
}

/** Functions are ordered by name, then by place in the source, then by parts. */
function functionPlace(value: Value): { name: string; place: string; parts: readonly Value[] } {
  if (typeof value === 'object' && value !== null) {
    if (value.kind === 'closure') {
      const { code } = value;
      const place = `${String(code.offset).padStart(9, '0')} ${code.programId}`;
      return { name: code.name ?? '', place, parts: value.env };
    }
    if (value.kind === 'combinator') return { name: value.name, place: 'c', parts: value.of };
    if (value.kind === 'builtin') return { name: value.name, place: 'b', parts: [] };
    if (value.kind === 'tool') return { name: value.name, place: 't', parts: [] };
  }
  return { name: '', place: '', parts: [] };
}

function compareFunctions(a: Value, b: Value, meter: Meter, nesting: number): Order {
  checkNesting(nesting, meter);
  const x = functionPlace(a);
  const y = functionPlace(b);
  const byName = compareText(x.name, y.name) || compareText(x.place, y.place);
  if (byName !== 0) return byName;
  if (x.parts.length !== y.parts.length) return sign(x.parts.length - y.parts.length);
  for (let index = 0; index < x.parts.length; index++) {
    meter.charge(1);
    const part = x.parts[index] as Value;
    const order = compareKeys(part, y.parts[index] as Value, meter, nesting + 1);
    if (order !== 0) return order;
  }
  return 0;
}

/** Compares in the natural order; fails when the values have none. */
export function compareNatural(a: Value, b: Value, meter: Meter, nesting = 0): Order {
  if (typeof a === 'number' && typeof b === 'number') return sign(a - b);
  if (isNumber(a) && isNumber(b)) {
    const x = magnitude(a);
    const y = magnitude(b);
    if (x !== x || y !== y) throw incomparable(a, b);
    return x < y ? -1 : x > y ? 1 : 0;
  }
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  if (typeof a === 'string' && typeof b === 'string') {
    meter.charge(Math.min(a.length, b.length) >>> 4);
    return compareText(a, b);
  }
  if (typeof a === 'boolean' && typeof b === 'boolean') return a === b ? 0 : a ? 1 : -1;
  if (typeof a !== 'object' || typeof b !== 'object') throw incomparable(a, b);
  if (a.kind === 'keyword' && b.kind === 'keyword') {
    chargeNames(a.name, b.name, meter);
    return a.name === b.name ? 0 : a.name < b.name ? -1 : 1;
  }
  if (a.kind === 'date' && b.kind === 'date' && a.of === b.of) return compareDates(a, b);
  if (a.kind === 'vector' && b.kind === 'vector') {
    checkNesting(nesting, meter);
    const count = vectorCount(a);
    if (count !== vectorCount(b)) return sign(count - vectorCount(b));
    for (let index = 0; index < count; index++) {
      meter.charge(1);
      const order = compareNatural(vectorAt(a, index), vectorAt(b, index), meter, nesting + 1);
      if (order !== 0) return order;
    }
    return 0;
  }
  throw incomparable(a, b);
}

function incomparable(a: Value, b: Value): Fault {
  return new Fault('type_error', `${describeValue(a)} and ${describeValue(b)} have no order.`);
}
