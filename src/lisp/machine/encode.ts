/**
 * Encodes values as JSON; shared parts are written once.
 *
 * I1  Reachable values are counted first, with an explicit stack, since values may nest without
 *     limit.
 * I2  A value that occurs twice or is nested deeper than {@link MAX_NESTING} becomes an entry of
 *     the heap. So the output is linear in the reachable values, and its own nesting is bounded.
 */
import { floatText } from '../value/number-text.ts';
import { treeKeys, treeVals } from '../value/tree-walk.ts';
import type { Value, CodeHead } from '../value/value.ts';
import { vectorItems } from '../value/vector.ts';
import type { Coded } from './coded.ts';

/** Greatest nesting within one entry. */
const MAX_NESTING = 30;

/** Shorter text is repeated: a reference would save nothing. */
const MIN_SHARED_TEXT = 40;

/** Encodes values over one heap. */
export interface Encoder {
  /** The JSON form of a value that was counted. */
  readonly encode: (value: Value) => Coded;
  readonly heap: Coded[];
  /** Programs that the values refer to. */
  readonly programs: ReadonlySet<string>;
}

/** Whether a value has parts, or is text worth sharing. */
function isShareable(value: Value): boolean {
  if (typeof value === 'string') return value.length >= MIN_SHARED_TEXT;
  if (typeof value !== 'object' || value === null) return false;
  switch (value.kind) {
    case 'vector':
      return value.end > value.start;
    case 'map':
    case 'set':
      return value.count > 0;
    case 'closure':
    case 'combinator':
    case 'reduced':
      return true;
    default:
      return false;
  }
}

function partsOf(value: Value): readonly Value[] {
  if (typeof value !== 'object' || value === null) return [];
  switch (value.kind) {
    case 'vector':
      return vectorItems(value);
    case 'map':
      return [...treeKeys(value), ...treeVals(value)];
    case 'set':
      return treeKeys(value);
    case 'closure':
      return value.env;
    case 'combinator':
      return value.of;
    case 'reduced':
      return [value.value];
    default:
      return [];
  }
}

/** An encoder for `roots` and everything reachable from them. */
export function newEncoder(roots: Iterable<Value>): Encoder {
  const seen = new Map<Value, number>();
  const shared = new Set<Value>();
  const programs = new Set<string>();
  const todo: { value: Value; nesting: number }[] = [];
  for (const root of roots) todo.push({ value: root, nesting: 0 });
  for (let item = todo.pop(); item !== undefined; item = todo.pop()) {
    const { value, nesting } = item;
    if (!isShareable(value)) continue;
    if (seen.has(value)) {
      shared.add(value);
      continue;
    }
    seen.set(value, nesting);
    const cut = nesting >= MAX_NESTING;
    if (cut) shared.add(value);
    if (typeof value === 'object' && value !== null && value.kind === 'closure') {
      programs.add(value.code.programId);
    }
    for (const part of partsOf(value)) todo.push({ value: part, nesting: cut ? 1 : nesting + 1 });
  }
  return writer(shared, programs);
}

function writer(shared: ReadonlySet<Value>, programs: ReadonlySet<string>): Encoder {
  const heap: Coded[] = [];
  const places = new Map<Value, number>();
  const waiting: Value[] = [];
  const encode = (value: Value): Coded => {
    if (!shared.has(value)) return plain(value);
    let place = places.get(value);
    if (place === undefined) {
      place = places.size;
      places.set(value, place);
      waiting.push(value);
    }
    return { ref: place };
  };
  const plain = (value: Value): Coded => encodeOne(value, encode);
  const drain = (value: Value): Coded => {
    const coded = encode(value);
    // Entries are written in a loop, so a chain of them needs no recursion.
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      heap[places.get(next) ?? 0] = plain(next);
    }
    return coded;
  };
  return { encode: drain, heap, programs };
}

function encodeOne(value: Value, encode: (value: Value) => Coded): Coded {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number' || typeof value === 'string') return value;
  if (typeof value === 'bigint') return { i: String(value) };
  switch (value.kind) {
    case 'float':
      return { f: floatText(value.value) };
    case 'keyword':
      return { k: value.name };
    case 'symbol':
      return { y: value.name };
    case 'var':
      return { v: value.name };
    case 'reduced':
      return { x: encode(value.value) };
    case 'vector':
      return vectorItems(value).map(encode);
    case 'map': {
      const vals = treeVals(value);
      return {
        m: treeKeys(value).map((key, index) => [encode(key), encode(vals[index] as Value)]),
      };
    }
    case 'set':
      return { s: treeKeys(value).map(encode) };
    case 'regex':
      return { r: value.source };
    case 'date':
      return { d: [value.of, value.amount, value.nanos] };
    case 'closure': {
      const env = value.env.map((held, index) => [
        value.code.captures[index]?.name ?? '',
        encode(held),
      ]);
      return { fn: { code: codePlace(value.code), env } };
    }
    case 'builtin':
      return { b: value.name };
    case 'combinator':
      return { c: value.name, of: value.of.map(encode) };
    case 'tool':
      return { t: value.name };
  }
}

/** The name of a function's code: its program and its offset. */
export function codePlace(code: CodeHead): readonly [string, number] {
  return [code.programId, code.offset];
}
