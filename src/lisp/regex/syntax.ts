/**
 * The tree of a pattern, made by the parser and read by the compiler.
 *
 * The tree has no flags: a letter with `(?i)` is a set of two letters, `.` is a set, and each
 * anchor has one node for each of its meanings.
 */

import type { Ranges } from './char-set.ts';

/** One piece of a pattern. */
export type RegexNode =
  | { readonly kind: 'empty' }
  | { readonly kind: 'char'; readonly code: number }
  | { readonly kind: 'set'; readonly ranges: Ranges }
  | { readonly kind: 'assert'; readonly assertion: Assertion }
  | { readonly kind: 'sequence'; readonly items: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly items: readonly RegexNode[] }
  | { readonly kind: 'group'; readonly index: number; readonly item: RegexNode }
  | RegexRepeat;

/** `item` from `min` to `max` times; a `max` of -1 means no limit. */
export interface RegexRepeat {
  readonly kind: 'repeat';
  readonly item: RegexNode;
  readonly min: number;
  readonly max: number;
  readonly lazy: boolean;
}

/** The conditions on a place in the text. Programs contain the numbers. */
export const ASSERTION = {
  /** `\A`, and `^` without `m`: the start of the text. */
  TEXT_START: 0,
  /** `^` with `m`: the start of a line. */
  LINE_START: 1,
  /** `\z`: the very end of the text. */
  TEXT_END: 2,
  /** `\Z`, and `$` without `m`: the end, or before a line break that ends the text. */
  LAST_LINE_END: 3,
  /** `$` with `m`: the end of a line. */
  LINE_END: 4,
  /** `\b`: an ASCII word character on exactly one side. */
  WORD_EDGE: 5,
  /** `\B`: the opposite of `\b`. */
  NO_WORD_EDGE: 6,
} as const;

/** One of them. */
export type Assertion = (typeof ASSERTION)[keyof typeof ASSERTION];

/** `\w`: ASCII letters, digits and `_`. */
export const WORD_RANGES: Ranges = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
/** `\d`: ASCII digits. */
export const DIGIT_RANGES: Ranges = [0x30, 0x39];
/** `\s`: space and U+0009 to U+000D. */
export const SPACE_RANGES: Ranges = [0x09, 0x0d, 0x20, 0x20];
/** The line breaks, which `.` does not match: LF, CR, NEL, line and paragraph separator. */
export const LINE_BREAK_RANGES: Ranges = [0x0a, 0x0a, 0x0d, 0x0d, 0x85, 0x85, 0x2028, 0x2029];

/** Whether `assertion` holds before `position`. */
export function assertionHolds(assertion: Assertion, text: string, position: number): boolean {
  switch (assertion) {
    case ASSERTION.TEXT_START:
      return position === 0;
    case ASSERTION.LINE_START:
      return isLineStart(text, position);
    case ASSERTION.TEXT_END:
      return position === text.length;
    case ASSERTION.LAST_LINE_END:
      return isLineEnd(text, position) && isLastBreak(text, position);
    case ASSERTION.LINE_END:
      return isLineEnd(text, position);
    case ASSERTION.WORD_EDGE:
      return isWordAt(text, position - 1) !== isWordAt(text, position);
    case ASSERTION.NO_WORD_EDGE:
      return isWordAt(text, position - 1) === isWordAt(text, position);
  }
}

/**
 * Whether a line starts here. As in Java, none starts at the end of the text, even of an empty one.
 */
function isLineStart(text: string, position: number): boolean {
  if (position === text.length) return false;
  if (position === 0) return true;
  const before = text.charCodeAt(position - 1);
  if (before === 0x0d && text.charCodeAt(position) === 0x0a) return false;
  return isLineBreak(before);
}

/** Whether a line ends here: at the end of the text or before a line break. CR LF is one break. */
function isLineEnd(text: string, position: number): boolean {
  if (position === text.length) return true;
  const unit = text.charCodeAt(position);
  if (unit === 0x0a) return position === 0 || text.charCodeAt(position - 1) !== 0x0d;
  return isLineBreak(unit);
}

/** Whether nothing, or only one line break, follows `position`, which is the end of a line. */
function isLastBreak(text: string, position: number): boolean {
  const left = text.length - position;
  if (left === 2) {
    return text.charCodeAt(position) === 0x0d && text.charCodeAt(position + 1) === 0x0a;
  }
  return left < 2;
}

function isLineBreak(unit: number): boolean {
  return unit === 0x0a || unit === 0x0d || unit === 0x85 || unit === 0x2028 || unit === 0x2029;
}

function isWordAt(text: string, position: number): boolean {
  if (position < 0 || position >= text.length) return false;
  const unit = text.charCodeAt(position);
  return (
    (unit >= 0x61 && unit <= 0x7a) ||
    (unit >= 0x41 && unit <= 0x5a) ||
    (unit >= 0x30 && unit <= 0x39) ||
    unit === 0x5f
  );
}
