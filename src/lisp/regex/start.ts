/** Finds places where a match can begin, by the facts of the program. */

import { matchSet } from './char-set.ts';
import type { Regex } from './program.ts';

/**
 * The next place from `from` on where a match can begin, or -1. The caller counts one step for
 * every four skipped units.
 */
export function nextStart(regex: Regex, text: string, from: number): number {
  if (regex.anchored) return from === 0 ? 0 : -1;
  if (regex.prefix !== '') return text.indexOf(regex.prefix, from);
  let start = isInsidePair(text, from) ? from + 1 : from;
  if (regex.first === null) return start <= text.length ? start : -1;
  while (start < text.length) {
    if (matchSet(regex.first, text, start) > 0) return start;
    start += isInsidePair(text, start + 1) ? 2 : 1;
  }
  return -1;
}

function isInsidePair(text: string, place: number): boolean {
  if (place <= 0 || place >= text.length) return false;
  const unit = text.charCodeAt(place);
  if (unit < 0xdc00 || unit > 0xdfff) return false;
  const before = text.charCodeAt(place - 1);
  return before >= 0xd800 && before < 0xdc00;
}
