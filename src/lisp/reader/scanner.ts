/**
 * Scanning: the position in a text with its line and column, and the delimiters of the language.
 */
import { Fault } from '../base/problem.ts';
import type { Span } from '../base/source.ts';

/** The position of the reader. */
export interface Scanner {
  readonly source: string;
  offset: number;
  line: number;
  column: number;
  /** Number of open quotes; inside one, `()` is data. */
  quotes: number;
  /** Distinct symbols and keywords so far. */
  readonly names: Set<string>;
}

/** A position at which a span begins. */
export interface Mark {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
}

/** Limit of distinct symbols and keywords in one program. */
const MAX_NAMES = 10_000;

/** A scanner at the start of `source`. */
export function newScanner(source: string): Scanner {
  return { source, offset: 0, line: 1, column: 1, quotes: 0, names: new Set() };
}

/** The current position. */
export function markOf(s: Scanner): Mark {
  return { offset: s.offset, line: s.line, column: s.column };
}

/** The span from `from` to the current position. */
export function spanFrom(s: Scanner, from: Mark): Span {
  return { start: from.offset, end: s.offset, line: from.line, column: from.column };
}

/** The code point at the current position; empty at the end. */
export function peek(s: Scanner): string {
  const codePoint = s.source.codePointAt(s.offset);
  return codePoint === undefined ? '' : String.fromCodePoint(codePoint);
}

/** Moves over one code point and returns it. */
export function take(s: Scanner): string {
  const character = peek(s);
  s.offset += character.length;
  if (character === '\n') {
    s.line += 1;
    s.column = 1;
  } else if (character !== '') s.column += 1;
  return character;
}

/** A parse error at `span`. */
export function parseError(message: string, span: Span): Fault {
  return new Fault('parse_error', message, { span });
}

/** Whether a token ends before `character`. */
function isDelimiter(character: string): boolean {
  return character === '' || isSpace(character) || '()[]{}";'.includes(character);
}

/** Whether `character` is white space. A comma counts as white space. */
function isSpace(character: string): boolean {
  return (
    character === ' ' ||
    character === '\n' ||
    character === ',' ||
    character === '\t' ||
    character === '\r'
  );
}

/** Moves over white space and comments. */
export function skipSpace(s: Scanner): void {
  for (;;) {
    const character = s.source.charAt(s.offset);
    if (isSpace(character)) take(s);
    else if (character === ';') {
      while (s.offset < s.source.length && s.source.charAt(s.offset) !== '\n') take(s);
    } else return;
  }
}

/** Moves over a token, up to the next delimiter, and returns it. */
export function takeToken(s: Scanner): string {
  const from = s.offset;
  while (!isDelimiter(peek(s))) take(s);
  return s.source.slice(from, s.offset);
}

/** Counts a name toward the limit of distinct names. */
export function countName(s: Scanner, name: string, span: Span): void {
  s.names.add(name);
  if (s.names.size > MAX_NAMES) {
    throw parseError('A program has at most 10,000 distinct symbols and keywords.', span);
  }
}
