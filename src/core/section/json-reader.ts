/**
 * Reads JSON (RFC 8259). Positions and messages are our own, since those of `JSON.parse` differ
 * between engine versions, and `JSON.parse` silently changes large integers.
 *
 * I1  The value equals that of `JSON.parse` if that succeeds and no limit below is crossed.
 * I2  A key never reaches a prototype: `__proto__` becomes an ordinary property.
 * I3  Linear in the length. Nesting is bounded, so the engine's stack does not overflow.
 */
import { utf8Length, type Json } from '../base/json.ts';
import type { ReplyProblem } from '../base/problem.ts';
import { clip } from '../text/cut.ts';

/** A value, or the first problem: `json_` and `syntax`, `trailing`, `number`, `depth` or `size`. */
export type JsonReading =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'problem'; readonly problem: ReplyProblem };

/** Arrays and objects inside each other; far above real data. */
export const maxDepth = 100;

/** UTF-8 bytes of one text; more means that the reply went wrong. */
export const maxTextBytes: number = 256 * 1024;

/** Characters of the text that a problem quotes. */
const maxQuoted = 20;

/** The cursor, and the first problem, which stops reading. */
interface Scan {
  readonly text: string;
  position: number;
  problem: ReplyProblem | undefined;
  /** Made for each text, because a sticky expression has state. */
  readonly number: RegExp;
}

const plainEscapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** Reads one JSON value; of repeated keys the last wins. Never throws. */
export function readJson(text: string): JsonReading {
  if (text.length > maxTextBytes || utf8Length(text) > maxTextBytes) {
    return { kind: 'problem', problem: { code: 'json_size', message: 'longer than 256 KB' } };
  }
  const number = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
  const scan: Scan = { text, position: 0, problem: undefined, number };
  skipBlanks(scan);
  const value = readValue(scan, 0);
  skipBlanks(scan);
  if (scan.problem === undefined && scan.position < text.length) {
    const quoted = quote(scan);
    const message = `one value was read, but more text follows: ${quoted}. Write nothing after it.`;
    fail(scan, 'json_trailing', message);
  }
  return scan.problem === undefined
    ? { kind: 'value', value }
    : { kind: 'problem', problem: scan.problem };
}

function readValue(scan: Scan, depth: number): Json {
  switch (scan.text[scan.position]) {
    case '{':
      return readObject(scan, depth + 1);
    case '[':
      return readArray(scan, depth + 1);
    case '"':
      return readString(scan);
    case 't':
      return readWord(scan, 'true', true);
    case 'f':
      return readWord(scan, 'false', false);
    case 'n':
      return readWord(scan, 'null', null);
    default:
      return readNumber(scan);
  }
}

function readObject(scan: Scan, depth: number): Json {
  const members: [string, Json][] = [];
  if (isTooDeep(scan, depth)) return null;
  scan.position += 1;
  skipBlanks(scan);
  if (take(scan, '}')) return {};
  for (;;) {
    if (scan.text[scan.position] !== '"') return expected(scan, 'a key in double quotes');
    const key = readString(scan);
    skipBlanks(scan);
    if (scan.problem !== undefined) return null;
    if (!take(scan, ':')) return expected(scan, '":"');
    skipBlanks(scan);
    members.push([key, readValue(scan, depth)]);
    skipBlanks(scan);
    if (scan.problem !== undefined) return null;
    if (take(scan, '}')) return Object.fromEntries(members); // I2: defines, never assigns
    if (!take(scan, ',')) return expected(scan, '"," or "}"');
    skipBlanks(scan);
  }
}

function readArray(scan: Scan, depth: number): Json {
  const items: Json[] = [];
  if (isTooDeep(scan, depth)) return null;
  scan.position += 1;
  skipBlanks(scan);
  if (take(scan, ']')) return items;
  for (;;) {
    items.push(readValue(scan, depth));
    skipBlanks(scan);
    if (scan.problem !== undefined) return null;
    if (take(scan, ']')) return items;
    if (!take(scan, ',')) return expected(scan, '"," or "]"');
    skipBlanks(scan);
  }
}

function readString(scan: Scan): string {
  const pieces: string[] = [];
  let from = scan.position + 1;
  for (;;) {
    const end = plainEnd(scan.text, from);
    pieces.push(scan.text.slice(from, end));
    scan.position = end;
    const character = scan.text[end];
    if (character === '"') {
      scan.position = end + 1;
      return pieces.join('');
    }
    if (character !== '\\') {
      expected(scan, character === undefined ? 'a closing quote' : 'a control character escaped');
      return '';
    }
    const escaped = escapeAt(scan.text, end);
    if (escaped === undefined) {
      expected(scan, 'an escape such as \\n or \\u00e9');
      return '';
    }
    pieces.push(escaped.text);
    from = end + escaped.length;
  }
}

/** The end of the plain characters of a string: a quote, a backslash or a control character. */
function plainEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length) {
    const unit = text.charCodeAt(end);
    if (unit === 0x22 || unit === 0x5c || unit < 0x20) return end;
    end += 1;
  }
  return end;
}

function escapeAt(text: string, position: number): { text: string; length: number } | undefined {
  const letter = text[position + 1] ?? '';
  if (letter === 'u') {
    const digits = text.slice(position + 2, position + 6);
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) return undefined;
    return { text: String.fromCharCode(Number.parseInt(digits, 16)), length: 6 };
  }
  const plain = Object.hasOwn(plainEscapes, letter) ? plainEscapes[letter] : undefined;
  return plain === undefined ? undefined : { text: plain, length: 2 };
}

function readWord(scan: Scan, word: string, value: Json): Json {
  if (!scan.text.startsWith(word, scan.position)) return expected(scan, 'a value');
  scan.position += word.length;
  return value;
}

function readNumber(scan: Scan): Json {
  scan.number.lastIndex = scan.position;
  const match = scan.number.exec(scan.text);
  if (match === null) {
    if (scan.text[scan.position] !== '-') return expected(scan, 'a value');
    scan.position += 1;
    return expected(scan, 'a digit');
  }
  const [digits, fraction, exponent] = match;
  const value = Number(digits);
  const isWritten = fraction === undefined && exponent === undefined;
  if (!Number.isFinite(value) || (isWritten && !Number.isSafeInteger(value))) {
    fail(scan, 'json_number', tooLargeText(digits));
    return null;
  }
  scan.position += digits.length;
  return value;
}

/** The problem of a number that a double cannot hold exactly. */
export function tooLargeText(digits: string): string {
  return `${clip(digits, 80)} is too large to be exact. Write it as a string.`;
}

function isTooDeep(scan: Scan, depth: number): boolean {
  if (depth <= maxDepth) return false;
  fail(scan, 'json_depth', `deeper than ${maxDepth} levels`);
  return true;
}

function skipBlanks(scan: Scan): void {
  for (;;) {
    const unit = scan.text.charCodeAt(scan.position);
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
    scan.position += 1;
  }
}

function take(scan: Scan, character: string): boolean {
  if (scan.text[scan.position] !== character) return false;
  scan.position += 1;
  return true;
}

function expected(scan: Scan, what: string): null {
  fail(scan, 'json_syntax', `expected ${what}, got ${quote(scan)}`);
  return null;
}

function fail(scan: Scan, code: string, message: string): void {
  scan.problem ??= problemAt(scan.text, scan.position, code, message);
}

function quote(scan: Scan): string {
  if (scan.position >= scan.text.length) return 'end of text';
  const next = clip(scan.text.slice(scan.position, scan.position + maxQuoted + 1), maxQuoted);
  return `\`${next.replace(/\n/g, '\\n')}\``;
}

/** A problem at an offset of `text`: `line {l}, column {c}: {message}`, both from 1. */
export function problemAt(
  text: string,
  offset: number,
  code: string,
  message: string,
): ReplyProblem {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  const column = offset - (before.lastIndexOf('\n') + 1) + 1;
  return { code, message: `line ${line}, column ${column}: ${message}`, line, column };
}
