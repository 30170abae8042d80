/**
 * Searching text for a part of it, in linear time.
 *
 * The search of the JavaScript engine is quadratic for long parts of periodic texts. So long parts
 * are searched with the algorithm of Knuth, Morris and Pratt; short ones are left to the engine.
 */

const SHORT = 32;

/** The first place at or after `from` where `part` begins in `text`, or −1. */
export function searchText(text: string, part: string, from = 0): number {
  if (part.length <= SHORT) return text.indexOf(part, from);
  const last = part.length - 1;
  const start = from > 0 ? from : 0;
  const end = text.length;
  if (end - start < part.length) return -1;
  const borders = bordersFor(part);
  let matched = 0;
  for (let at = start; at < end; at++) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (part.charCodeAt(matched) === unit) matched += 1;
    if (matched > last) return at - last;
  }
  return -1;
}

/** The last place at or before `from` where `part` begins in `text`, or −1. */
export function searchTextBack(text: string, part: string, from: number): number {
  if (part.length <= SHORT) return text.lastIndexOf(part, from);
  const last = part.length - 1;
  const borders = bordersOf(part, true);
  let matched = 0;
  const highest = from < text.length - part.length ? from : text.length - part.length;
  for (let at = highest + last; at >= 0; at--) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && part.charCodeAt(last - matched) !== unit) {
      matched = borders[matched - 1] ?? 0;
    }
    if (part.charCodeAt(last - matched) === unit) matched += 1;
    if (matched > last) return at;
  }
  return -1;
}

/**
 * The borders of the last part, since one part is searched for many times in a row. A pure cache:
 * no result depends on it.
 */
const last: { part: string; borders: readonly number[] } = { part: '', borders: [] };

function bordersFor(part: string): readonly number[] {
  if (last.part !== part) {
    last.borders = bordersOf(part, false);
    last.part = part;
  }
  return last.borders;
}

/** The length of the longest border of each prefix of `part`, or of `part` reversed. */
function bordersOf(part: string, backwards: boolean): readonly number[] {
  const last = part.length - 1;
  const unitAt = (index: number): number => part.charCodeAt(backwards ? last - index : index);
  const borders: number[] = [];
  borders[0] = 0;
  let matched = 0;
  for (let index = 1; index <= last; index++) {
    const unit = unitAt(index);
    while (matched > 0 && unitAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (unitAt(matched) === unit) matched += 1;
    borders[index] = matched;
  }
  return borders;
}

/** The pieces of `text` between occurrences of `part`, which is not empty. */
export function splitText(text: string, part: string): readonly string[] {
  if (part.length <= SHORT) return text.split(part);
  const pieces: string[] = [];
  let from = 0;
  for (let at = searchText(text, part); at >= 0; at = searchText(text, part, from)) {
    pieces.push(text.slice(from, at));
    from = at + part.length;
  }
  pieces.push(text.slice(from));
  return pieces;
}
