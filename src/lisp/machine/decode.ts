/**
 * Decodes values from JSON: the inverse of `encode.ts`.
 *
 * I1  The input may be damaged or of another version: every shape is checked, and bad input throws
 *     a `snapshot_version` fault.
 * I2  Entries of the heap are made with an explicit stack, so long chains need no recursion.
 */
import type { FnCode } from '../ast/core-ast.ts';
import { findBuiltin } from '../builtins/registry.ts';
import { emptyObject, isJsonObject, textOfJson, type Json, type JsonObject } from '../base/json.ts';
import { Fault } from '../base/problem.ts';
import type { Span } from '../base/source.ts';
import { compileRegex } from '../regex/regex.ts';
import { mapOf, setOf } from '../value/tree.ts';
import {
  float,
  integer,
  keyword,
  UNMETERED,
  type CombinatorName,
  type DateValue,
  type Meter,
  type Value,
} from '../value/value.ts';
import { vectorOf } from '../value/vector.ts';
import type { Coded } from './coded.ts';
import type { Effect } from './state.ts';

/** The fault of a snapshot or memory that cannot be read. */
export function unreadable(what: string): Fault {
  return new Fault(
    'snapshot_version',
    `The saved program cannot be continued here: ${what}. Send it again; its journal is intact.`,
  );
}

/** Finds the code of a closure, or undefined. */
export type FindCode = (programId: string, offset: number) => FnCode | undefined;

/** Deep keys were compared before they were saved, so they need no further limit. */
const DEEP: Meter = Object.freeze({ ...UNMETERED, maxNesting: 2_000 });

/** A decoder of values over one heap (I1). */
export function newDecoder(heap: readonly Coded[], find: FindCode): (coded: Coded) => Value {
  const made: (Value | undefined)[] = [];
  const decode = (coded: Coded): Value => {
    if (isJsonObject(coded)) {
      const { ref } = coded;
      if (typeof ref === 'number') return fromHeap(ref);
    }
    return decodeOne(coded, decode, find);
  };
  const fromHeap = (ref: number): Value => {
    const known = made[ref];
    if (known !== undefined) return known;
    // Entries that another one needs are made first (I2).
    const todo = [ref];
    const open = new Set<number>();
    for (let at = todo[todo.length - 1]; at !== undefined; at = todo[todo.length - 1]) {
      const entry = heap[at];
      if (entry === undefined) throw unreadable('a part is missing');
      const missing =
        made[at] === undefined ? refsOf(entry).filter((one) => made[one] === undefined) : [];
      if (missing.length === 0) {
        if (made[at] === undefined) made[at] = decodeOne(entry, decode, find);
        open.delete(at);
        todo.pop();
      } else {
        if (open.has(at)) throw unreadable('a part contains itself');
        open.add(at);
        todo.push(...missing);
      }
    }
    return made[ref] as Value;
  };
  return decode;
}

/** The heap entries that a coded value refers to. */
function refsOf(coded: Coded): number[] {
  const refs: number[] = [];
  const todo: Json[] = [coded];
  for (let item = todo.pop(); item !== undefined; item = todo.pop()) {
    if (Array.isArray(item)) for (const part of item as readonly Json[]) todo.push(part);
    else if (isJsonObject(item)) {
      const { ref } = item;
      if (typeof ref === 'number') refs.push(ref);
      else for (const part of Object.values(item)) todo.push(part);
    }
  }
  return refs;
}

const SPECIAL: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]);

function decodeOne(coded: Coded, decode: (coded: Coded) => Value, find: FindCode): Value {
  if (!isJsonObject(coded)) {
    if (Array.isArray(coded)) return vectorOf((coded as readonly Json[]).map(decode));
    return coded as null | boolean | number | string;
  }
  const [tag = ''] = Object.keys(coded);
  const body = coded[tag] as Json;
  const list = (): readonly Json[] => {
    if (Array.isArray(body)) return body as readonly Json[];
    throw unreadable('a list is missing');
  };
  const text = textOfJson(body);
  switch (tag) {
    case 'f':
      return float(SPECIAL.get(text) ?? Number(text));
    case 'i':
      return integer(BigInt(/^-?[0-9]+$/.test(text) ? text : '0'));
    case 'k':
      return keyword(text);
    case 'y':
      return { kind: 'symbol', name: text };
    case 'v':
      return { kind: 'var', name: text };
    case 'x':
      return { kind: 'reduced', value: decode(body) };
    case 'm':
      return decodeMap(list() as readonly (readonly [Json, Json])[], decode);
    case 's':
      return setOf(list().map(decode), DEEP);
    case 'r':
      return decodeRegex(text);
    case 'd': {
      const [of, amount, nanos] = list();
      const kind = of as DateValue['of'];
      return { kind: 'date', of: kind, amount: Number(amount), nanos: Number(nanos) };
    }
    case 'b': {
      const builtin = findBuiltin(text);
      if (builtin === undefined) throw unreadable(`there is no builtin \`${text}\``);
      return builtin;
    }
    case 'c': {
      const of = coded['of'];
      if (!Array.isArray(of)) throw unreadable('a list is missing');
      return {
        kind: 'combinator',
        name: text as CombinatorName,
        of: (of as readonly Json[]).map(decode),
      };
    }
    case 't':
      return { kind: 'tool', name: text };
    case 'fn':
      return decodeClosure(body, decode, find);
    default:
      throw unreadable('it holds a value of an unknown kind');
  }
}

function decodeRegex(source: string): Value {
  const compiled = compileRegex(source);
  if (compiled.kind !== 'regex') throw unreadable('a pattern does not compile');
  return { kind: 'regex', source, regex: compiled.regex };
}

function decodeMap(
  pairs: readonly (readonly [Json, Json])[],
  decode: (coded: Coded) => Value,
): Value {
  const keys = pairs.map(([key]) => decode(key));
  const vals = pairs.map(([, val]) => decode(val));
  return mapOf(keys, vals, DEEP);
}

function decodeClosure(body: Json, decode: (coded: Coded) => Value, find: FindCode): Value {
  if (!isJsonObject(body)) throw unreadable('a function is broken');
  const { code: place, env: held } = body;
  if (!Array.isArray(place) || !Array.isArray(held)) throw unreadable('a function is broken');
  const [programId, offset] = place as readonly Json[];
  const code = find(textOfJson(programId), Number(offset));
  if (code === undefined) throw unreadable('a function is not in its program');
  const values = new Map<string, Value>();
  for (const pair of held as readonly (readonly [Json, Json])[]) {
    values.set(textOfJson(pair[0]), decode(pair[1]));
  }
  const env = code.captures.map((capture) => values.get(capture.name) ?? null);
  return { kind: 'closure', code, env };
}

/** The request of an effect that is over: of what it asked only the kind and name are known. */
export function endedRequest(id: string, span: Span, saved: JsonObject): Effect['request'] {
  if (saved['kind'] === 'ask') return { id, kind: 'ask', question: '', free: true, span };
  if (saved['kind'] === 'sleep') return { id, kind: 'sleep', ms: 0, span };
  return { id, kind: 'tool', name: textOfJson(saved['name']), args: emptyObject(), span };
}
