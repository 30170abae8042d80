/** Literals of strings, regular expressions and characters. */
import { characterEnd, isWellFormed } from '../value/characters.ts';
import {
  markOf,
  parseError,
  peek,
  spanFrom,
  take,
  takeToken,
  type Mark,
  type Scanner,
} from './scanner.ts';

const NAMED_CHARACTERS: ReadonlyMap<string, string> = new Map([
  ['newline', '\n'],
  ['space', ' '],
  ['tab', '\t'],
  ['return', '\r'],
  ['backspace', '\b'],
  ['formfeed', '\f'],
]);

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\\', '\\'],
  ['"', '"'],
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
]);

/** Reads a string whose opening quote is next. */
export function readText(s: Scanner): string {
  const from = markOf(s);
  take(s);
  let text = '';
  for (;;) {
    const character = take(s);
    if (character === '') throw unclosed(s, from, '"');
    if (character === '"') break;
    if (character === '\\') text += readEscape(s);
    else text += character;
  }
  if (!isWellFormed(text)) {
    throw parseError('This text has half a surrogate pair in it.', spanFrom(s, from));
  }
  return text;
}

function readEscape(s: Scanner): string {
  const from = markOf(s);
  const next = peek(s);
  if (next === 'u') {
    const hex = s.source.slice(s.offset + 1, s.offset + 5);
    if (!/^[0-9a-fA-F]{4}$/.test(hex)) {
      take(s);
      throw parseError('`\\u` in a string takes four hexadecimal digits.', spanFrom(s, from));
    }
    for (let count = 0; count < 5; count++) take(s);
    return String.fromCharCode(Number.parseInt(hex, 16));
  }
  const known = ESCAPES.get(next);
  if (known === undefined) return '\\';
  take(s);
  return known;
}

/** Reads the body of a regex literal whose opening quote is next. Backslashes are kept. */
export function readRegexBody(s: Scanner, from: Mark): string {
  take(s);
  const start = s.offset;
  for (;;) {
    const character = take(s);
    if (character === '') throw unclosed(s, from, '#"');
    if (character === '\\') take(s);
    else if (character === '"') return s.source.slice(start, s.offset - 1);
  }
}

function unclosed(s: Scanner, from: Mark, opener: string): ReturnType<typeof parseError> {
  return parseError(`Unclosed \`${opener}\` opened at line ${from.line}, column ${from.column}.`, {
    start: from.offset,
    end: from.offset + opener.length,
    line: from.line,
    column: from.column,
  });
}

/** Reads a character whose backslash is next. Its value is text of one character. */
export function readCharacter(s: Scanner): string {
  const from = markOf(s);
  take(s);
  const first = take(s);
  if (first === '') throw parseError('A `\\` at the end names no character.', spanFrom(s, from));
  const token = first + takeToken(s);
  if (token === first) return token;
  const named = NAMED_CHARACTERS.get(token);
  if (named !== undefined) return named;
  if (/^u[0-9a-fA-F]{4}$/.test(token)) {
    const text = String.fromCharCode(Number.parseInt(token.slice(1), 16));
    if (isWellFormed(text)) return text;
    throw parseError('Half a surrogate pair is no character.', spanFrom(s, from));
  }
  // A combining mark, such as an accent, belongs to the character before it.
  if (characterEnd(token, 0) === token.length) return token;
  throw parseError(
    `There is no character \`\\${token}\`. Named ones are \\newline \\space \\tab \\return \\backspace \\formfeed; others are one character, such as \\a.`,
    spanFrom(s, from),
  );
}
