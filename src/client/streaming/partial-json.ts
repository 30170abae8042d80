/**
 * The value of a JSON text that is being written: what is there of it so far.
 *
 * P1  Of a whole text, the value is that of `JSON.parse`.
 * P2  A text in a string is shown as far as it goes; a key, number or word that is not whole is left out.
 * P3  Reading grows with the text, not with its square: a text is read again once it has grown by a part.
 */
import type { Json } from '../../core/base/json.ts';
import { parsedJson } from './parsed-json.ts';

/** UTF-16 units of a text that is read; a longer one has no partial values. */
const MAX_TEXT = 1_048_576;

/** Levels that are read: the standard parser is recursive. */
const MAX_DEPTH = 200;

/** A text is read again once it is longer by this part, and by so many units at least. */
const GROWTH = 1 / 16;
const MIN_GROWTH = 8;

/** The value of `text`, completed where it stops; undefined if there is none. */
export function partialJson(text: string): Json | undefined {
  const start = text.search(/[[{]/);
  // Words before an object are those of a fence; other texts have no value.
  if (start < 0 || !/^\s*(?:```\w*\s*)?$/.test(text.slice(0, start))) return undefined;
  const closed = closedText(text.slice(start));
  return closed === undefined ? undefined : parsedJson(closed);
}

/** `text` up to the last place at which it can be closed, and the brackets that close it. */
function closedText(text: string): string | undefined {
  const open: string[] = [];
  // The end and the open brackets of the longest beginning that is a value once it is closed.
  let end = 0;
  let closing = '';
  const mark = (at: number): void => {
    end = at;
    closing = open.toReversed().join('');
  };
  let isKey = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      const stop = stringEnd(text, at);
      if (stop === undefined)
        return isKey ? text.slice(0, end) + closing : openString(text, at, open);
      at = stop;
      if (!isKey) mark(at + 1);
    } else if (char === '{' || char === '[') {
      if (open.length >= MAX_DEPTH) return undefined;
      open.push(char === '{' ? '}' : ']');
      isKey = char === '{';
      mark(at + 1);
    } else if (char === '}' || char === ']') {
      if (open.pop() !== char) return undefined;
      isKey = false;
      mark(at + 1);
      if (open.length === 0) return text.slice(0, at + 1);
    } else if (char === ',') {
      isKey = open.at(-1) === '}';
    } else if (char === ':') {
      isKey = false;
    } else if (char !== undefined && /[\w+.-]/.test(char)) {
      const word = /^[\w+.-]+/.exec(text.slice(at, at + MAX_WORD))?.[0] ?? char;
      at += word.length - 1;
      // The next character may belong to it.
      if (at + 1 < text.length) mark(at + 1);
    }
  }
  return text.slice(0, end) + closing;
}

/** Units of a number or a word that are looked at. */
const MAX_WORD = 64;

/** The place of the quote that ends the string at `from`; undefined: it is not there. */
function stringEnd(text: string, from: number): number | undefined {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return undefined;
}

/** The text with the string at `from` ended before an escape that is not whole. */
function openString(text: string, from: number, open: readonly string[]): string {
  let end = text.length;
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] !== '\\') continue;
    const length = text[at + 1] === 'u' ? 6 : 2;
    if (at + length > text.length) end = at;
    at += length - 1;
  }
  return `${text.slice(0, end)}"${open.toReversed().join('')}`;
}

/** Gives the partial value of a growing text; undefined: it has not grown enough, or has none. */
export interface PartialReader {
  readonly add: (delta: string) => Json | undefined;
  /** Forgets the text: another one begins. */
  readonly reset: () => void;
}

/** A reader of one text after another. */
export function createPartialReader(): PartialReader {
  let text = '';
  let next = 0;
  return {
    add: (delta) => {
      if (text.length + delta.length > MAX_TEXT) next = Infinity;
      else text += delta;
      if (text.length < next) return undefined;
      next = text.length + Math.max(MIN_GROWTH, text.length * GROWTH);
      return partialJson(text);
    },
    reset: () => {
      text = '';
      next = 0;
    },
  };
}
