/**
 * Destructuring at run time: the parts of values that patterns name, for both tiers.
 *
 * I1  A missing part is nil; a value of the wrong type is a `destructure_error`.
 */
import type { NodeOf } from '../ast/core-ast.ts';
import { flexibleGet } from '../builtins/arguments/lookup.ts';
import { Fault } from '../base/problem.ts';
import { characters } from '../value/characters.ts';
import { describeValue } from '../value/print.ts';
import { EMPTY_MAP, mapSet } from '../value/tree.ts';
import { isMap, isVector, type Value, type Vector } from '../value/value.ts';
import {
  EMPTY_VECTOR,
  vectorAt,
  vectorCount,
  vectorDrop,
  vectorItems,
  vectorOf,
} from '../value/vector.ts';
import type { Context } from '../value/context.ts';

/** The part of `value` that `node` names. */
export function partOf(ctx: Context, node: NodeOf<'part'>, value: Value): Value {
  switch (node.op) {
    case 'elements':
      return elementsOf(ctx, value);
    case 'nth': {
      const vector = value as Vector;
      return node.index < vectorCount(vector) ? vectorAt(vector, node.index) : null;
    }
    case 'rest': {
      const vector = value as Vector;
      return node.index < vectorCount(vector) ? vectorDrop(vector, node.index) : null;
    }
    case 'record':
      if (value === null || isMap(value) || (node.index === 1 && isVector(value))) return value;
      throw wrongPart('a map', value);
    case 'keywords':
      return keywordArguments(ctx, value);
    case 'get':
      return fieldOf(ctx, value, node.key) ?? null;
    case 'has':
      return fieldOf(ctx, value, node.key) !== undefined;
  }
}

function wrongPart(wanted: string, value: Value): Fault {
  return new Fault(
    'destructure_error',
    `This pattern needs ${wanted}, got ${describeValue(value)}.`,
  );
}

function elementsOf(ctx: Context, value: Value): Value {
  if (isVector(value)) return value;
  if (value === null) return EMPTY_VECTOR;
  if (typeof value !== 'string') throw wrongPart('a vector or text', value);
  ctx.charge(1 + (value.length >>> 4));
  const found = characters(value);
  ctx.charge(found.length >>> 1);
  return vectorOf(found);
}

/** Keyword arguments: key-value pairs, or one map, or pairs followed by a map. */
function keywordArguments(ctx: Context, value: Value): Value {
  if (value === null || isMap(value)) return value;
  if (!isVector(value)) throw wrongPart('keyword arguments', value);
  const items = vectorItems(value);
  ctx.charge(items.length);
  let map = EMPTY_MAP;
  const last = items[items.length - 1];
  const odd = items.length % 2 === 1;
  if (odd && (last === undefined || !(last === null || isMap(last)))) {
    throw wrongPart('pairs of key and value', value);
  }
  for (let index = 0; index + 1 < items.length; index += 2) {
    map = mapSet(map, items[index] as Value, items[index + 1] as Value, ctx);
  }
  if (!odd || last === undefined || !isMap(last)) return map;
  let merged = last;
  if (map.count > 0) {
    for (let index = 0; index + 1 < items.length; index += 2) {
      const key = items[index] as Value;
      if (flexibleGet(ctx, last, key) === undefined) {
        merged = mapSet(merged, key, items[index + 1] as Value, ctx);
      }
    }
  }
  return merged;
}

function fieldOf(ctx: Context, value: Value, key: Value): Value | undefined {
  if (value === null) return undefined;
  if (isMap(value)) return flexibleGet(ctx, value, key);
  if (isVector(value) && typeof key === 'number') {
    return key >= 0 && key < vectorCount(value) ? vectorAt(value, key) : undefined;
  }
  return undefined;
}
