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
}

const numberToken = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;

/** A string up to its closing quote, or up to the first character that it cannot contain. */
const stringToken = /"[ !#-[\]-\uFFFF]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\uFFFF]*)*/y;

/** Reads one JSON value; of repeated keys the last wins. Never throws. */
export function readJson(text: string): JsonReading {
  if (text.length > maxTextBytes || utf8Length(text) > maxTextBytes) {
    return { kind: 'problem', problem: { code: 'json_size', message: 'longer than 256 KB' } };
  }
  const scan: Scan = { text, position: 0, problem: undefined };
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
  // I2: defines, never assigns
  return Object.fromEntries(
    readItems(scan, '}', depth, (): [string, Json] => {
      if (scan.text[scan.position] !== '"') return ['', expected(scan, 'a key in double quotes')];
      const key = readString(scan);
      skipBlanks(scan);
      if (!take(scan, ':')) return ['', expected(scan, '":"')];
      skipBlanks(scan);
      return [key, readValue(scan, depth)];
    }),
  );
}

function readArray(scan: Scan, depth: number): Json {
  return readItems(scan, ']', depth, () => readValue(scan, depth));
}

/** The items up to `close`; after a problem, those before it. */
function readItems<Item>(
  scan: Scan,
  close: ']' | '}',
  depth: number,
  readItem: () => Item,
): readonly Item[] {
  const items: Item[] = [];
  if (depth > maxDepth) {
    fail(scan, 'json_depth', `deeper than ${maxDepth} levels`);
    return items;
  }
  scan.position += 1;
  skipBlanks(scan);
  if (take(scan, close)) return items;
  for (;;) {
    items.push(readItem());
    skipBlanks(scan);
    if (scan.problem !== undefined || take(scan, close)) return items;
    if (!take(scan, ',')) {
      expected(scan, `"," or "${close}"`);
      return items;
    }
    skipBlanks(scan);
  }
}

function readString(scan: Scan): string {
  stringToken.lastIndex = scan.position;
  const [token = ''] = stringToken.exec(scan.text) ?? [];
  scan.position += token.length;
  if (take(scan, '"')) return JSON.parse(`${token}"`) as string;
  const next = scan.text[scan.position];
  if (next === undefined) expected(scan, 'a closing quote');
  else if (next === '\\') expected(scan, 'an escape such as \\n or \\u00e9');
  else expected(scan, 'a control character escaped');
  return '';
}

function readWord(scan: Scan, word: string, value: Json): Json {
  if (!scan.text.startsWith(word, scan.position)) return expected(scan, 'a value');
  scan.position += word.length;
  return value;
}

function readNumber(scan: Scan): Json {
  numberToken.lastIndex = scan.position;
  const match = numberToken.exec(scan.text);
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
