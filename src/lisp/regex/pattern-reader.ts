/**
 * The state of the parser: the code points of the pattern with their places, without `\Q…\E`.
 *
 * A failure does not throw. The first one is kept and the reader moves to the end, so that every
 * loop of the parser ends.
 */

/** Added to a code point between `\Q` and `\E`, which is never syntax. */
export const QUOTED = 0x200000;
/** The result of `peek` after the last character. */
export const END = -1;

/** The reason of a refusal, and its UTF-16 offset in the source. */
export interface RegexFailure {
  readonly message: string;
  readonly at: number;
}

/** The flags, as bits. */
export const FLAG = {
  IGNORE_CASE: 1,
  /** `^` and `$` at every line. */
  MULTI_LINE: 2,
  /** `.` matches line breaks too. */
  DOT_ALL: 4,
  /** White space and `#` comments in the pattern are ignored. */
  COMMENTS: 8,
} as const;

/** The state of reading a pattern. */
export interface PatternReader {
  readonly codes: readonly number[];
  /** The UTF-16 offset of each code in the source, and the source's length at the end. */
  readonly offsets: readonly number[];
  readonly groupNames: (string | null)[];
  index: number;
  flags: number;
  failure: RegexFailure | null;
}

/** A reader at the start of `source`. */
export function openPattern(source: string): PatternReader {
  const codes: number[] = [];
  const offsets: number[] = [];
  let quoted = false;
  let offset = 0;
  while (offset < source.length) {
    const code = source.codePointAt(offset) ?? 0;
    const next = source.charAt(offset + 1);
    if (code === 0x5c && next === (quoted ? 'E' : 'Q')) {
      quoted = !quoted;
      offset += 2;
    } else if (code === 0x5c && !quoted && offset + 1 < source.length) {
      // The character after a backslash belongs to it: `\\Q` begins no quotation.
      const escaped = source.codePointAt(offset + 1) ?? 0;
      codes.push(code, escaped);
      offsets.push(offset, offset + 1);
      offset += escaped > 0xffff ? 3 : 2;
    } else {
      codes.push(quoted ? code + QUOTED : code);
      offsets.push(offset);
      offset += code > 0xffff ? 2 : 1;
    }
  }
  offsets.push(source.length);
  return { codes, offsets, groupNames: [null], index: 0, flags: 0, failure: null };
}

/** The code `ahead` characters from here, or `END`. */
export function peek(reader: PatternReader, ahead = 0): number {
  return reader.codes[reader.index + ahead] ?? END;
}

/** Moves past `sign`, a syntax character, if it is next. */
export function accept(reader: PatternReader, sign: string): boolean {
  if (peek(reader) !== sign.charCodeAt(0)) return false;
  reader.index += 1;
  return true;
}

/** Whether `signs`, syntax characters, are next. */
export function looksAt(reader: PatternReader, signs: string): boolean {
  for (let index = 0; index < signs.length; index++) {
    if (peek(reader, index) !== signs.charCodeAt(index)) return false;
  }
  return true;
}

/** Refuses the pattern at character `index`. The first refusal is kept. */
export function refuse(reader: PatternReader, message: string, index: number = reader.index): void {
  reader.failure ??= { message, at: reader.offsets[index] ?? 0 };
  reader.index = reader.codes.length;
}

/** Whether the flag is on. */
export function hasFlag(reader: PatternReader, flag: number): boolean {
  return (reader.flags & flag) !== 0;
}

/** With the flag `x`, moves past white space and comments. */
export function skipComments(reader: PatternReader): void {
  if (!hasFlag(reader, FLAG.COMMENTS)) return;
  for (;;) {
    const code = peek(reader);
    if ((code >= 0x09 && code <= 0x0d) || code === 0x20) reader.index += 1;
    else if (code === 0x23) skipLine(reader);
    else return;
  }
}

function skipLine(reader: PatternReader): void {
  for (;;) {
    const code = peek(reader);
    if (code === END) return;
    reader.index += 1;
    // A quoted line break also ends the comment.
    const plain = code & ~QUOTED;
    if (
      plain === 0x0a ||
      plain === 0x0d ||
      plain === 0x85 ||
      plain === 0x2028 ||
      plain === 0x2029
    ) {
      return;
    }
  }
}

/** The text of one code point, for messages. */
export function showCode(code: number): string {
  return code === END ? '' : String.fromCodePoint(code & ~QUOTED);
}
