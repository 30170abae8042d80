/**
 * JSON text ↔ values, with own code: the engine's parser turns `2.0` into `2`, loses big integers,
 * and its errors and its recursion are not ours.
 */
import { Fault } from '../base/problem.ts';
import { toWellFormed } from '../value/characters.ts';
import { quotedJson } from './json-quote.ts';
import { floatText } from '../value/number-text.ts';
import { chargeDigits } from '../value/numbers.ts';
import { checkNesting } from '../value/order.ts';
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
  type Value,
} from '../value/value.ts';
import { vectorItems, vectorOf } from '../value/vector.ts';

interface Reader {
  readonly text: string;
  readonly meter: Meter;
  at: number;
}

/** The value of a JSON text, or undefined when it is none. */
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

/** A number at a place; made anew for each search, since the place is part of it. */
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
  // Quadratic in the engine, so it is paid for by its square.
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

/** Moves over `character` after white space; false when another stands there. */
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

/** The JSON text of a value; a `type_error` with the path where there is none. */
export function jsonText(value: Value, meter: Meter, maxLength: number): string {
  const parts: string[] = [];
  const path: Value[] = [];
  let length = 0;
  const put = (text: string): void => {
    length += text.length;
    if (length > maxLength) {
      throw new Fault('size_exceeded', `The JSON text would be longer than ${maxLength} units.`);
    }
    parts.push(text);
  };
  const refuse = (item: Value): Fault =>
    new Fault(
      'type_error',
      `\`json/generate-string\`: the ${typeName(item)} at [${path.map(shortText).join(' ')}] has no JSON form: convert it with \`str\` or \`name\`.`,
    );
  const write = (item: Value): void => {
    meter.charge(1);
    checkNesting(path.length, meter);
    if (typeof item === 'string') {
      meter.charge(item.length >>> 4);
      put(quotedJson(item));
      return;
    }
    if (typeof item !== 'object' || item === null) {
      if (typeof item === 'bigint') chargeDigits(meter, item);
      const text = String(item);
      meter.extra(text.length >>> 4);
      put(text);
      return;
    }
    switch (item.kind) {
      case 'float':
        if (!Number.isFinite(item.value)) throw refuse(item);
        put(floatText(item.value).replace('E', 'e'));
        return;
      case 'date':
        put(quotedJson(dateText(item)));
        return;
      case 'vector':
        put('[');
        for (const [index, part] of vectorItems(item).entries()) {
          if (index > 0) put(',');
          path.push(index);
          write(part);
          path.pop();
        }
        put(']');
        return;
      case 'map': {
        const vals = treeVals(item);
        const seen = new Set<string>();
        put('{');
        for (const [index, key] of treeKeys(item).entries()) {
          path.push(key);
          const name =
            typeof key === 'string'
              ? key
              : isKeyword(key)
                ? key.name
                : isInteger(key)
                  ? String(key)
                  : null;
          if (name === null || seen.has(name)) throw refuse(key);
          meter.extra(1 + (name.length >>> 4));
          seen.add(name);
          put(`${index > 0 ? ',' : ''}${quotedJson(name)}:`);
          write(vals[index] as Value);
          path.pop();
        }
        put('}');
        return;
      }
      default:
        throw refuse(item);
    }
  };
  write(value);
  return parts.join('');
}
