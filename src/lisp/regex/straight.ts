/**
 * The matcher for programs without alternatives, such as `\d+`, `,\s*` and `[a-f]{6}`. It has no
 * state to set up, since programs search for such patterns thousands of times in a row.
 *
 * A run is only at the end, where nothing can fail after it. So a start that fails costs at most
 * the length of the program.
 */

import { matchSet, type CharSet } from './char-set.ts';
import { OP_SET, OP_UNIT, OP_ATOMIC_RUN, STRIDE, type Regex, type RegexMatch } from './program.ts';
import { nextStart } from './start.ts';

/** `matchRegex` for a program that is `straight`, without a record of the search, for speed. */
export function matchStraight(
  regex: Regex,
  text: string,
  from: number,
  full: boolean,
  maxSteps: number,
): RegexMatch {
  let steps = 1;
  let looked = from;
  let start = full ? from : nextStart(regex, text, from);
  while (start >= 0) {
    const end = matchFrom(regex, text, start);
    steps += ((start - looked) >> 2) + (end < 0 ? regex.code.length / STRIDE : end - start);
    if (steps > maxSteps) return { groups: null, steps, exhausted: true };
    if (end >= 0 && (!full || end === text.length)) return { groups: [{ start, end }], steps };
    looked = start + 1;
    start = full ? -1 : nextStart(regex, text, looked);
  }
  return { groups: null, steps: steps + (Math.max(0, text.length - looked) >> 2) };
}

/** The end of the match that begins at `start`, or -1. */
function matchFrom(regex: Regex, text: string, start: number): number {
  const { code, sets } = regex;
  let place = start;
  for (let at = 0; ; at += STRIDE) {
    const op = code[at];
    const operand = code[at + 1] as number;
    if (op === OP_UNIT) {
      if (place >= text.length || text.charCodeAt(place) !== operand) return -1;
      place += 1;
    } else if (op === OP_SET) {
      const width = matchSet(sets[operand] as CharSet, text, place);
      if (width === 0) return -1;
      place += width;
    } else {
      return op === OP_ATOMIC_RUN ? endOfRun(sets[operand] as CharSet, text, place) : place;
    }
  }
}

function endOfRun(set: CharSet, text: string, start: number): number {
  let place = start;
  for (;;) {
    const width = matchSet(set, text, place);
    if (width === 0) return place;
    place += width;
  }
}
