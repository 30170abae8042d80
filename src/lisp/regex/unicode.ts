/** The sets of `\p{…}`: Unicode general categories, and Java's ASCII classes. */

import type { Ranges } from './char-set.ts';
import { UNICODE_TABLES } from './unicode-tables.ts';

/** The names of properties, for messages. */
export const PROPERTY_NAMES = 'L Lu Ll M N Nd P S Z Alpha Alnum Digit Upper Lower Punct Space';

const ASCII_CLASSES: ReadonlyMap<string, Ranges> = new Map([
  ['Alpha', [0x41, 0x5a, 0x61, 0x7a]],
  ['Alnum', [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a]],
  ['Digit', [0x30, 0x39]],
  ['Upper', [0x41, 0x5a]],
  ['Lower', [0x61, 0x7a]],
  ['Punct', [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e]],
  ['Space', [0x09, 0x0d, 0x20, 0x20]],
]);

/** The code points of the property `name`, or `null` for an unknown one. */
export function propertyRanges(name: string): Ranges | null {
  const tables: { readonly [name: string]: string } = UNICODE_TABLES;
  const table = Object.hasOwn(tables, name) ? tables[name] : undefined;
  return table === undefined ? (ASCII_CLASSES.get(name) ?? null) : decodeRanges(table);
}

/** Decodes a table; see scripts/generate-unicode-tables.ts. */
function decodeRanges(table: string): Ranges {
  const ranges: number[] = [];
  let next = 0;
  let value = 0;
  let lo = -1;
  for (let index = 0; index < table.length; index++) {
    const unit = table.charCodeAt(index);
    const last = lastDigit(unit);
    if (last < 0) {
      value = (value << 5) | leadingDigit(unit);
      continue;
    }
    value = (value << 5) | last;
    if (lo < 0) lo = next + value;
    else {
      ranges.push(lo, lo + value);
      next = lo + value + 1;
      lo = -1;
    }
    value = 0;
  }
  return ranges;
}

/** The value of `0-9a-v`, the last digit of a number; -1 for another character. */
function lastDigit(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  return unit >= 0x61 && unit <= 0x76 ? unit - 0x61 + 10 : -1;
}

/** The value of `A-Z!#$%&*`, a digit that is not the last one. */
function leadingDigit(unit: number): number {
  return unit >= 0x41 ? unit - 0x41 : 26 + '!#$%&*'.indexOf(String.fromCharCode(unit));
}
