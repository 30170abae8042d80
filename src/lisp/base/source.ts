/** Places in the text of a program, and the excerpt with carets that is shown with a problem. */

/**
 * A range of the source in UTF-16 offsets; line and column (in code points) of its start, from 1.
 */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly column: number;
}

/** The span of a value that has no place, such as one from the host. */
export const NO_SPAN: Span = { start: 0, end: 0, line: 1, column: 1 };

/** Longer source lines are cut around the caret. */
const EXCERPT_WIDTH = 100;
const CARET_ROOM = 70;

/** The number of code points in `text` from `from` up to `to`, both UTF-16 offsets. */
function codePointsBetween(text: string, from: number, to: number): number {
  let count = 0;
  for (let index = from; index < to; index++) {
    const unit = text.charCodeAt(index);
    const paired = unit >= 0xd800 && unit < 0xdc00 && index + 1 < to;
    if (paired && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) index += 1;
    count += 1;
  }
  return count;
}

/**
 * The line of `span` with carets below it, indented by three:
 *
 * ```
 *    3 | (reduce totl 0 xs)
 *      |         ^^^^
 * ```
 */
export function excerpt(source: string, span: Span): string {
  const lineStart = source.lastIndexOf('\n', span.start - 1) + 1;
  const lineEnd = endOfLine(source, span.start);
  const line = Array.from(source.slice(lineStart, lineEnd));
  const before = codePointsBetween(source, lineStart, Math.min(span.start, lineEnd));
  const marked = codePointsBetween(source, span.start, Math.min(span.end, lineEnd));
  const cutFrom = line.length <= EXCERPT_WIDTH ? 0 : Math.max(0, before - CARET_ROOM);
  const shown = line.slice(cutFrom, cutFrom + EXCERPT_WIDTH);
  const indent = before - cutFrom;
  const carets = Math.max(1, Math.min(marked, shown.length - indent));
  const label = String(span.line);
  const gutter = ' '.repeat(label.length);
  const text = shown.map((character) => (character === '\t' ? ' ' : character)).join('');
  return `   ${label} | ${text}\n   ${gutter} | ${' '.repeat(indent)}${'^'.repeat(carets)}`;
}

function endOfLine(source: string, offset: number): number {
  const end = source.indexOf('\n', offset);
  const stop = end < 0 ? source.length : end;
  return source[stop - 1] === '\r' && stop > offset ? stop - 1 : stop;
}
