/**
 * Reads and writes JSON text.
 * `JSON.parse` would turn `2.0` into `2` and lose big integers, and its recursion and its error
 * texts depend on the JavaScript engine.
 */
import { Fault } from '../base/problem.ts';
import { toWellFormed } from '../value/characters.ts';
import { floatText } from '../value/number-text.ts';
import { checkNesting } from '../value/nesting.ts';
import { chargeDigits } from '../value/numbers.ts';
import { shortText } from '../value/print.ts';
import { dateText } from '../value/date-text.ts';
import { treeKeys, treeVals } from '../value/tree-walk.ts';
import { mapOf } from '../value/tree.ts';
import {
  float,
  integer,
  isInteger,
  isKeyword,
  typeName,
  type Meter,
  type TreeMap,
  type Value,
} from '../value/value.ts';
import { vectorItems, vectorOf } from '../value/vector.ts';

interface Reader {
  readonly text: string;
  readonly meter: Meter;
  at: number;
}

/** The value of a JSON text, or undefined for any other text. */
export function parseJsonText(text: string, meter: Meter): Value | undefined {
  meter.charge(1 + (text.length >>> 4));
  const r: Reader = { text, meter, at: 0 };
  const value = read(r, 0);
  skip(r);
  return r.at === text.length ? value : undefined;
}

function skip(r: Reader): void {
  for (;;) {
    const unit = r.text.charCodeAt(r.at);
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
    r.at += 1;
  }
}

/** A new pattern for each search, since `lastIndex` is part of its state. */
const numberPattern = (): RegExp => /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;

function read(r: Reader, nesting: number): Value | undefined {
  skip(r);
  r.meter.charge(1);
  checkNesting(nesting, r.meter);
  const character = r.text.charAt(r.at);
  if (character === '"') return readText(r);
  if (character === '[') return readArray(r, nesting);
  if (character === '{') return readObject(r, nesting);
  for (const [word, value] of [
    ['null', null],
    ['true', true],
    ['false', false],
  ] as const) {
    if (!r.text.startsWith(word, r.at)) continue;
    r.at += word.length;
    return value;
  }
  const pattern = numberPattern();
  pattern.lastIndex = r.at;
  const found = pattern.exec(r.text);
  if (found === null) return undefined;
  const [token, fraction, exponent] = found;
  r.at += token.length;
  if (fraction !== undefined || exponent !== undefined) return float(Number(token));
  if (token.length < 16) return Number(token) + 0;
  // The engine takes quadratic time, so the fuel is quadratic too.
  r.meter.charge((token.length * token.length) >>> 10);
  if (token.length > 20_000) return undefined;
  return integer(BigInt(token));
}

function readText(r: Reader): string | undefined {
  let out = '';
  let from = r.at + 1;
  for (let at = from; at < r.text.length; at++) {
    const unit = r.text.charCodeAt(at);
    if (unit === 0x22) {
      r.at = at + 1;
      return toWellFormed(out + r.text.slice(from, at));
    }
    if (unit < 0x20) return undefined;
    if (unit !== 0x5c) continue;
    const next = r.text.charAt(at + 1);
    const plain = ESCAPES.get(next);
    out += r.text.slice(from, at);
    if (plain !== undefined) {
      out += plain;
      at += 1;
    } else {
      const hex = r.text.slice(at + 2, at + 6);
      if (next !== 'u' || !/^[0-9a-fA-F]{4}$/.test(hex)) return undefined;
      out += String.fromCharCode(Number.parseInt(hex, 16));
      at += 5;
    }
    from = at + 1;
  }
  return undefined;
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);

/** Moves over white space and `character`; false for another character. */
function accept(r: Reader, character: string): boolean {
  skip(r);
  if (r.text.charAt(r.at) !== character) return false;
  r.at += 1;
  return true;
}

function readArray(r: Reader, nesting: number): Value | undefined {
  r.at += 1;
  const items: Value[] = [];
  if (accept(r, ']')) return vectorOf(items);
  for (;;) {
    const item = read(r, nesting + 1);
    if (item === undefined) return undefined;
    items.push(item);
    if (accept(r, ']')) return vectorOf(items);
    if (!accept(r, ',')) return undefined;
  }
}

function readObject(r: Reader, nesting: number): Value | undefined {
  r.at += 1;
  const keys: Value[] = [];
  const vals: Value[] = [];
  if (accept(r, '}')) return mapOf(keys, vals, r.meter);
  for (;;) {
    skip(r);
    if (r.text.charAt(r.at) !== '"') return undefined;
    const key = readText(r);
    if (key === undefined || !accept(r, ':')) return undefined;
    const value = read(r, nesting + 1);
    if (value === undefined) return undefined;
    keys.push(key);
    vals.push(value);
    if (accept(r, '}')) return mapOf(keys, vals, r.meter);
    if (!accept(r, ',')) return undefined;
  }
}

interface Writer {
  readonly meter: Meter;
  readonly maxLength: number;
  readonly parts: string[];
  /** Keys and indexes from the root to the current value. */
  readonly path: Value[];
  length: number;
}

/** The JSON text of a value. A part without a JSON form is a `type_error` that shows its path. */
export function jsonText(value: Value, meter: Meter, maxLength: number): string {
  const w: Writer = { meter, maxLength, parts: [], path: [], length: 0 };
  write(w, value);
  return w.parts.join('');
}

function put(w: Writer, text: string): void {
  w.length += text.length;
  if (w.length > w.maxLength) {
    throw new Fault('size_exceeded', `The JSON text would be longer than ${w.maxLength} units.`);
  }
  w.parts.push(text);
}

function refusal(w: Writer, item: Value): Fault {
  return new Fault(
    'type_error',
    `\`json/generate-string\`: the ${typeName(item)} at [${w.path.map(shortText).join(' ')}] has no JSON form: convert it with \`str\` or \`name\`.`,
  );
}

function write(w: Writer, item: Value): void {
  w.meter.charge(1);
  checkNesting(w.path.length, w.meter);
  if (typeof item === 'string') {
    w.meter.charge(item.length >>> 4);
    return put(w, JSON.stringify(item));
  }
  if (typeof item === 'bigint') chargeDigits(w.meter, item);
  if (typeof item !== 'object' || item === null) {
    const text = String(item);
    w.meter.charge(text.length >>> 4);
    return put(w, text);
  }
  switch (item.kind) {
    case 'float':
      if (!Number.isFinite(item.value)) throw refusal(w, item);
      return put(w, floatText(item.value).replace('E', 'e'));
    case 'date':
      return put(w, JSON.stringify(dateText(item)));
    case 'vector':
      put(w, '[');
      for (const [index, part] of vectorItems(item).entries()) {
        if (index > 0) put(w, ',');
        w.path.push(index);
        write(w, part);
        w.path.pop();
      }
      return put(w, ']');
    case 'map':
      return writeMap(w, item);
    default:
      throw refusal(w, item);
  }
}

function writeMap(w: Writer, item: TreeMap): void {
  const vals = treeVals(item);
  const seen = new Set<string>();
  put(w, '{');
  for (const [index, key] of treeKeys(item).entries()) {
    w.path.push(key);
    const name = keyName(key);
    if (name === null || seen.has(name)) throw refusal(w, key);
    seen.add(name);
    w.meter.charge(1 + (name.length >>> 4));
    put(w, `${index > 0 ? ',' : ''}${JSON.stringify(name)}:`);
    write(w, vals[index] as Value);
    w.path.pop();
  }
  put(w, '}');
}

function keyName(key: Value): string | null {
  if (typeof key === 'string') return key;
  if (isKeyword(key)) return key.name;
  return isInteger(key) ? String(key) : null;
}
