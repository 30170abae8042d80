/**
 * `describe`: a bounded summary of the shape of a value. A program uses it to learn about its data.
 */
import type { Context } from '../../value/context.ts';
import { compareKeys, compareNatural } from '../../value/order.ts';
import { cutText, shortText } from '../../value/print.ts';
import { treeKeys, treeVals } from '../../value/tree-walk.ts';
import { EMPTY_MAP, EMPTY_SET, mapOf, mapSet, setAdd, treeHas } from '../../value/tree.ts';
import {
  isMap,
  isNumber,
  isSet,
  isVector,
  keyword,
  truthy,
  typeName,
  type TreeMap,
  type Value,
  type BuiltinWork,
} from '../../value/value.ts';
import { divide } from '../../value/numbers.ts';
import { vectorCount, vectorOf } from '../../value/vector.ts';
import { arg, expectMap } from '../arguments/expect.ts';
import { flexibleGet } from '../arguments/lookup.ts';
import { firstOf, sizeOf } from '../arguments/seqable.ts';
import { plain } from '../arguments/stepping.ts';

/** The smallest description is a map of maps. */
const DESCRIBE_COST = 30;
const MAX_ITEMS = 1_000;
const MAX_KEYS = 100;
/** One more than are looked at: what is beyond shows that there is more. */
const SCANNED = MAX_ITEMS + 1;
const MAX_EXAMPLES = 3;
const MAX_EXAMPLE_TEXT = 120;
const MAX_DISTINCT = 50;
const MAX_PATHS = 300;

interface Survey {
  readonly ctx: Context;
  /** Levels of keys to summarise, including this one. */
  readonly depth: number;
  /** Number of examples for each key. */
  readonly sample: number;
  readonly caps: Set<string>;
}

function record(ctx: Context, fields: readonly (readonly [string, Value | undefined])[]): TreeMap {
  const present = fields.filter(
    (field): field is readonly [string, Value] => field[1] !== undefined,
  );
  return mapOf(
    present.map(([name]) => keyword(name)),
    present.map(([, value]) => value),
    ctx,
  );
}

/** The number of values of each type, by name. */
function typeCounts(s: Survey, values: readonly Value[]): Value {
  let counts = EMPTY_MAP;
  for (const value of values) {
    s.ctx.charge(1);
    const name = typeName(value);
    const before = flexibleGet(s.ctx, counts, name);
    counts = mapSet(counts, name, typeof before === 'number' ? before + 1 : 1, s.ctx);
  }
  return counts;
}

function bounded(value: Value): Value {
  if (typeof value === 'string') {
    return value.length <= MAX_EXAMPLE_TEXT ? value : `${cutText(value, MAX_EXAMPLE_TEXT)}…`;
  }
  const small = !(isVector(value) || isMap(value) || isSet(value));
  return small ? value : cutText(shortText(value), MAX_EXAMPLE_TEXT);
}

function summary(s: Survey, values: readonly Value[], total: number | null): Value {
  const { ctx } = s;
  let distinct = EMPTY_SET;
  const examples: Value[] = [];
  for (const value of values) {
    ctx.charge(2);
    if (distinct.count >= MAX_DISTINCT || treeHas(distinct, value, ctx)) continue;
    distinct = setAdd(distinct, value, ctx);
    if (examples.length < s.sample) examples.push(bounded(value));
  }
  const numbers = values.filter(
    (value) => isNumber(value) && compareKeys(value, value, ctx) === 0 && !isNaNFloat(value),
  );
  const sized = values.filter(
    (value) => typeof value === 'string' || isVector(value) || isMap(value) || isSet(value),
  );
  const filled = sized.filter((value) => !isEmpty(value)).length;
  const [first] = numbers;
  const range =
    first === undefined
      ? undefined
      : record(ctx, [
          ['min', numbers.reduce((a, b) => (compareNatural(b, a, ctx) < 0 ? b : a), first)],
          ['max', numbers.reduce((a, b) => (compareNatural(b, a, ctx) > 0 ? b : a), first)],
        ]);
  return record(ctx, [
    ['types', typeCounts(s, values)],
    ['examples', vectorOf(examples)],
    ['distinct_count', distinct.count],
    ['range', range],
    ['non_empty', sized.length === 0 ? undefined : filled],
    ['present', total === null ? undefined : values.length],
    [
      'pct',
      total === null
        ? undefined
        : divide(Math.round((1_000 * values.length) / Math.max(1, total)), 10),
    ],
    ['nested', s.depth > 1 ? nested({ ...s, depth: s.depth - 1 }, values) : undefined],
  ]);
}

/** The summaries of the keys of the maps in `values` and in their vectors. */
function nested(s: Survey, values: readonly Value[]): Value | undefined {
  const maps = mapsIn(s, values);
  return maps.length === 0 ? undefined : keySummaries(s, maps, maps.length);
}

/** The maps in `values`, and the maps in vectors and sets in `values`. */
function mapsIn(s: Survey, values: readonly Value[]): readonly TreeMap[] {
  const maps: TreeMap[] = [];
  for (const value of values) {
    const items = isMap(value) ? [value] : elementsOf(value, SCANNED);
    for (const item of items) {
      s.ctx.charge(1);
      if (!isMap(item)) continue;
      if (maps.length >= MAX_ITEMS) {
        s.caps.add('items');
        return maps;
      }
      maps.push(item);
    }
  }
  return maps;
}

/** The elements of a vector or set, the first `most`. */
function elementsOf(value: Value, most: number = Infinity): readonly Value[] {
  return isVector(value) || isSet(value) ? firstOf(value, most) : [];
}

/** A path: keys, and `"*"` for the elements of a vector or set. Short paths come first. */
function pathsOf(s: Survey, value: Value): Value {
  let found = EMPTY_SET;
  let level: readonly (readonly [path: readonly Value[], value: Value])[] = [[[], value]];
  for (let depth = 0; depth < s.depth && level.length > 0; depth++) {
    const below: (readonly [readonly Value[], Value])[] = [];
    for (const [path, inside] of level) {
      const children = childrenOf(inside);
      s.ctx.charge(children.length);
      for (const [step, child] of children.slice(0, MAX_ITEMS)) {
        const next = [...path, step];
        const key = vectorOf(next);
        if (!treeHas(found, key, s.ctx) && found.count >= MAX_PATHS) s.caps.add('paths');
        else found = setAdd(found, key, s.ctx);
        if (below.length < MAX_ITEMS) below.push([next, child]);
      }
    }
    level = below;
  }
  return vectorOf(treeKeys(found));
}

function childrenOf(value: Value): readonly (readonly [Value, Value])[] {
  if (!isMap(value)) return elementsOf(value).map((item) => ['*', item]);
  const vals = treeVals(value);
  return treeKeys(value).map((key, index) => [key, vals[index] as Value]);
}

function isNaNFloat(value: Value): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    value.kind === 'float' &&
    Number.isNaN(value.value)
  );
}

function isEmpty(value: Value): boolean {
  if (typeof value === 'string') return value === '';
  if (isVector(value)) return vectorCount(value) === 0;
  return (isMap(value) || isSet(value)) && value.count === 0;
}

/** The summary of each key of some maps. */
function keySummaries(s: Survey, maps: readonly TreeMap[], total: number | null): Value {
  // The values of each key, at the position of the key.
  const lists: Value[][] = [];
  let places = EMPTY_MAP;
  for (const map of maps) {
    const vals = treeVals(map);
    for (const [index, key] of treeKeys(map).entries()) {
      s.ctx.charge(2);
      const known = flexibleGet(s.ctx, places, key);
      if (known === undefined && lists.length >= MAX_KEYS) {
        s.caps.add('keys');
        continue;
      }
      const place = typeof known === 'number' ? known : lists.push([]) - 1;
      if (known === undefined) places = mapSet(places, key, place, s.ctx);
      lists[place]?.push(vals[index] as Value);
    }
  }
  return mapOf(
    treeKeys(places),
    treeVals(places).map((place) => summary(s, lists[place as number] ?? [], total)),
    s.ctx,
  );
}

function describe(s: Survey, value: Value): TreeMap {
  const { ctx } = s;
  if (isMap(value)) {
    return record(ctx, [
      ['type', keyword('map')],
      ['count', value.count],
      ['key_types', typeCounts(s, treeKeys(value, MAX_ITEMS))],
      ['keys', keySummaries(s, [value], null)],
    ]);
  }
  if (isVector(value) || isSet(value)) {
    const count = sizeOf(value);
    const items = firstOf(value, MAX_ITEMS);
    if (count > items.length) s.caps.add('items');
    const maps = items.filter(isMap);
    const hasMaps = maps.length > 0;
    return record(ctx, [
      ['type', keyword(value.kind)],
      ['count', count],
      ['scanned', items.length],
      ['item_types', typeCounts(s, items)],
      [
        'key_types',
        hasMaps
          ? typeCounts(s, maps.flatMap((map) => treeKeys(map, MAX_KEYS)).slice(0, MAX_ITEMS))
          : undefined,
      ],
      ['keys', hasMaps ? keySummaries(s, maps, items.length) : undefined],
    ]);
  }
  return record(ctx, [
    ['type', keyword(typeName(value))],
    ['types', typeCounts(s, [value])],
    ['examples', vectorOf([bounded(value)])],
    ['sample', bounded(value)],
  ]);
}

/** The work of `describe`. */
export const DESCRIBE_WORK: { readonly [name: string]: BuiltinWork } = Object.freeze({
  describe: plain((ctx, args) => {
    const options = args.length > 1 ? expectMap(ctx, args, 1) : EMPTY_MAP;
    const number = (name: string, standard: number, highest: number): number => {
      const value = flexibleGet(ctx, options, keyword(name));
      return typeof value === 'number'
        ? Math.max(1, Math.min(highest, Math.trunc(value)))
        : standard;
    };
    ctx.charge(DESCRIBE_COST);
    const s: Survey = {
      ctx,
      depth: number('depth', 1, 5),
      sample: number('sample', MAX_EXAMPLES, MAX_EXAMPLES),
      caps: new Set(),
    };
    const value = arg(args, 0);
    const shape = describe(s, value);
    const described = truthy(flexibleGet(ctx, options, keyword('paths')) ?? null)
      ? mapSet(shape, keyword('paths'), pathsOf(s, value), ctx)
      : shape;
    if (s.caps.size === 0) return described;
    const caps = vectorOf([...s.caps].toSorted().map(keyword));
    return mapSet(
      mapSet(described, keyword('truncated'), true, ctx),
      keyword('caps_hit'),
      caps,
      ctx,
    );
  }),
});
