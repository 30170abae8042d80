/** Converts values to JSON and back: tool arguments and results, answers, details of questions. */
import { Fault } from '../base/problem.ts';
import {
  isInteger,
  isKeyword,
  UNMETERED,
  typeName,
  type TreeMap,
  type Value,
  float,
} from '../value/value.ts';
import { vectorItems, vectorOf } from '../value/vector.ts';
import { dateText } from '../value/date-text.ts';
import { shortText } from '../value/print.ts';
import { treeKeys, treeVals } from '../value/tree-walk.ts';
import { emptyObject, isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { toWellFormed } from '../value/characters.ts';
import { mapOf } from '../value/tree.ts';

/** Larger output is refused. */
const MAX_NODES = 200_000;
const MAX_UNITS = 1_048_576;
/** Values that go out or come in nest no deeper: recursion has to end within the stack. */
const MAX_NESTING = 1_000;

/** How {@link toJson} spells keys. */
export interface ToJsonOptions {
  /** `underscore` writes `_` for `-` in keyword keys, except those that the schema declares. */
  readonly dashes?: 'keep' | 'underscore';
  /** A JSON Schema whose declared property names are kept as they are. */
  readonly schema?: Json | undefined;
}

/** JSON, or the reason and path of a value that has no JSON form. */
export type ToJson =
  | { readonly ok: true; readonly json: Json; readonly warnings: readonly string[] }
  | {
      readonly ok: false;
      readonly reason: 'not_json' | 'size_exceeded';
      readonly path: string;
      readonly message: string;
    };

interface Writer {
  readonly underscore: boolean;
  readonly warnings: string[];
  readonly path: string[];
  nodes: number;
  units: number;
}

/** The JSON form of `value`. Takes time in its size as a tree, up to a limit. */
export function toJson(value: Value, options: ToJsonOptions = {}): ToJson {
  const w: Writer = {
    underscore: options.dashes === 'underscore',
    warnings: [],
    path: [],
    nodes: 0,
    units: 0,
  };
  try {
    return { ok: true, json: write(w, value, options.schema), warnings: w.warnings };
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    const reason = thrown.reason === 'size_exceeded' ? 'size_exceeded' : 'not_json';
    return { ok: false, reason, path: `[${w.path.join(' ')}]`, message: thrown.message };
  }
}

function count(w: Writer, units: number): void {
  w.nodes += 1;
  w.units += units;
  if (w.nodes > MAX_NODES || w.units > MAX_UNITS) {
    throw new Fault('size_exceeded', 'The value is larger than 1 MB or 200,000 nodes as JSON.');
  }
  if (w.path.length > MAX_NESTING) {
    throw new Fault('not_json', 'The value is nested too deep for JSON.');
  }
}

function write(w: Writer, value: Value, schema: Json | undefined): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') {
    count(w, 4);
    return value;
  }
  if (typeof value === 'string') {
    count(w, value.length + 2);
    return value;
  }
  if (typeof value === 'bigint') {
    const text = String(value);
    count(w, text.length + 2);
    return text;
  }
  switch (value.kind) {
    case 'float':
      count(w, 8);
      if (Number.isFinite(value.value)) return value.value;
      throw unwritable(w, value, 'convert it with `str`, or use nil');
    case 'keyword':
      count(w, value.name.length + 2);
      return value.name;
    case 'date': {
      const text = dateText(value);
      count(w, text.length + 2);
      return text;
    }
    case 'vector':
      return writeItems(w, vectorItems(value), schema);
    case 'set':
      return writeItems(w, treeKeys(value), schema);
    case 'map':
      return writeMap(w, value, schema);
    default:
      throw unwritable(w, value, 'convert it with `str`');
  }
}

function unwritable(w: Writer, value: Value, advice: string): Fault {
  const kind = typeName(value);
  const what = kind === 'float' ? shortText(value) : kind;
  return new Fault('not_json', `The ${what} at [${w.path.join(' ')}] has no JSON form: ${advice}.`);
}

function member(schema: Json | undefined, name: string): Json | undefined {
  return isJsonObject(schema) && Object.hasOwn(schema, name) ? schema[name] : undefined;
}

function writeItems(w: Writer, items: readonly Value[], schema: Json | undefined): Json {
  count(w, 2);
  const each = member(schema, 'items');
  return items.map((item, index) => {
    w.path.push(String(index));
    const json = write(w, item, each);
    w.path.pop();
    return json;
  });
}

function writeMap(w: Writer, value: TreeMap, schema: Json | undefined): Json {
  count(w, 2);
  const declared = member(schema, 'properties');
  const properties: JsonObject = isJsonObject(declared) ? declared : {};
  const object = emptyObject<Json>();
  const keys = treeKeys(value);
  const vals = treeVals(value);
  // In key order keywords come before strings, so a keyword wins over an equal string.
  for (const [index, key] of keys.entries()) {
    const name = keyName(w, key, properties);
    w.path.push(shortText(key));
    if (Object.hasOwn(object, name)) {
      w.warnings.push(
        `Two keys of one map are both \`${name}\` as JSON; the keyword's value was taken.`,
      );
    } else {
      count(w, name.length + 3);
      object[name] = write(w, vals[index] as Value, member(properties, name));
    }
    w.path.pop();
  }
  return object;
}

function keyName(w: Writer, key: Value, properties: JsonObject): string {
  if (typeof key === 'string') return key;
  if (isInteger(key)) return String(key);
  if (isKeyword(key)) {
    const plain = !w.underscore || Object.hasOwn(properties, key.name);
    return plain ? key.name : key.name.replaceAll('-', '_');
  }
  throw new Fault(
    'not_json',
    `The key ${shortText(key)} at [${w.path.join(' ')}] has no JSON form: use a keyword or text.`,
  );
}

/**
 * The value of a JSON value. Objects become maps with string keys; whole numbers within ±(2^53−1)
 * become integers; text is made well-formed.
 */
export function fromJson(json: Json): Value {
  return convert(json, 0);
}

function convert(json: Json, nesting: number): Value {
  if (typeof json === 'string') return toWellFormed(json);
  if (typeof json === 'number') {
    return Number.isSafeInteger(json) ? json + 0 : float(json);
  }
  if (json === null || typeof json === 'boolean') return json;
  if (nesting >= MAX_NESTING) return null;
  if (!isJsonObject(json)) return vectorOf(json.map((item) => convert(item, nesting + 1)));
  const names = Object.keys(json);
  const keys = names.map(toWellFormed);
  const vals = names.map((name) => convert(json[name] as Json, nesting + 1));
  return mapOf(keys, vals, UNMETERED);
}
